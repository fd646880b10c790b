"""Plans of graphs for `histories`, as hypothesis draws them; `python -m tests.support.plans` prints many for `digests`."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.histories import KEYS, LEAVES, TEXTS, VALUES, Plan

KINDS = [
    "leaf", "text", "bytes", "value", "tuple", "frozenset", "point", "moment", "list", "dict", "set", "my set", "my dict",
    "node", "slots",
]  # fmt: skip


@st.composite
def plans(draw: st.DrawFn, max_nodes: int = 14) -> Plan:
    plan: Plan = []
    for place in range(draw(st.integers(1, max_nodes))):
        kind = draw(st.sampled_from(KINDS))
        own: Any = None
        if kind == "leaf":
            own = draw(st.integers(0, len(LEAVES) - 1))
        elif kind == "text":
            own = draw(st.sampled_from(TEXTS))
        elif kind == "bytes":
            own = draw(st.sampled_from(["", "x", "xy"]))
        elif kind == "value":
            own = draw(st.integers(0, len(VALUES) - 1))
        elif kind in ("dict", "my dict", "node"):
            names = KEYS if kind != "node" else [key for key in KEYS if key.isidentifier()]
            own = draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
        # Containers that can be filled later may hold what comes after them, and themselves.
        later = kind in ("list", "dict", "my dict", "node", "slots")
        most = max_nodes - 1 if later and draw(st.booleans()) else place - 1
        children = draw(st.lists(st.integers(0, most), max_size=5)) if most >= 0 and place else []
        plan.append((kind, own, children))
    last = len(plan) - 1
    plan = [(kind, own, [min(child, last) for child in children]) for kind, own, children in plan]
    # The root holds some of all.
    roots = draw(st.lists(st.integers(0, last), min_size=1, max_size=6))
    plan.append(("list", None, roots))
    return plan


def main() -> None:
    @settings(
        max_examples=500, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(plans())
    def show(plan: Plan) -> None:
        print(json.dumps([plan, 0]))

    show()


if __name__ == "__main__":
    main()
