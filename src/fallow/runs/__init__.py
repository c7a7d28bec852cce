"""One run: begun or resumed, written, read as data, and what Python users get of it."""
