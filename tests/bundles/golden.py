"""`python -m tests.bundles.golden`: what each bundle stores with the version of its library that is there, into tests/bundles/golden. What is
there is never written again: where a bundle stores something in another way, `python -m tests.bundles.golden pandas` adds a file.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import pathlib
import sys
import warnings

import numpy as np

import holdall
from tests.bundles import samples

GOLDEN = pathlib.Path(__file__).parent / "golden"
MODULES = {"pillow": "PIL"}


def main() -> None:
    warnings.simplefilter("ignore")
    GOLDEN.mkdir(exist_ok=True)
    for bundle, make in samples.SAMPLES.items():
        module = MODULES.get(bundle, bundle)
        if importlib.util.find_spec(module) is None:
            print(f"{bundle}: not installed")
            continue
        holdall.register_known(bundle)
        version = importlib.import_module(module).__version__.partition("+")[0]
        path = GOLDEN / f"{bundle}-{version}.hold"
        if bundle in sys.argv[1:]:
            more = (GOLDEN / f"{bundle}-{version}-{number}.hold" for number in itertools.count(2))
            path = next(path for path in more if not path.exists())
        if not path.exists():
            holdall.dump(make(np.random.default_rng(7)), path, compress="zstd")
            print(path.name)


if __name__ == "__main__":
    main()
