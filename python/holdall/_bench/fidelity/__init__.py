"""What did a codec's round trip change? `compare` names every kind of change, counts it, and says where it is first."""

from holdall._bench.fidelity.walk import compare

__all__ = ["compare"]
