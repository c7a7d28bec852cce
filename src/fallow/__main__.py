"""``python -m fallow``."""

from fallow.cli import main

main()
