"""`holdall bench`: codecs next to each other, on data of several kinds or your own. `docs/benchmarks.md` has the method."""

__version__ = "0.1.0"
