"""Which change of code breaks which stored layout, and what to write for it."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ._layouts import is_whole_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ._layouts import Known, Layout

_PLAIN = "MessagePack and BSON"
# What an annotation takes besides what is called the same.
_TAKES = {
    "float": {"int", "bool"},
    "complex": {"int", "float"},
    "collections.abc.Sequence": {"list", "tuple"},
    "collections.abc.MutableSequence": {"list"},
    "collections.abc.Collection": {"list", "tuple", "set", "frozenset", "dict"},
    "collections.abc.Iterable": {"list", "tuple", "set", "frozenset", "dict"},
    "collections.abc.Set": {"set", "frozenset"},
    "collections.abc.Mapping": {"dict", "collections.OrderedDict", "collections.defaultdict"},
    "collections.abc.MutableMapping": {"dict", "collections.OrderedDict", "collections.defaultdict"},
    "str": {"Literal"},
    "int": {"Literal"},
}
_WORDS = {"enum": "an enumeration", "encoded": "what `encode` returned", "fields": "its fields"}


class Finding(NamedTuple):
    """A difference between a stored layout and the code.

    breaks: whether data of that layout does not load as it did. remedy: what to write, if it does not.
    """

    breaks: bool
    what: str
    remedy: str = ""


def compared(version: int, old: Layout, known: Known, others: Iterable[Known] = ()) -> list[Finding]:
    """What loading data of a stored layout with a class of the program does otherwise than when it was stored."""
    found = _compared(version, old, known, others)
    if not known.resolves:
        return found
    # What becomes of it is the resolver's word.
    return [Finding(False, f"{each.what}: left to its resolver") if each.breaks else each for each in found]


def _compared(version: int, old: Layout, known: Known, others: Iterable[Known]) -> list[Finding]:
    new = known.layout
    kinds = kind_of(old), kind_of(new)
    if kinds[0] != kinds[1]:
        takes = {("encoded", "fields"): known.upgrades, ("fields", "encoded"): known.decodes_versions}
        if version != known.version and takes.get(kinds):
            return []
        return [
            Finding(
                True,
                f"it was stored as {_WORDS[kinds[0]]}, and is {_WORDS[kinds[1]]} now",
                _of_kind(*kinds, known),
            )
        ]
    if kinds[0] == "encoded":
        return []
    if kinds[0] == "enum":
        return [*_enum(old, new, known)]
    found = [*_base(old, new, known)]
    if new["kind"] == "pydantic" and old["kind"] not in ("pydantic", "open"):
        found += _model(version, old, known)
    names = {name: each for each in others for name in each.names}
    if version == known.version or not known.upgrades:
        found += [*_fields(version, old, known, names), *_plain(old, new, known)]
    elif not known.by_version:
        found += _untold(old, known, names)
    return found


def kind_of(layout: Layout) -> str:
    """Which of three ways it is stored in: as an enumeration's member, by `encode`, by its fields."""
    return layout["kind"] if layout["kind"] in ("enum", "encoded") else "fields"


def _of_kind(old: str, new: str, known: Known) -> str:
    newer = f"version={known.version + 1}"
    if old == "encoded":
        return f"{newer} with an `upgrade`, if `encode` gave a dict; else a resolver; or `encode` and `decode` again"
    if new == "encoded":
        return f"{newer} and a `decode(value, version)`, which is given a dict of the fields"
    return (
        f"a class for the old data alone, registered as {known.name!r}, this one under another name; then `holdall rewrite`, or a "
        "resolver"
    )


def gone(name: str, layouts: Iterable[Layout], known: Iterable[Known]) -> Finding:
    """What to do about a stored class that the program has not."""
    like = _like(name, [*layouts], known)
    what = "no class of the program has this name"
    if like is None:
        remedy = "`aliases=` where it was moved to; else load it as a record (`types=holdall.Record`), or by a resolver"
        return Finding(True, what, remedy)
    to = (
        f"add it to `aliases` of `{like.name}`"
        if like.registered
        else f"@holdall.register(aliases=[{name!r}])"
    )
    return Finding(
        True,
        f"{what}; `{like.cls.__module__}.{like.cls.__qualname__}` ({like.place}) is like it",
        f"{to}, if it was moved",
    )


