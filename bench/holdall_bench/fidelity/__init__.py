"""What did a codec's round trip change? `compare` names every kind of change, counts it, and says where it is first."""

from .walk import compare

__all__ = ["compare"]
