"""Classes that load a file, as a module of Python.

Names come from the data. They get into the module as identifiers, of which there is nothing left but letters, digits and `_`, or
as texts by `repr`.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import keyword
import re
import unicodedata
import uuid
from typing import TYPE_CHECKING, Any

import holdall

from ._alternatives import MAPS, SEQUENCES, Alternative, all_layouts, alternatives, is_always, path_of

if TYPE_CHECKING:
    from ._seen import Layout, Place, Seen

STYLES = ("dataclass", "pydantic", "struct")
_ANY = "Any"
# What pydantic stores in a model beside its fields.
_OF_PYDANTIC = "__pydantic_"
_IN_TEXTS = {datetime.datetime, datetime.date, datetime.time, datetime.timedelta, uuid.UUID, decimal.Decimal}
# Of one type. Maps in maps, each in two places of the next, would be written twice as often at each level.
MOST_PARTS = 500
# Of names that are made.
_LONGEST = 80


class Names:
    """Names for the layouts of a file, and how the types of places are written with them."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.layouts: list[Layout] = []
        self._left = MOST_PARTS
        self.of: dict[int, str] = {}
        taken = {*keyword.kwlist, *dir(builtins), "holdall", "Content", "Any", "NoneType"}
        for layout, key in all_layouts(seen):
            self.layouts.append(layout)
            text = (layout.name.rpartition(".")[2] if layout.name is not None else pascal(key)) or "Root"
            name = identifier(text, "Class")
            number = 1
            while name in taken:
                number += 1
                name = f"{identifier(text, 'Class')}{number}"
            taken.add(name)
            self.of[id(layout)] = name

    def leaf(self, cls: type[Any]) -> str | None:
        """How a class is written; None if it can't be."""
        return "None" if cls is type(None) else cls.__qualname__

    def layout(self, layout: Layout) -> str | None:
        return self.of[id(layout)]

    def chosen(self, found: list[Alternative]) -> list[Alternative]:
        """What is written of these; nothing for `Any`."""
        return found

    def annotation(self, place: Place, within: tuple[Place, ...] = ()) -> str:
        """The type of what stands in a place."""
        if not within:
            self._left = MOST_PARTS
        self._left -= 1
        if self._left < 0:
            return _ANY
        found = self.chosen(alternatives(place, self.seen))
        # A map of maps that holds itself has no name by which it could.
        if place.anything or not found or place in within:
            return _ANY
        texts = [self._alternative(each, (*within, place)) for each in found]
        return (
            _ANY if None in texts else " | ".join(dict.fromkeys(text for text in texts if text is not None))
        )

    def _alternative(self, each: Alternative, within: tuple[Place, ...]) -> str | None:
        if each.kind == "leaf":
            return self.leaf(each.cls)
        if each.layout is not None:
            return self.layout(each.layout)
        name = self.leaf(each.cls)
        if name is None or (each.cls not in (*SEQUENCES, *MAPS) and each.cls.__name__ != "Counter"):
            return name and self.container(name)
        inner = [self.annotation(place, within) for place in each.inner]
        if each.kind == "parts":
            return f"{name}[{', '.join(inner) or '()'}]"
        if each.kind == "items":
            return f"{name}[{inner[0]}, ...]" if each.cls is tuple else f"{name}[{inner[0]}]"
        if each.cls.__name__ == "Counter":
            return f"{name}[{inner[0]}]"
        keys, values = inner or (self.leaf(str), _ANY)
        return f"{name}[{keys}, {values}]"

    def container(self, name: str) -> str | None:
        """How a container of another class is written."""
        return name