def _like(name: str, layouts: list[Layout], known: Iterable[Known]) -> Known | None:
    """The class with the same fields or members, or at least the same name, as a stored one."""
    best: tuple[int, Known | None] = 0, None
    last = name.rpartition(".")[2]
    for each in known:
        same_name = each.cls.__name__ == last
        same = any(
            kind_of(layout) == kind_of(each.layout)
            and _names(layout)
            and _names(layout) == _names(each.layout)
            for layout in layouts
        )
        score = 2 * same + same_name
        if score > best[0]:
            best = score, each
    return best[1]


def _names(layout: Layout) -> set[str]:
    return {
        *(name for name, field in layout.get("fields", {}).items() if not field.get("gone")),
        *layout.get("members", {}),
        *layout.get("names", ()),
    }


# --- enumerations --------------------------------------------------------------------------------------------------------
def _enum(old: Layout, new: Layout, known: Known) -> Iterator[Finding]:
    before, now = old.get("members", {}), new["members"]
    for name in (*before, *old.get("names", ())):
        target = name if name in now else known.renames.get(name, name)
        if target not in now:
            if not known.asked:
                yield _lost_member(name, before, now)
        elif name in before and not _same(before[name], now[target]):
            yield _other_value(name, target, before, now, known)
    for name in now:
        if name not in before and name not in old.get("names", ()):
            yield Finding(False, f"member `{name}` was added")


def _other_value(
    name: str, target: str, before: dict[str, Any], now: dict[str, Any], known: Known
) -> Finding:
    was = [each for each, value in before.items() if _same(value, now[target])]
    what = f"the value of `{name}` changed"
    is_free = not any(_same(value, before[name]) for value in now.values())
    if known.asked and is_free and not was:
        return Finding(False, f"{what}: `_missing_` is asked for the old one in {_PLAIN}")
    stores = f"{_PLAIN} store values" + (
        ", and hold those of combinations" if issubclass(known.cls, enum.Flag) else ""
    )
    stores += f", and read `{was[0]}` as `{target}`" if was else ""
    # Neither is asked about values that a member has.
    others = ", or `_missing_` or a resolver" if is_free and not was else ""
    return Finding(True, f"{what}: {stores}", f"{target} = {before[name]!r} as before{others}")


def _lost_member(name: str, before: dict[str, Any], now: dict[str, Any]) -> Finding:
    others = [
        each
        for each, value in now.items()
        if name in before and _same(value, before[name]) and each not in before
    ]
    if others:
        remedy = f"renames={{{name!r}: {others[0]!r}}}, or {name} = {others[0]} behind it, in the class"
        return Finding(True, f"member `{name}` is gone: `{others[0]}` has its value", remedy)
    remedy = f"`{name}` again; or `renames`, `_missing_` or a resolver, which say what takes its place"
    return Finding(True, f"member `{name}` is gone", remedy)


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


# --- classes with fields -------------------------------------------------------------------------------------------------
def _base(old: Layout, new: Layout, known: Known) -> Iterator[Finding]:
    before, now = old.get("base"), new.get("base")
    if before == now or "object" in (before, now):
        return
    if before is not None and now is not None and before.rpartition(".")[2] == now:
        return
    words = [f"extends `{base}`" if base else "extends no builtin" for base in (before, now)]
    yield Finding(
        True,
        f"its base changed: it {words[0].replace('extends', 'extended')}, and {words[1]} now",
        f"a class with the old base for the old data, registered as {known.name!r}, this one under another name; then `holdall "
        "rewrite`, or a resolver",
    )


def _model(version: int, old: Layout, known: Known) -> Iterator[Finding]:
    if (version != known.version and known.upgrades) or is_whole_model(known, _names(old)):
        return
    state = "'__pydantic_fields_set__': set(fields), '__pydantic_extra__': None, '__pydantic_private__': None"
    yield Finding(
        True,
        "it is a model of pydantic's now, and stored instances lack what that keeps beside the fields",
        f"version={known.version + 1}, upgrade=lambda fields, version: {{**fields, {state}}}",
    )


