"""`python demo/run.py`: real object graphs, stored and restored next to pickle. See `demo/main.py`."""

import sys
from pathlib import Path

# The folder of this script would hide the packages `demo`, `bench` and `tests`. `holdall_bench` need not be installed.
ROOT = Path(__file__).resolve().parent.parent
sys.path[:1] = [str(ROOT), str(ROOT / "bench")]

from demo.main import main  # noqa: E402

if __name__ == "__main__":
    main()