class _Module(Names):
    """A module that is being written."""

    def __init__(self, seen: Seen, format: str, style: str, many: bool) -> None:
        super().__init__(seen)
        self.format, self.style, self.many = format, style, many
        self.imports: dict[str, str] = {}
        # Within a class the name of a field hides the module's.
        self.hidden = {name for layout in self.layouts for name in attributes(layout).values()}
        for layout in self.layouts:
            while self.of[id(layout)] in self.hidden:
                self.of[id(layout)] += "_"

    def module(self, name: str) -> str:
        """The name under which a module is imported."""
        top = name.partition(".")[0]
        if top not in self.hidden:
            self.imports[f"import {name}"] = ""
            return name
        renamed = "_" + name.replace(".", "_")
        self.imports[f"import {name} as {renamed}"] = ""
        return renamed

    def leaf(self, cls: type[Any]) -> str | None:
        if cls is type(None):
            return "None"
        path = path_of(cls)
        if path is None or not _loads(cls):
            return None
        if path[0] == "builtins" and path[1] not in self.hidden:
            return path[1]
        return f"{self.module(path[0])}.{path[1]}"

    def layout(self, layout: Layout) -> str | None:
        return self.of[id(layout)] if _base(self, layout) is not None else None

    def chosen(self, found: list[Alternative]) -> list[Alternative]:
        # Typed loading can't tell several kinds of arrays apart, nor several kinds of dicts.
        arrays = [
            each
            for each in found
            if each.cls in SEQUENCES or (each.cls is not None and each.cls.__name__ == "ndarray")
        ]
        maps = [each for each in found if each.kind == "map"]
        records = [each for each in found if _is_of_dicts(each)]
        if len(arrays) > 1 or len(maps) + len(records) > 1:
            return []
        # In formats that hold dates as texts, a text next to one may be either.
        leaves = {each.cls for each in found if each.kind == "leaf"}
        if self.format != "hold" and str in leaves and leaves & _IN_TEXTS:
            return []
        if any(each.layout is not None and each.layout.name is not None for each in found):
            # Their fields may not tell a dict's class from another; that it is a dict does.
            return [Alternative("map", dict) if each in records else each for each in found]
        return found

    def container(self, name: str) -> str | None:
        return None

    # --- classes ---------------------------------------------------------------------------------------------------------
    def text(self) -> str:
        classes = [text for layout in self.layouts if (text := self._class(layout)) is not None]
        content = self.annotation(self.seen.place)
        classes.append(f"# What {'each record' if self.many else 'the file'} is.\nContent = {content}\n")
        # Imported by their own names: no field hides what stands before its class.
        for name in (
            {"dataclass": "dataclasses", "pydantic": "pydantic", "struct": "msgspec"}[self.style],
            "holdall",
        ):
            self.imports[f"import {name}"] = ""
        body = "\n\n".join(classes)
        for name in ("dataclasses", "enum", "operator", "pydantic", "msgspec", "holdall.julia"):
            if re.search(rf"\b{name}\.", body):
                self.imports[f"import {name}"] = ""
        if re.search(r"\bAny\b", body):
            self.imports["from typing import Any"] = ""
        unused = [
            line for line in self.imports if line.startswith("import ") and " as " not in line
            and line != "import holdall" and not re.search(rf"\b{line[7:]}\b", body)
        ]  # fmt: skip
        imports = "\n".join(
            sorted(set(self.imports) - set(unused), key=lambda line: (line.startswith("from"), line))
        )
        return f'"""{self._usage()}"""\n\nfrom __future__ import annotations\n\n{imports}\n\n\n{body}'

    def _usage(self) -> str:
        call = {
            "hold": "holdall.Reader(path, type=Content)" if self.many else "holdall.load(path, type=Content)",
            "bson": "holdall.bson.documents(path, type=Content)"
            if self.many
            else "holdall.bson.load(path, type=Content)",
            "msgpack": "holdall.msgpack.Reader(path, type=Content)"
            if self.many
            else "holdall.msgpack.load(path, type=Content)",
            "julia": "holdall.julia.load(path, type=Content)",
        }[self.format]
        return f"Written by `holdall schema --python`. To load the data: `{call}`."

    def _class(self, layout: Layout) -> str | None:
        base = _base(self, layout)
        name = self.of[id(layout)]
        if base is None:
            return None
        note = f"# {layout.count:,} {'instance' if layout.count == 1 else 'instances'}"
        if base == "enum":
            return self._enum(layout, name, note)
        if base == "custom":
            value = self.annotation(layout.content) if layout.content is not None else _ANY
            register = f"holdall.register({name}, name={layout.name!r}{self._version(layout)}, encode=operator.attrgetter('value'), decode={name})"
            return f"{note}, each stored as one value\n@dataclasses.dataclass\nclass {name}:\n    value: {value}\n\n\n{register}\n"
        lines = [note, *self._decorators(layout, name, base)]
        return "\n".join((*lines, *self._body(layout, base))) + "\n" + self._after(layout, name, base)

    def _version(self, layout: Layout) -> str:
        version = max(layout.versions, default=1)
        return f", version={version}" if version != 1 else ""

    def _decorators(self, layout: Layout, name: str, base: str) -> list[str]:
        lines = []
        odd = {stored: field for stored, field in attributes(layout).items() if stored != field}
        if "julia" in layout.kinds:
            fields = f", fields={[*attributes(layout).values()]!r}"
            lines.append(f"@holdall.julia.struct({layout.name!r}{fields})")
        elif layout.name is not None:
            if not self._is_model(layout, base):
                renames = f", renames={odd!r}" if odd else ""
                lines.append(f"@holdall.register(name={layout.name!r}{self._version(layout)}{renames})")
        elif odd and self.style != "pydantic":
            lines.append(f"@holdall.register(rename={ {field: stored for stored, field in odd.items()}!r})")
        if base:
            return [*lines, f"class {name}({base}):"]
        if self.style == "dataclass":
            return [*lines, "@dataclasses.dataclass", f"class {name}:"]
        return [
            *lines,
            f"class {name}({'pydantic.BaseModel' if self.style == 'pydantic' else 'msgspec.Struct'}):",
        ]

    def _is_model(self, layout: Layout, base: str) -> bool:
        """Whether it becomes a model of pydantic's, of instances that were none."""
        was_none = not any(field.startswith(_OF_PYDANTIC) for field in layout.fields)
        return self.style == "pydantic" and not base and "julia" not in layout.kinds and was_none

    def _body(self, layout: Layout, base: str) -> list[str]:
        names = attributes(layout)
        required, optional = [], []
        for stored, field in names.items():
            type_ = self.annotation(layout.fields[stored][1])
            is_model = self.style == "pydantic" and not base
            alias = f"alias={stored!r}" if is_model and layout.name is None and stored != field else ""
            if is_always(layout, stored) or base:
                required.append(f"    {field}: {type_}" + (f" = pydantic.Field({alias})" if alias else ""))
                continue
            if type_ != _ANY and not type_.endswith("None"):
                type_ += " | None"
            default = f"pydantic.Field(None, {alias})" if alias else "None"
            optional.append(f"    {field}: {type_} = {default}  # not in all")
        lines = [*required, *optional]
        if self.style == "pydantic" and not base:
            config = "arbitrary_types_allowed=True, populate_by_name=True, protected_namespaces=()"
            lines.insert(0, f"    model_config = pydantic.ConfigDict({config})")
        return lines or ["    pass"]

    def _after(self, layout: Layout, name: str, base: str) -> str:
        if layout.name is None or not self._is_model(layout, base):
            return ""
        # Instances of other classes lack what pydantic keeps beside the fields: it is what they are upgraded by.
        version = max(layout.versions, default=1) + 1
        odd = {stored: field for stored, field in attributes(layout).items() if stored != field}
        renames = f", renames={odd!r}" if odd else ""
        state = (
            "'__pydantic_extra__': None, '__pydantic_private__': None, '__pydantic_fields_set__': set(fields)"
        )
        upgrade = f"lambda fields, version: {{**fields, {state}}}"
        return f"\n\nholdall.register(\n    {name}, name={layout.name!r}, version={version}{renames},\n    upgrade={upgrade},\n)\n"

    def _enum(self, layout: Layout, name: str, note: str) -> str:
        lines = [
            f"{note}; their values are not in the data",
            f"@holdall.register(name={layout.name!r}{self._version(layout)})",
        ]
        lines.append(f"class {name}(enum.Enum):")
        members = [each for each in layout.members if isinstance(each, str)]
        used = [
            f"    {each} = {each!r}"
            for each in members
            if each.isidentifier() and not keyword.iskeyword(each)
        ]
        return "\n".join((*lines, *(used or ["    pass"]))) + "\n"


