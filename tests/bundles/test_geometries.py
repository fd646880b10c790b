"""shapely: geometries within geometries, which are read by recursion in C++."""

from __future__ import annotations

import struct

import pytest

import holdall

pytest.importorskip("shapely")
HEAD = struct.pack("<BII", 1, 7, 1)


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        struct.pack(">BII", 0, 7, 1),
        struct.pack("<BII", 1, 7, 2),
        struct.pack("<BII", 1, 1007, 1),
        struct.pack("<BIII", 1, 7 | 0x20000000, 5, 1),
        struct.pack("<BII", 1, 6, 1),
    ],
)
def test_nested_without_end(head: bytes) -> None:
    import shapely

    from holdall.bundles.shapely import _geometry_of

    with pytest.raises(ValueError, match="nested too deep"):
        _geometry_of(shapely.GeometryCollection)(head * 300_000 + shapely.Point(1, 2).wkb)
    # Behind another geometry.
    first = struct.pack("<BII", 1, 7, 2) + shapely.Point(1, 2).wkb
    with pytest.raises(ValueError, match="nested too deep"):
        _geometry_of(shapely.GeometryCollection)(first * 100_000)


def test_many_beside_each_other_are_fine() -> None:
    import shapely

    holdall.register_known("shapely")
    many = shapely.GeometryCollection(
        [shapely.MultiPolygon([shapely.Polygon([(0, 0), (1, 0), (1, at)])]) for at in range(1, 500)]
        + [shapely.MultiLineString([[(0, 0, 1), (1, 1, 2)]])] * 200
    )
    assert shapely.to_wkb(holdall.loads(holdall.dumps(many))) == shapely.to_wkb(many)
