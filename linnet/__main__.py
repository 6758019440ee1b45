"""`python -m linnet` is the `linnet` command."""

import sys

from linnet.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