def _base(module: Names, layout: Layout) -> str | None:
    """What the class of a layout extends: "" for nothing; "enum" and "custom" for these; None if there is no saying."""
    if "enum" in layout.kinds:
        return "enum" if all(isinstance(member, str) for member in layout.members) else None
    if "custom" in layout.kinds:
        return "custom"
    if "based" not in layout.kinds:
        return ""
    place = layout.content
    found = [] if place is None else alternatives(place, module.seen)
    if len(found) != 1:
        return None
    each = found[0]
    if each.kind == "parts" and len(each.inner) == 2:
        first, second = (alternatives(inner, module.seen) for inner in each.inner)
        if [one.kind for one in first] in (["parts"], ["items"]) and [one.cls for one in second] == [dict]:
            return "Exception"
    if each.layout is not None:
        return "dict"
    return module.leaf(each.cls)


def _is_of_dicts(each: Alternative) -> bool:
    return each.layout is not None and each.layout.name is None


def _loads(cls: type[Any]) -> bool:
    """Whether typed loading knows a class."""
    try:
        holdall.loads(holdall.dumps(None), type=cls | None)
    except (TypeError, holdall.HoldallError):
        return False
    return True


def identifier(text: str, instead: str) -> str:
    """A text as a name that Python takes."""
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    name = re.sub(r"\W+", "_", text).strip("_") if not text.isidentifier() else text
    if not name.isidentifier():
        name = f"{instead}_{name}" if name else instead
    return f"{name}_" if keyword.iskeyword(name) or not name.isidentifier() else name


def pascal(key: str) -> str:
    """A key as the name of a class."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[\W_]+", key))


def attributes(layout: Layout) -> dict[str, str]:
    """The attribute for each field of a layout: a dict's key may be anything."""
    found: dict[str, str] = {}
    taken = set(layout.fields)
    for stored in layout.fields:
        if stored.startswith(_OF_PYDANTIC):
            continue
        # A leading underscore is private in models and mangled in classes if it is two of them.
        is_name = (
            stored == unicodedata.normalize("NFKC", stored)
            and stored.isidentifier()
            and not keyword.iskeyword(stored)
        )
        name = stored if is_name and not stored.startswith("__") else ""
        if not name or (name.startswith("_") and layout.name is None):
            name = identifier(stored.strip("_"), "field")
            while name in taken:
                name += "_"
            taken.add(name)
        found[stored] = name
    return found


def written(seen: Seen, format: str, style: str, many: bool) -> str:
    """A module with classes that load the data."""
    return _Module(seen, format, style, many).text()