def _fields(version: int, old: Layout, known: Known, names: dict[str, Known]) -> Iterator[Finding]:
    before, now = old.get("fields"), known.layout.get("fields")
    if before is None or now is None:
        # Whatever attributes instances had, they have again.
        return
    targets = {name: known.renames.get(name, name) for name in before}
    lost = [name for name in before if targets[name] not in now and not before[name].get("gone")]
    upgrade = _upgrade(version, known)
    added = []
    for name in now:
        sources = [each for each, target in targets.items() if target == name]
        if not sources:
            added.append(name)
        elif name in known.required and len(sources) == 1 and before[sources[0]].get("sometimes"):
            yield Finding(
                True,
                f"field `{name}` has no default, and not all stored data has it",
                f"a default; or {upgrade}",
            )
    taken: set[str] = set()
    for name in added:
        like = [
            each
            for each in lost
            if each not in taken and accepts(now[name]["type"], before[each]["type"], names)
        ]
        rename = f"renames={{{like[0]!r}: {name!r}}}" if like else ""
        if name in known.required:
            taken.update(like[:1])
            what = f"field `{name}` is required, and stored data has none"
            what += f"; `{like[0]}`, which is gone, has its type" if like else ""
            first = f"{rename}, if it was renamed; else " if like else ""
            yield Finding(True, what, f"{first}a default; or {upgrade}")
        elif method := known.computed.get(name):
            what = f"field `{name}` is set by `{method}` alone, which loading without a type does not call"
            yield Finding(True, what, f"a default; or {upgrade}")
        elif name in known.computed:
            yield Finding(False, f"field `{name}` was added, and is unset in stored data")
        else:
            said = f"; if `{like[0]}` was renamed to it: {rename}" if len(like) == 1 else ""
            yield Finding(False, f"field `{name}` was added, and has a default{said}")
    for name in lost:
        if name in taken:
            continue
        if known.forbids:
            what = f"field `{name}` is gone, and unknown fields are refused"
            yield Finding(True, what, f"{known.forbids}; or {upgrade}")
        else:
            yield Finding(False, f"field `{name}` was removed: stored values of it are not used")
    for name, target in targets.items():
        if target in now and not accepts(now[target]["type"], before[name]["type"], names):
            types = f"`{before[name]['type']}`, and is `{now[target]['type']}` now"
            converts = f"{upgrade} that converts it (and `version_field`, for {_PLAIN})"
            yield Finding(
                True,
                f"the type of field `{target}` was {types}",
                f"{converts}; or the old type next to the new",
            )


def _untold(old: Layout, known: Known, names: dict[str, Known]) -> Iterator[Finding]:
    """Dicts of an older version that look like ones of today's, but for the type of a field."""
    before, now = old.get("fields"), known.layout.get("fields")
    if before is None or now is None or old["kind"] == "record" or known.layout.get("by"):
        return
    places = {known.renames.get(name, name): field for name, field in before.items()}
    if not places.keys() >= {*known.required}:
        return
    for name, field in now.items():
        if name in places and not accepts(field["type"], places[name]["type"], names):
            what = f"{_PLAIN} store no version, and `{name}` of another type is taken for today's"
            yield Finding(True, what, "version_field='v', or another key of your choice")


def _upgrade(version: int, known: Known) -> str:
    if known.upgrades:
        return f"version={version + 1}: `upgrade` is called for data of other versions only"
    if known.version != version:
        return "an `upgrade`"
    return f"version={version + 1} with an `upgrade`"


def _plain(old: Layout, new: Layout, known: Known) -> Iterator[Finding]:
    """What changes in formats that store no names of classes."""
    before, now = old.get("fields"), new.get("fields")
    # Data of hold says nothing of these.
    if before is None or now is None or old["kind"] == "record":
        return
    if old.get("by") != new.get("by"):
        how = "position" if old.get("by") else "name"
        remedy = "a class, as before" if new["kind"] == "namedtuple" else f"array_like={bool(old.get('by'))}"
        remedy += "; or a named tuple, as before" if old["kind"] == "namedtuple" else ""
        yield Finding(True, f"{_PLAIN} stored its fields by {how}, and do not now", remedy)
    elif new.get("by"):
        places = [known.renames.get(name, name) for name in before if not before[name].get("gone")]
        moved = any(name in now and [*now].index(name) != at for at, name in enumerate(places))
        if moved or len(now) < len(places):
            yield Finding(
                True,
                f"{_PLAIN} store its fields by position, and their order was {', '.join(places)}",
                "the fields in this order; new ones behind them, with defaults",
            )
    else:
        for name, field in before.items():
            target = known.renames.get(name, name)
            key = field.get("key", name)
            if target in now and key not in known.reads[target]:
                what = f"field `{target}` has another key in {_PLAIN}: it was {key!r}"
                yield Finding(True, what, _old_key(target, key, known))
    if old.get("tag") is not None and old["tag"] != new.get("tag"):
        key, _, value = old["tag"].partition("=")
        if value in known.tags and key == (new.get("tag") or "").partition("=")[0]:
            return
        remedy = f"tag={value!r}, tag_field={key!r}; or aliases=[{value!r}], if the key is the same"
        yield Finding(True, f"its tag in {_PLAIN} changed", remedy)


