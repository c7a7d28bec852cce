"""Making and running an app: template, keys, supervision."""
