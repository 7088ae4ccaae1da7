"""The command line as a module: `python -m asof` is `asof`, of the interpreter that runs it."""

from asof.cli import script

if __name__ == "__main__":
    script()
