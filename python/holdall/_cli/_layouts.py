"""How instances of classes are stored: read from the classes of a program, or from data.

A layout is what stands in a lock file: a dict of texts. Its keys:

kind: "enum", "encoded" (by a registered `encode`), "open" (whatever attributes an instance has), or the family of the class:
    "dataclass", "namedtuple", "attrs", "msgspec", "pydantic", "plain" (with annotations); "record" of data, which doesn't say.
base: the builtin that the class extends, if it does. by: "position" where plain formats store fields by position.
tag: what tells the class from others in plain formats, as "key=value". members: of an enumeration, with their values; names: those
    whose values are not known, because they were found in data.
fields: for each its `type`, its `key` in plain formats if that is not its name, and `sometimes` if not all data has it.
"""

from __future__ import annotations

import enum
import inspect
import os
import sys
import typing
from typing import TYPE_CHECKING, Any, NamedTuple

import holdall

from .. import _core
from .._annotations.fields import family, members, old_keys, old_tags
from .._annotations.scopes import Scope, annotations_of, is_annotated, is_union, text_of
from .._schemas import plain_form
from ._alternatives import alternatives, is_always, path_of
from ._write_python import Names

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from ._seen import Layout as Stored
    from ._seen import Seen

    Layout = dict[str, Any]

# The builtins whose content is stored beside the fields; of exceptions all have the same.
_BASES = (BaseException, list, dict, set, frozenset, tuple, str, bytes, bytearray, bool, int, float, complex)


class Known(NamedTuple):
    """A class of the program.

    name: under which it is stored; names: all under which it is found. required: fields that have no default; computed: those
    that no constructor takes, and the method that sets them, if one does. upgrades, resolves: whether it was registered with
    `upgrade` and with a resolver. decodes_versions: whether its `decode` takes the version. asked: whether an enumeration has
    `_missing_`. forbids: what to write so that unknown fields are not refused, if they are. reads: the keys in plain formats
    under which a field is read. tags: those that it answers to besides its own. by_version: whether plain formats store the version.
    """

    cls: type[Any]
    name: str
    names: tuple[str, ...]
    version: int
    layout: Layout
    required: tuple[str, ...]
    computed: dict[str, str | None]
    renames: dict[str, str]
    upgrades: bool
    registered: bool
    resolves: bool
    decodes_versions: bool
    asked: bool
    forbids: str
    reads: dict[str, set[str]]
    tags: tuple[str, ...]
    by_version: bool

    @property
    def place(self) -> str:
        """The file and line of the class."""
        try:
            file, line = inspect.getsourcefile(self.cls), inspect.findsource(self.cls)[1] + 1
        except (OSError, TypeError):
            return self.cls.__module__
        return f"{os.path.relpath(file) if file else self.cls.__module__}:{line}"


def classes_of(modules: Iterable[str], stored: Container[str] = ()) -> list[Known]:
    """The classes of modules that say their fields, those that are stored under these names, and all that were registered; by name."""
    known = [each for cls in candidates(modules, stored) if (each := known_class(cls)) is not None]
    return sorted(known, key=lambda each: each.name)


def candidates(modules: Iterable[str], stored: Container[str] = ()) -> Iterable[type[Any]]:
    """The same as classes."""
    modules = tuple(modules)
    found: dict[type[Any], None] = dict.fromkeys(
        cls for cls in _core.registered_subclasses(object) if not cls.__module__.startswith("holdall.")
    )
    for name, module in [*sys.modules.items()]:
        if name in modules or name.startswith(tuple(f"{each}." for each in modules)):
            for cls in _classes_in(module, name):
                if _is_stored(cls) or stored_name(cls) in stored:
                    found[cls] = None
    return found


def _classes_in(home: Any, module: str, within: str = "") -> Iterator[type[Any]]:
    """The classes that are defined in a module, or in a class of it."""
    for cls in [*vars(home).values()]:
        if isinstance(cls, type) and cls.__module__ == module and cls.__qualname__.startswith(within):
            yield cls
            if cls is not home:
                yield from _classes_in(cls, module, f"{cls.__qualname__}.")


def _is_stored(cls: type[Any]) -> bool:
    """Whether an unregistered class is made to hold data: it says its fields or members."""
    if issubclass(cls, enum.Enum):
        return len(cls) > 0
    return family(cls) not in (None, "typeddict") and not inspect.isabstract(cls)


def stored_name(cls: type[Any]) -> str:
    """The name under which instances are stored."""
    told = _core.class_registration(cls)
    return told[0] if told is not None else f"{cls.__module__}.{cls.__qualname__}"


