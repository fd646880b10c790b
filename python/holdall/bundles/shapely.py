"""shapely: geometries as well-known binary, with their coordinate reference number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from .._bundles import Known
from ._checks import exact, octets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAMES = (
    "Point",
    "LineString",
    "LinearRing",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
    "GeometryCollection",
)


def known() -> Iterator[Known]:
    if int(shapely.__version__.partition(".")[0]) < 2:
        raise ImportError(f"shapely 2 or newer, and this is {shapely.__version__}")
    for name in _NAMES:
        cls = getattr(shapely, name)
        yield Known(cls, f"shapely.{name}", _ring if name == "LinearRing" else _geometry, _geometry_of(cls))


def _reader() -> Callable[[bytes], Any]:
    """What `shapely.from_wkb` does with one geometry, without what it asks about its arguments each time."""
    read: Any = getattr(getattr(shapely, "lib", None), "from_wkb", None)
    options: Any = getattr(shapely.io, "DecodingErrorOptions", None)
    if read is None or options is None:
        return shapely.from_wkb
    refuse, as_array, kind = np.uint8(options.get_value("raise")), np.asarray, np.dtype(object)
    return lambda data: read(as_array(data, kind), refuse)


_from_wkb = _reader()


def _geometry(geometry: Any) -> bytes:
    return bytes(shapely.to_wkb(geometry, include_srid=True))


def _ring(ring: Any) -> Any:
    # Well-known binary has no rings.
    line = shapely.LineString(ring)
    return _geometry(shapely.set_srid(line, shapely.get_srid(ring)) if shapely.get_srid(ring) else line)


def _geometry_of(cls: Any) -> Callable[[Any], Any]:
    def geometry_of(stored: Any) -> Any:
        data = stored if type(stored) is bytes else bytes(octets(stored))
        # Points, lines and polygons hold no geometries.
        if data[:4] not in _ALONE:
            _check_depth(data)
        made = _from_wkb(data)
        if cls is shapely.LinearRing:
            line = exact(made, shapely.LineString)
            corners = shapely.get_coordinates(line, include_z=line.has_z)
            ring = shapely.linearrings(corners) if len(corners) else shapely.LinearRing()
            return shapely.set_srid(ring, shapely.get_srid(made)) if shapely.get_srid(made) else ring
        return exact(made, cls)

    return geometry_of


# The types of geometries that hold others, without flags, in either order of bytes: with 0, 1 or 2 more dimensions.
_HOLDERS = frozenset(kind + more for kind in (4, 5, 6, 7) for more in (0, 1000, 2000, 3000))
_HEADS = tuple(
    pattern
    for kind in _HOLDERS
    for pattern in (b"\x01" + kind.to_bytes(2, "little"), b"\x00" + kind.to_bytes(2, "big"))
)
_ALONE = frozenset(b"\x01" + kind.to_bytes(3, "little") for kind in (1, 2, 3))
_DEPTH = 100


def _check_depth(data: bytes) -> None:
    """Raises ValueError: geometries within geometries that are deeper than anybody needs. They are read by recursion in C++."""
    # Nearly all data have so few of what begins one that no more has to be known.
    if sum(map(data.count, _HEADS)) > _DEPTH:
        _scan(data)


def _scan(data: bytes) -> None:
    at, left = 0, [1]
    while left:
        if left[-1] == 0:
            left.pop()
            continue
        left[-1] -= 1
        order: Any = "little" if data[at] else "big"
        kind = int.from_bytes(data[at + 1 : at + 5], order)
        flags, kind = kind >> 29, kind & 0x1FFFFFFF
        # Flags say which dimensions there are, or thousands do.
        wide = 8 * (2 + max((flags >> 2) + (flags >> 1 & 1), (0, 1, 1, 2)[min(kind // 1000, 3)]))
        at += 9 if flags & 1 else 5
        kind %= 1000
        if kind == 1:
            at += wide
            continue
        count = int.from_bytes(data[at : at + 4], order)
        at += 4
        if kind == 2:
            at += count * wide
        elif kind == 3:
            for _ in range(min(count, len(data))):
                at += 4 + wide * int.from_bytes(data[at : at + 4], order)
                if at > len(data):
                    break
        elif len(left) == _DEPTH:
            raise ValueError("geometries that are nested too deep")
        else:
            left.append(min(count, len(data)))
        if at >= len(data):
            return  # what is cut short is refused when it is read
