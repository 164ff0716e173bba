"""`python -m pokdeng`: the same as `pokdeng`."""

from pokdeng.cli import main

if __name__ == "__main__":
    main()
