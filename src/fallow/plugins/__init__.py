"""From a name, a dict or an object to a checked object: names, options and the words of error sentences."""
