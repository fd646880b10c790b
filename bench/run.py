"""`python bench/run.py`: see `--help`, or `bench/main.py`."""

import sys
from pathlib import Path

# The folder of this script would hide the packages `bench` and `tests`.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from bench.main import main  # noqa: E402

if __name__ == "__main__":
    main(sys.argv[1:])
