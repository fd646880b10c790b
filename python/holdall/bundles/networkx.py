"""networkx: graphs by their dicts of attributes, nodes and neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from .._bundles import Known
from .._core import are_dicts
from ._checks import exact, parts

if TYPE_CHECKING:
    from collections.abc import Iterator

# What instances keep beside their graph: views that are made again when they are asked for.
_CACHED = frozenset(
    (
        "adj",
        "succ",
        "pred",
        "nodes",
        "edges",
        "degree",
        "in_edges",
        "out_edges",
        "in_degree",
        "out_degree",
        "__networkx_cache__",
    )
)
_CONTENT = frozenset(("graph", "_node", "_adj", "_succ", "_pred"))


def known() -> Iterator[Known]:
    for cls in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        yield Known(cls, f"networkx.{cls.__name__}", _graph, _fill_graph, fills=True)


def _graph(graph: Any) -> Any:
    own = {name: value for name, value in vars(graph).items() if name not in _CACHED and name not in _CONTENT}
    return graph.graph, graph._node, graph._adj, getattr(graph, "_pred", None), own or None


def _fill_graph(graph: Any, state: Any) -> None:
    attributes, nodes, after, before, own = parts(state, 5)
    graph.__init__()
    # Keys that hold what isn't complete yet come into the dicts later, where the graph is within itself.
    # What an edge has is asked for by Python code alone.
    levels = 2 if graph.is_multigraph() else 1
    _check_dicts(after, levels)
    if graph.is_directed():
        _check_dicts(before, levels)
    _check_dicts(nodes, 1)
    graph.graph, graph._node, graph._adj = exact(attributes, dict), nodes, after
    if graph.is_directed():
        graph._succ, graph._pred = after, before
    if own is not None:
        if not _CONTENT.isdisjoint(exact(own, dict)) or not all(type(name) is str for name in own):
            raise ValueError("attributes that are no attributes")
        vars(graph).update(own)


def _check_dicts(table: Any, levels: int) -> None:
    """Raises TypeError: no dict of dicts, so many levels down."""
    if not are_dicts(table, levels):
        raise TypeError("expected a dict of dicts")
