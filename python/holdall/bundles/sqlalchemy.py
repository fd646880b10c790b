"""SQLAlchemy: the rows of results."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import Row, RowMapping, result_tuple

from .._bundles import Known

if TYPE_CHECKING:
    from collections.abc import Iterator


def known() -> Iterator[Known]:
    yield Known(Row, "sqlalchemy.Row", _row, _row_of)
    yield Known(RowMapping, "sqlalchemy.RowMapping", _row, lambda stored: _row_of(stored)._mapping)


def _row(row: Any) -> Any:
    # The rows of a result share what it is called.
    return _names(row._parent), row._data


@functools.lru_cache(maxsize=64)
def _names(parent: Any) -> tuple[str, ...]:
    return tuple(parent.keys)


@functools.lru_cache(maxsize=64)
def _maker(names: Any) -> Any:
    if type(names) is not tuple or not all(type(name) is str for name in names):
        raise TypeError("expected the names of columns")
    return result_tuple(names)


def _row_of(stored: Any) -> Any:
    global _last
    names, values = stored
    # The rows of a result have the same names.
    if names is not _last[0]:
        _last = names, _maker(names), len(names)
    _, make, count = _last
    if type(values) is not tuple or len(values) != count:
        raise ValueError("another number of columns")
    return make(values)


_last: tuple[Any, Any, int] = (None, None, 0)
