"""`python -m tests.bundles.golden`: what each bundle stores with the version of its library that is there, into tests/bundles/golden. What is
there is never written again.
"""

from __future__ import annotations

import importlib
import pathlib
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
        holdall.register_known(bundle)
        version = importlib.import_module(MODULES.get(bundle, bundle)).__version__
        path = GOLDEN / f"{bundle}-{version}.hold"
        if not path.exists():
            holdall.dump(make(np.random.default_rng(7)), path, compress="zstd")
            print(path.name)


if __name__ == "__main__":
    main()
