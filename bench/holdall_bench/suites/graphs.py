"""Objects that share and refer to each other."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from ..data import SEED, Data
from . import adder
from .models import Node

COUNT, FULL_COUNT = 50_000, 200_000


def clusters(count: int = FULL_COUNT, size: int = 20) -> list[Node]:
    """Nodes that know three others of their cluster: many small cyclic components."""
    rng = random.Random(SEED)
    nodes = [Node(i, f"node {i}", []) for i in range(count)]
    for start in range(0, count, size):
        cluster = nodes[start : start + size]
        for node in cluster:
            node.neighbours.extend(rng.choices(cluster, k=3))
    return nodes


def component(count: int = FULL_COUNT) -> list[Node]:
    """The next node and two of all nodes as neighbours: one component, as deep as it has nodes."""
    rng = random.Random(SEED)
    nodes = [Node(i, f"node {i}", []) for i in range(count)]
    for i, node in enumerate(nodes):
        node.neighbours.append(nodes[(i + 1) % count])
        node.neighbours.extend(rng.choices(nodes, k=2))
    return nodes


def shared_settings(count: int = 20_000) -> list[dict[str, Any]]:
    """Jobs that share a few dozen dicts of settings: a tree but for that."""
    rng = random.Random(SEED)
    settings = [
        {"retries": rng.randrange(5), "timeout": rng.random() * 60, "tags": [f"tag {rng.randrange(99)}"] * 2}
        for _ in range(40)
    ]
    return [
        {"id": i, "name": f"job {i}", "settings": rng.choice(settings), "after": []} for i in range(count)
    ]


def chain(count: int = 20_000) -> list[Any]:
    """A linked list of pairs: as deep as it is long."""
    head: list[Any] = []
    for i in range(count):
        head = [i, head]
    return head


def data_sets(full: bool) -> list[Data]:
    add = adder("graphs")
    count = FULL_COUNT if full else COUNT
    return [
        add(
            name="clusters",
            title=f"{count:,} cyclic nodes, clusters of 20",
            make=partial(clusters, count),
            identity=True,
            deep=True,
        ),
        add(
            name="component",
            title=f"{count:,} cyclic nodes, one deep component",
            make=partial(component, count),
            identity=True,
            deep=True,
        ),
        add(
            name="shared_settings",
            title="20,000 jobs that share 40 dicts of settings",
            make=shared_settings,
            identity=True,
        ),
        add(name="chain", title="a linked list of 20,000 pairs", make=chain, deep=True),
    ]
