"""`python demo/run.py`: real object graphs, stored and restored next to pickle. See `demo/main.py`."""

import sys
from pathlib import Path

# The folder of this script would hide the packages `demo`, `bench` and `tests`.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from demo.main import main  # noqa: E402

if __name__ == "__main__":
    main()