def known_class(cls: type[Any]) -> Known | None:
    told = _core.class_registration(cls)
    name, aliases, version, renames, upgrades, encodes = told or (stored_name(cls), (), 1, {}, False, False)
    settings = _core.class_settings(cls)
    layout, required, computed = _layout(cls, encodes)
    return Known(
        cls=cls,
        name=name,
        names=(name, *aliases),
        version=version,
        layout=layout,
        required=required,
        computed=computed,
        renames=renames,
        upgrades=upgrades,
        registered=told is not None,
        resolves=settings is not None and settings.resolver is not None,
        decodes_versions=settings is not None and settings.decode_takes_version,
        asked=layout["kind"] == "enum" and _answers(cls),
        forbids=_forbids(cls, settings),
        reads={each: _keys(cls, each, layout, settings) for each in layout.get("fields", ())},
        tags=(*old_tags(aliases),),
        by_version=getattr(settings, "version_field", None) is not None,
    )


def _layout(cls: type[Any], encodes: bool) -> tuple[Layout, tuple[str, ...], dict[str, str | None]]:
    """How instances are stored, the fields that have no default, and those that no constructor takes."""
    if encodes:
        return {"kind": "encoded"}, (), {}
    if issubclass(cls, enum.Enum):
        values = {name: member.value for name, member in cls.__members__.items()}
        return {"kind": "enum", "members": {name: _json(value) for name, value in values.items()}}, (), {}
    kind = family(cls)
    base = next((each for each in _BASES if issubclass(cls, each)), None)
    layout: Layout = {"kind": kind or "open"}
    if base is not None and kind != "namedtuple":
        layout["base"] = "Exception" if base is BaseException else base.__name__
    if kind is None or kind == "typeddict":
        return layout, (), {}
    hints = _hints(cls)
    computed: dict[str, str | None] = {}
    if kind == "pydantic":
        infos: dict[str, Any] = cls.model_fields
        names = [*infos]
        required = tuple(name for name, info in infos.items() if info.is_required())
    else:
        qualifiers = {
            name: {"ClassVar"} if text.startswith("ClassVar") else set() for name, text in hints.items()
        }
        listed, about = members(cls, kind, qualifiers)
        names = [field["name"] for field in listed]
        required = tuple(field["name"] for field in listed if field["required"])
        # Where there is no `__post_init__`, they are unset.
        absent = tuple(field["name"] for field in listed if field.get("absent_ok"))
        computed = dict.fromkeys(absent, about["post_init"])
    layout["fields"] = {name: {"type": hints.get(name, "Any")} for name in names}
    _plain(cls, layout)
    return layout, required, computed


def _answers(cls: type[Any]) -> bool:
    """Whether an enumeration says itself which member takes the place of one that it has not."""
    return any("_missing_" in vars(base) for base in cls.__mro__ if base.__module__ != "enum")


def _forbids(cls: Any, settings: Any) -> str:
    if getattr(settings, "unknown", None) == "refuse":
        return 'unknown="drop"'
    if getattr(settings, "forbid_unknown", False):
        return "no `forbid_unknown`"
    config = getattr(cls, "__struct_config__", None)
    if config is not None and config.forbid_unknown_fields:
        return "forbid_unknown_fields=False"
    if family(cls) == "pydantic" and (cls.model_config or {}).get("extra") == "forbid":
        return "model_config = {'extra': 'ignore'}"
    return ""


def _keys(cls: Any, name: str, layout: Layout, settings: Any) -> set[str]:
    """The keys in plain formats under which a field is read."""
    if family(cls) == "pydantic":
        info, config = cls.model_fields[name], cls.model_config or {}
        alias = info.validation_alias
        found = {alias} if isinstance(alias, str) else {*getattr(alias, "choices", ())}
        by_name = not found or config.get("populate_by_name") or config.get("validate_by_name")
        return {each for each in found if isinstance(each, str)} | ({name} if by_name else set())
    key = layout["fields"][name].get("key", name)
    return {key, *(old_keys(name, settings) if settings is not None else ())}


def _plain(cls: type[Any], layout: Layout) -> None:
    """Adds how plain formats write the class."""
    try:
        pairs, by_position = plain_form(cls)[:2]
    except (TypeError, ValueError):
        return
    tag = _tag(cls)
    if by_position or layout["kind"] == "namedtuple":
        layout["by"] = "position"
    elif tag is not None:
        layout["tag"] = f"{tag[0]}={tag[1]}"
    for name, key in pairs or ():
        if key != name and name in layout["fields"]:
            layout["fields"][name]["key"] = key