def _old_key(field: str, key: str, known: Known) -> str:
    """What to write for a key that is not read any more."""
    if known.layout["kind"] == "pydantic":
        choices = ", ".join(map(repr, dict.fromkeys((*sorted(known.reads[field]), key))))
        return f"validation_alias=pydantic.AliasChoices({choices})"
    return f"rename={{{field!r}: {key!r}}}"


# --- types ---------------------------------------------------------------------------------------------------------------
def accepts(new: str, old: str, names: dict[str, Known]) -> bool:
    """Whether a type takes all that another one took. What can't be told is taken."""
    if new == old or new in ("Any", "object") or old in ("Any", "object"):
        return True
    takers = split(new, "|")
    return all(any(_accepts(taker, part, names) for taker in takers) for part in split(old, "|"))


def _accepts(new: str, old: str, names: dict[str, Known]) -> bool:
    (head, arguments), (old_head, old_arguments) = _taken_apart(new), _taken_apart(old)
    if head in ("Any", "object"):
        return True
    if head == "Literal" == old_head:
        return {*old_arguments} <= {*arguments}
    if not (head == old_head or old_head in _TAKES.get(head, ()) or _is_subclass(head, old_head, names)):
        return False
    arguments, old_arguments = (
        [each for each in listed if each != "..."] for listed in (arguments, old_arguments)
    )
    if len(arguments) != len(old_arguments) or head != old_head:
        # `list` takes what `list[int]` does; a pair is no tuple of any length.
        return head != old_head or not arguments or not old_arguments or "..." in new
    return all(
        accepts(part, old_part, names) for part, old_part in zip(arguments, old_arguments, strict=True)
    )


def _is_subclass(head: str, old_head: str, names: dict[str, Known]) -> bool:
    found, old = names.get(head), names.get(old_head)
    if found is None:
        return False
    # Dicts are made instances by the type.
    return old_head == "dict" if old is None else issubclass(old.cls, found.cls)


def _taken_apart(text: str) -> tuple[str, list[str]]:
    found = re.fullmatch(r"([^\[]*)\[(.*)\]", text, re.S)
    return (found[1], split(found[2], ",")) if found else (text, [])


def split(text: str, by: str) -> list[str]:
    """The parts of a type's text, which brackets and quotes hold together."""
    parts, depth, quote, start = [], 0, "", 0
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == by and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def merged(old: Layout | None, new: Layout, *, of_code: bool) -> Layout:
    """A layout that stands for data of both.

    of_code: the new one is the program's: what it lacks is gone; else it is what some data has.
    """
    if old is None or kind_of(old) != kind_of(new):
        return new
    if kind_of(new) == "enum":
        members = {**old.get("members", {}), **new.get("members", {})}
        names = sorted({*old.get("names", ()), *new.get("names", ())} - members.keys())
        return {
            "kind": "enum",
            **({"members": members} if members else {}),
            **({"names": names} if names else {}),
        }
    if kind_of(new) == "encoded":
        return new
    first, second = (old, new) if of_code or old["kind"] in ("record", "pydantic") else (new, old)
    result: Layout = {**first, **second}
    if "fields" not in old or "fields" not in new:
        return result
    result["fields"] = fields = {}
    for name in (*old["fields"], *(name for name in new["fields"] if name not in old["fields"])):
        was, now = old["fields"].get(name), new["fields"].get(name)
        if was is None or now is None:
            field: dict[str, Any] = {**(was or now), "sometimes": True}
            if now is None and of_code:
                field["gone"] = True
        else:
            field = {**was, **now} if of_code else {**now, **was}
            if of_code:
                field.pop("gone", None)
            if was.get("sometimes") or now.get("sometimes"):
                field["sometimes"] = True
        fields[name] = field
    return result
