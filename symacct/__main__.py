"""`python -m symacct`."""

from symacct.cli import main

if __name__ == "__main__":
    main()
