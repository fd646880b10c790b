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


@pytest.mark.parametrize(
    ("root", "line", "found"),
    [
        (house.HOST, "#[cfg(windows)]", True),
        (house.HOST, '#[cfg(not(target_os = "linux"))]', True),
        (house.HOST, "#[cfg_attr(unix, inline)]", True),
        (house.HOST, "use std::os::fd::AsRawFd;", True),
        (house.HOST, '#[cfg(target_arch = "x86_64")]', False),
        (house.FORMAT, "#[cfg(all(unix, test))]", True),
        (house.PACKAGE, "    import fcntl", True),
        (house.PACKAGE, 'if os.name == "posix":', True),
        (house.PACKAGE, 'pure = os.name == "nt"', False),
    ],
)
def test_what_depends_on_the_system_has_its_place(tmp_path, root, line, found):
    pattern, *only = house.SYSTEM[root]
    for name in ("a.rs", *only):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"\n{line}\n", encoding="utf-8")
    faults = list(house.elsewhere(tmp_path, pattern, *only))
    assert len(faults) == found and all("a.rs:2: " in fault for fault in faults)


@pytest.mark.parametrize(
    ("line", "found"),
    [('extern "C" {', True), ('    extern "C-unwind" {', True), ('extern "C" fn f() {', False)],
)
def test_a_name_of_cpython_that_is_not_linked_is_named(tmp_path, line, found):
    (tmp_path / "a.rs").write_text(line, encoding="utf-8")
    assert len(list(house.elsewhere(tmp_path, house.UNLINKED))) == found
