"""``python -m fallow``, and the program ``fallow``."""

import sys


def main() -> None:
    """Runs the command line; Ctrl-C is answered in a word also while it is still being loaded."""
    try:
        from fallow import cli
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
