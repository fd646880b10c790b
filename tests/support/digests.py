"""Digests of canonical messages: `python -m tests.support.digests` reads plans and seeds, a line of JSON each, and prints one for each.

Needs nothing but holdall: also other versions of Python run it (`make check-versions`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import holdall
from tests.support.histories import Builder


def canonical(graph: Any) -> str:
    """The message, in short; or that there is none."""
    try:
        return hashlib.sha256(holdall.dumps(graph, canonical=True)).hexdigest()
    except holdall.EncodeError as error:
        assert "no order in canonical form" in str(error)
        return "refused"


def main() -> None:
    for line in sys.stdin:
        plan, seed = json.loads(line)
        print(canonical(Builder([tuple(node) for node in plan], seed).build()), flush=True)


if __name__ == "__main__":
    main()
