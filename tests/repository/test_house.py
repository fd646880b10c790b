"""The sources stand in floors: none imports, at its top or within a function, what leads back to it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.support import house


def test_no_module_leads_back_to_itself():
    found = house.python_circle(house.PACKAGE)
    assert not found, f"a circle of imports: {' -> '.join(found)}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f():\n    from .a import g\n", ["p.a", "p.b", "p.a"]),
        ("from . import a\n", ["p.a", "p.b", "p.a"]),
        ("def f():\n    import p.a\n", ["p.a", "p.b", "p.a"]),
        ("from . import name\n", ["p", "p.a", "p.b", "p"]),
        ("if TYPE_CHECKING:\n    from .a import g\nelse:\n    from . import c\n", []),
        ("if TYPE_CHECKING:\n    from . import c\nelse:\n    from .a import g\n", ["p.a", "p.b", "p.a"]),
        ("from . import compiled\n", []),
    ],
)
def test_a_circle_is_named(tmp_path, text, expected):
    package = tmp_path / "p"
    package.mkdir()
    files = {
        "__init__.py": "from .a import g\n",
        "a.py": "from .b import f\n",
        "b.py": text,
        "c.py": "",
        "compiled.pyi": "",
    }
    for name, content in files.items():
        (package / name).write_text(content, encoding="utf-8")
    found = house.python_circle(package)
    # It may be entered anywhere.
    assert len(found) == len(expected)
    assert set(pairwise(found)) == set(pairwise(expected))
