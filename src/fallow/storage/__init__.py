"""Files that are whole or not there: atomic writes, checkpoints with checksums, locks."""