def _tag(cls: type[Any]) -> tuple[str, Any] | None:
    """The key and value that were registered for a class, or that a Struct says."""
    settings = _core.class_settings(cls)
    if settings is not None and settings.tag is not None:
        return settings.tag_field or "type", settings.tag
    config = getattr(cls, "__struct_config__", None)
    return (config.tag_field, config.tag) if config is not None and config.tag is not None else None


def _json(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else repr(value)


# --- types ---------------------------------------------------------------------------------------------------------------
def _hints(cls: type[Any]) -> dict[str, str]:
    """The types of the annotations of a class, as texts."""
    found = {}
    for base in reversed(cls.__mro__):
        scope = Scope(owner=base)
        for name, hint in annotations_of(base).items():
            found[name] = type_text(hint, scope)
    return found


def type_text(hint: Any, scope: Scope | None = None) -> str:
    """A type as text: classes by the names under which they are stored, members of unions in order."""
    text = text_of(hint)
    if text is not None:
        try:
            hint = scope.evaluate(text) if scope is not None else text
        except Exception:
            # It is there for checkers alone, or is not defined.
            return text
        again = text_of(hint)
        if again is not None:
            # A quoted name among annotations that are texts.
            return text if again == text else type_text(hint, scope)
    if hint is None or hint is type(None):
        return "None"
    if is_annotated(hint):
        return type_text(hint.__origin__, scope)
    if is_union(hint):
        parts = sorted(
            {type_text(part, scope) for part in typing.get_args(hint)},
            key=lambda part: (part == "None", part),
        )
        return " | ".join(parts)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if isinstance(hint, typing.TypeVar):
        return "Any"
    if origin is None and isinstance(hint, type):
        return hint.__name__ if hint.__module__ == "builtins" else _name_of(hint)
    if origin is not None:
        head = type_text(origin, scope) if isinstance(origin, type) else str(origin).removeprefix("typing.")
        inner = ", ".join("..." if part is ... else type_text(part, scope) for part in arguments)
        return f"{head}[{inner}]" if inner else head
    if hasattr(hint, "__supertype__"):
        return type_text(hint.__supertype__, scope)
    return str(hint).removeprefix("typing.")


def _name_of(cls: type[Any]) -> str:
    told = _core.class_registration(cls)
    if told is not None:
        return told[0]
    path = path_of(cls)
    return ".".join(path) if path is not None else f"{cls.__module__}.{cls.__qualname__}"


# --- data ----------------------------------------------------------------------------------------------------------------
class _Stored(Names):
    """Types by the names of stored classes."""

    def leaf(self, cls: type[Any]) -> str | None:
        if cls is type(None):
            return "None"
        path = path_of(cls)
        return None if path is None else path[1] if path[0] == "builtins" else ".".join(path)

    def layout(self, layout: Stored) -> str | None:
        return layout.name or "dict"


def layouts_of(seen: Seen) -> dict[str, dict[int, Layout]]:
    """The layouts of classes in data, by name and version."""
    names = _Stored(seen)
    found: dict[str, dict[int, Layout]] = {}
    for (name, version), stored in sorted(seen.classes.items()):
        if "julia" not in stored.kinds:
            found.setdefault(name, {})[version] = _stored(names, stored)
    return found


def _stored(names: _Stored, stored: Stored) -> Layout:
    if "enum" in stored.kinds:
        # The values are not in the data.
        return {"kind": "enum", "names": sorted(each for each in stored.members if isinstance(each, str))}
    if "custom" in stored.kinds:
        return {"kind": "encoded"}
    is_model = any(name.startswith("__pydantic_") for name in stored.fields)
    layout: Layout = {"kind": "pydantic" if is_model else "record"}
    if stored.content is not None:
        layout["base"] = _base(names, stored)
    layout["fields"] = {}
    for name, (_, place) in stored.fields.items():
        if not name.startswith("__pydantic_"):
            said = {"type": names.annotation(place)}
            layout["fields"][name] = said if is_always(stored, name) else {**said, "sometimes": True}
    return layout


def _base(names: _Stored, stored: Stored) -> str:
    found = [] if stored.content is None else alternatives(stored.content, names.seen)
    if any(each.kind == "parts" and len(each.inner) == 2 for each in found):
        # As exceptions are stored: their arguments, and what they have besides.
        return "Exception"
    heads = {"dict" if each.layout is not None else names.leaf(each.cls) or "object" for each in found}
    return heads.pop() if len(heads) == 1 else "object"


def is_whole_model(known: Known, fields: Iterable[str]) -> bool:
    """Whether instances that were no models of pydantic's become whole ones when they are loaded."""
    record = holdall.Record(known.name, dict.fromkeys(fields), version=known.version)
    try:
        found = holdall.loads(holdall.dumps(record), types=known.cls)
    except Exception:
        return False
    return hasattr(found, "__pydantic_fields_set__")
