"""Compiles annotations: `describe` turns one into nodes and classes, which the native module understands.

A *node* says what may be in one place: scalars, at most one array-like and one mapping-like container,
classes. A *class* lists its fields, each with the node of its value. They refer to each other by index, so
recursive types need no special case, and equal annotations share a node. This runs once for each annotation.
It imports no libraries: classes of other libraries are recognized by their attributes.
"""

from __future__ import annotations

import sys
import typing
from typing import TYPE_CHECKING, Any, Union

from .. import _bundles
from . import constraints as _constraints
from . import fields as _fields
from . import values as _values
from .constraints import SHAPED, SIZED, ZONED, Constraints
from .scopes import (
    Bound,
    Scope,
    arguments_of,
    is_alias,
    is_annotated,
    is_classvar_text,
    is_union,
    is_variable,
    origin_of,
    own_hints,
    settled,
    show,
    special,
    text_of,
)
from .unions import Conflict, Draft, ambiguous_scalars, tell_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .scopes import Bindings

# A generic class may contain itself with other arguments, but not endlessly.
_DEEPEST = 50
_HEAP_TYPE, _IMMUTABLE, _ABSTRACT = 1 << 9, 1 << 8, 1 << 20
_LATER = "define it before the first typed load"


def describe(
    annotation: Any,
    *,
    settings: Callable[[type], Any],
    subclasses: Callable[[type], Iterable[type]],
) -> dict[str, Any]:
    """The nodes and classes of `annotation`, and the index of its own node; node 0 is Any.

    settings: what was registered for a class (`rename`, `array_like`, `forbid_unknown`, `tag`, `tag_field`),
        or None.
    subclasses: the permitted subclasses of a class, which may be in its place.

    Raises TypeError: a part of it can't be loaded by type, is not defined yet, or is ambiguous.
    """
    builder = _Builder(settings, subclasses)
    root = builder.node(annotation, Scope())
    builder.finish()
    return {"nodes": builder.nodes, "classes": builder.classes, "root": root}


def anchor(annotation: Any) -> type | None:
    """The first class in `annotation` that may be garbage collected: a schema that is kept on it goes with
    it.

    None if there is none: builtins and the classes of the standard library are never collected.
    """
    return _anchor(annotation, set())


def _anchor(annotation: Any, seen: set[int]) -> type | None:
    if id(annotation) in seen:
        return None
    seen.add(id(annotation))
    origin = origin_of(annotation)
    if isinstance(annotation, type) and origin is None:
        goes = annotation.__module__.partition(".")[0] not in sys.stdlib_module_names
        can_hold = annotation.__flags__ & (_HEAP_TYPE | _IMMUTABLE) == _HEAP_TYPE
        # A class must have everything that its protocols define.
        can_hold = can_hold and not getattr(annotation, "_is_protocol", False)
        return annotation if goes and can_hold else None
    parts: tuple[Any, ...]
    if special(origin) == "Literal":
        parts = tuple(map(type, annotation.__args__))
    elif is_variable(annotation):
        parts = (annotation.__bound__, *annotation.__constraints__)
    elif is_alias(annotation):
        try:
            parts = (annotation.__value__,)
        except NameError:
            # `describe` will say what is missing.
            return None
    else:
        supertype = getattr(annotation, "__supertype__", None)
        parts = (origin, supertype, *arguments_of(annotation))
    return next((found for part in parts if (found := _anchor(part, seen)) is not None), None)


class _Builder:
    def __init__(self, settings: Callable[[type], Any], subclasses: Callable[[type], Iterable[type]]) -> None:
        self.settings = settings
        self.subclasses = subclasses
        anything = Draft(Any, "")
        anything.any = True
        self.nodes: list[dict[str, Any]] = [anything.node()]
        self.classes: list[dict[str, Any]] = []
        self._memo: dict[Any, int] = {Any: 0, object: 0}
        self._class_memo: dict[Any, int] = {}
        # Classes whose fields are not described yet. A chain of classes may be longer than the stack is deep.
        self._queue: list[tuple[dict[str, Any], type, str, Bindings, int]] = []
        # Unions of classes; how to tell these apart is known when all classes are described.
        self._mixed: list[tuple[dict[str, Any], Draft]] = []
        self._numbers: dict[Any, int] = {}
        # Some keys contain the ids of objects, which therefore have to be kept.
        self._kept: list[Any] = []
        self._where = ""

    def node(self, annotation: Any, scope: Scope) -> int:
        seen: set[str] = set()
        while (text := text_of(annotation)) is not None and text not in seen:
            seen.add(text)
            annotation, scope = self._evaluate(annotation, text, scope)
        key = self._key(annotation, scope)
        index = self._memo.get(key)
        if index is None:
            index = self._memo[key] = len(self.nodes)
            self.nodes.append({})
            draft = Draft(annotation, self._where)
            try:
                self._fill(draft, annotation, scope, Constraints({}))
            except Conflict as conflict:
                raise self._error(annotation, str(conflict)) from None
            if draft.is_empty():
                raise self._error(annotation, "refers to nothing but itself")
            made = self.nodes[index] = draft.node()
            for name, why in zip(("ambiguous", "ambiguous_text"), ambiguous_scalars(made), strict=True):
                made[name] = why and str(self._error(annotation, why))
            if made["classes"]:
                self._mixed.append((made, draft))
        return index

    def finish(self) -> None:
        """Describe the fields of all classes that occurred, then how the classes of each union are told
        apart.
        """
        # The queue grows meanwhile.
        for entry, cls, kind, bindings, depth in self._queue:
            self._describe_fields(entry, cls, kind, bindings, depth)
        for node, draft in self._mixed:
            self._where = draft.where
            try:
                why = tell_apart(node, self.classes)
            except Conflict as conflict:
                raise self._error(draft.annotation, str(conflict)) from None
            if why is not None:
                node["ambiguous"] = str(self._error(draft.annotation, f"{why} (`register(tag=...)`)"))

    def _error(self, annotation: Any, text: str) -> TypeError:
        return TypeError(f"`{show(annotation)}`: {text}" + (f" - in `{self._where}`" if self._where else ""))

    # --- keys --------------------------------------------------------------------------------------------------------
    def _key(self, annotation: Any, scope: Scope) -> Any:
        """A key that is equal for annotations of the same meaning only."""
        if is_variable(annotation) and annotation in scope.bindings:
            return scope.bindings[annotation].key
        annotation, scope = settled(annotation, scope)
        if type(annotation) is type:
            return annotation
        text = text_of(annotation)
        if text is not None:
            found = self._evaluate(annotation, text, scope)[0]
            if isinstance(found, type) and origin_of(found) is None:
                return found
            self._kept.append(scope)
            return ("name", id(scope), getattr(annotation, "__forward_module__", None), text)
        if is_annotated(annotation):
            inner = self._key(annotation.__origin__, scope)
            values = sorted(self._read(annotation, annotation.__metadata__).items(), key=lambda item: item[0])
            return self._number(("Annotated", inner, *values)) if values else inner
        if special(annotation) == "Self" and scope.this is not None:
            return self._class_key(*scope.this)
        origin = Union if is_union(annotation) else origin_of(annotation)
        if origin is not None and hasattr(annotation, "__args__"):
            arguments = arguments_of(annotation)
            if special(origin) == "Literal":
                return self._number(("Literal", *((type(value), value) for value in arguments)))
            return self._number((origin, *(self._key(part, scope) for part in arguments)))
        try:
            hash(annotation)
        except TypeError:
            self._kept.append(annotation)
            return ("id", id(annotation))
        return annotation

    def _class_key(self, cls: type, bindings: Bindings) -> Any:
        return self._number((cls, *(bound.key for bound in bindings.values()))) if bindings else cls

    def _number(self, key: Any) -> Any:
        """A short key for a long one: nested arguments would double its length at every level."""
        return ("number", self._numbers.setdefault(key, len(self._numbers)))

    # --- what annotations say ----------------------------------------------------------------------------------------
    def _evaluate(self, annotation: Any, text: str, scope: Scope) -> tuple[Any, Scope]:
        module = getattr(annotation, "__forward_module__", None)
        if isinstance(module, str):
            scope = scope.in_module(module)
        where = self._where or text
        try:
            return scope.evaluate(text), scope
        except NameError as error:
            raise TypeError(f"`{where}`: the name `{error.name}` can't be resolved; {_LATER}") from error
        except MemoryError:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise TypeError(f"`{where}`: the annotation `{text}` can't be evaluated: {kind}") from error

    def _read(self, annotation: Any, extras: Iterable[Any]) -> dict[str, Any]:
        try:
            return _constraints.read(extras)
        except ValueError as error:
            raise self._error(annotation, str(error)) from None

    def _qualifiers(self, annotation: Any, scope: Scope) -> set[str]:
        """The names of the qualifiers around a field's type: `ClassVar`, `Required`, `NotRequired`, ..."""
        found: set[str] = set()
        while True:
            text = text_of(annotation)
            if text is not None:
                # The type in a ClassVar may be defined for type checkers only.
                if is_classvar_text(text):
                    return {"ClassVar"}
                annotation, scope = self._evaluate(annotation, text, scope)
            elif is_annotated(annotation):
                annotation = annotation.__origin__
            else:
                name = special(annotation) or special(origin_of(annotation))
                if name not in ("ClassVar", "Final", "Required", "NotRequired", "ReadOnly"):
                    return found
                found.add(name)
                annotation = (arguments_of(annotation) or (None,))[0]

    def _bind(
        self, cls: Any, arguments: tuple[Any, ...], scope: Scope, annotation: Any
    ) -> tuple[Bindings, int]:
        """The meaning of the parameters of a generic class or alias, and how deep it is nested in others."""
        parameters = cls.__type_params__ if is_alias(cls) else getattr(cls, "__parameters__", ())
        if not arguments or len(parameters) != len(arguments):
            return {}, 0
        if scope.depth >= _DEEPEST:
            # The annotation isn't shown: it is as long as its nesting is deep.
            raise self._error(cls, "nests itself in ever new types")
        pairs = zip(parameters, arguments, strict=True)
        return {
            parameter: Bound(argument, scope, self._key(argument, scope)) for parameter, argument in pairs
        }, scope.depth + 1

    # --- what may stand in a place -----------------------------------------------------------------------------------
    def _fill(self, draft: Draft, annotation: Any, scope: Scope, rules: Constraints) -> None:
        """Add everything that `annotation` allows to `draft`."""
        annotation, scope = settled(annotation, scope)
        origin = origin_of(annotation)
        if annotation is Any or annotation is object:
            draft.any = True
        elif isinstance(annotation, type) and origin is None:
            self._fill_class(draft, annotation, annotation, scope, rules)
        elif is_union(annotation):
            for part in annotation.__args__:
                self._fill(draft, part, scope, rules)
        elif is_annotated(annotation):
            self._fill_annotated(draft, annotation, scope, rules)
        elif (text := text_of(annotation)) is not None:
            if self._follow(draft, annotation, scope, rules):
                self._fill(draft, *self._evaluate(annotation, text, scope), rules)
        elif is_alias(annotation) or is_alias(origin):
            if self._follow(draft, annotation, scope, rules):
                self._fill_alias(draft, annotation, scope, rules)
        elif special(origin) == "Literal":
            self._fill_literal(draft, annotation)
        elif isinstance(origin, type) and not getattr(annotation, "__unpacked__", False):
            self._fill_class(draft, origin, annotation, scope, rules)
        elif (name := special(annotation)) == "Self" and scope.this is not None:
            cls, bindings = scope.this
            self._fill_user_class(draft, cls, annotation, (bindings, scope.depth), rules)
        elif name in ("Never", "NoReturn"):
            raise self._error(annotation, "nothing can be loaded as this")
        else:
            raise self._error(annotation, "can't be loaded by type")

    def _follow(self, draft: Draft, annotation: Any, scope: Scope, rules: Constraints) -> bool:
        key = (self._key(annotation, scope), rules.key())
        if key in draft.followed:
            return False
        draft.followed.add(key)
        return True

    def _fill_annotated(self, draft: Draft, annotation: Any, scope: Scope, rules: Constraints) -> None:
        inner = annotation.__origin__
        own = self._read(annotation, annotation.__metadata__)
        try:
            both = Constraints(_constraints.merge(rules.values, own))
        except ValueError as error:
            raise self._error(inner, str(error)) from None
        self._fill(draft, inner, scope, both)
        # An unbound type variable allows anything, so constraints on it have no meaning.
        free = is_variable(inner) and settled(inner, scope)[0] is Any
        # A tuple in the annotation of anything but an array is metadata of another library, not a shape.
        for name in sorted(own.keys() - both.used - SHAPED):
            if not free:
                raise self._error(inner, f"the constraint `{name}` doesn't fit this type")
        rules.used |= both.used & rules.values.keys()

    def _fill_alias(self, draft: Draft, annotation: Any, scope: Scope, rules: Constraints) -> None:
        alias = annotation if is_alias(annotation) else annotation.__origin__
        bindings, depth = self._bind(alias, arguments_of(annotation), scope, annotation)
        try:
            value = alias.__value__
        except NameError as error:
            raise self._error(alias, f"the name `{error.name}` can't be resolved; {_LATER}") from error
        inside = Scope(module=alias.__module__, bindings=bindings, this=scope.this, depth=depth)
        self._fill(draft, value, inside, rules)

    def _fill_literal(self, draft: Draft, annotation: Any) -> None:
        for value in annotation.__args__:
            cls = type(value)
            if not (value is None or cls in (bool, int, str, bytes) or _values.is_enum(cls)):
                raise self._error(annotation, f"a literal can't be of type `{cls.__name__}`")
        draft.add_scalar("Literal", ("literal", tuple(annotation.__args__)))

    def _fill_class(self, draft: Draft, cls: type, annotation: Any, scope: Scope, rules: Constraints) -> None:
        """A class or, if `annotation` has arguments, its specialization."""
        arguments: tuple[Any, ...] = arguments_of(annotation)
        if (known := _values.scalar(cls, arguments)) is not None:
            name, item, fitting = known
            found = rules.pick(fitting)
            if fitting is ZONED:
                item = (*item, (found or {}).get("tz"))
            elif fitting:
                item = (*item, found)
            draft.add_scalar(name, item)
        elif cls in _values.SEQUENCES:
            self._fill_sequence(draft, _values.SEQUENCES[cls], annotation, scope, rules)
        elif cls in _values.MAPPINGS:
            self._fill_mapping(draft, _values.MAPPINGS[cls], annotation, scope, rules)
        elif _values.is_enum(cls):
            draft.add_scalar(cls.__qualname__, ("enum", cls, *_values.members(cls)), key=("enum", cls))
        elif _values.is_ndarray(cls):
            self._fill_array(draft, annotation, arguments, scope, rules)
        elif _values.is_refused(cls):
            raise self._error(annotation, "can't be loaded by type")
        else:
            bound = self._bind(cls, arguments, scope, annotation)
            self._fill_user_class(draft, cls, annotation, bound, rules)

    def _fill_sequence(
        self, draft: Draft, kind: str, annotation: Any, scope: Scope, rules: Constraints
    ) -> None:
        arguments = arguments_of(annotation) if hasattr(annotation, "__args__") else None
        if (
            kind == "tuple"
            and arguments is not None
            and origin_of(annotation) is not None
            and arguments[1:] != (...,)
        ):
            # Python 3.10's Tuple[()] has one argument, an empty tuple.
            items = [self.node(part, scope) for part in arguments if part != ()]
            draft.add_sequence("tuple", kind="fixed", items=items)
            return
        item = 0
        if arguments:
            self._expect(annotation, arguments, 1 + (kind == "tuple"))
            item = self.node(arguments[0], scope)
        draft.add_sequence(kind, kind=kind, item=item, **_bounds(rules))

    def _fill_mapping(
        self, draft: Draft, kind: str, annotation: Any, scope: Scope, rules: Constraints
    ) -> None:
        arguments = arguments_of(annotation)
        factory = None
        if arguments:
            self._expect(annotation, arguments, 1 if kind == "Counter" else 2)
        if kind == "Counter":
            arguments = (*(arguments or (Any,)), int)
        if kind == "defaultdict" and arguments:
            factory = _values.factory(settled(arguments[1], scope)[0])
        key, value = (self.node(part, scope) for part in arguments or (Any, Any))
        draft.add_mapping(kind, kind=kind, key=key, value=value, factory=factory, **_bounds(rules))

    def _expect(self, annotation: Any, arguments: tuple[Any, ...], count: int) -> None:
        if len(arguments) != count:
            raise self._error(annotation, f"expected {count} type argument{'s' * (count > 1)}")

    def _fill_array(
        self, draft: Draft, annotation: Any, arguments: tuple[Any, ...], scope: Scope, rules: Constraints
    ) -> None:
        shape = None
        of: Any = Any
        if arguments:
            shape = _values.shape(settled(arguments[0], scope)[0])
        if len(arguments) > 1:
            dtype, inside = settled(arguments[1], scope)
            of, _ = settled((arguments_of(dtype) or (Any,))[0], inside)
        shape = (rules.pick(SHAPED) or {}).get("shape", shape)
        try:
            name, dtypes = _values.dtypes(of)
        except TypeError:
            raise self._error(annotation, f"`{show(of)}` is no dtype") from None
        for dtype in dtypes:
            draft.add_scalar(name, ("numpy", dtype, shape))

    # --- classes -----------------------------------------------------------------------------------------------------
    def _fill_user_class(
        self,
        draft: Draft,
        cls: Any,
        annotation: Any,
        bound: tuple[Bindings, int],
        rules: Constraints,
    ) -> None:
        protocol = getattr(cls, "_is_protocol", False)
        children = [child for child in self.subclasses(cls) if child is not cls]
        abstract = protocol or cls.__flags__ & _ABSTRACT
        if not abstract:
            self._add_class(draft, cls, annotation, bound, rules)
        elif not children:
            if protocol and not getattr(cls, "_is_runtime_protocol", False):
                raise self._error(annotation, "a protocol that is not `runtime_checkable` can't be checked")
            _add_foreign(draft, cls, annotation)
        draft.add_name(cls.__qualname__)
        # A subclass is accepted as well, but errors show the annotation's own name.
        names = list(draft.names)
        for child in children:
            if not child.__flags__ & _ABSTRACT:
                self._add_class(draft, child, child, ({}, 0), rules)
        draft.names = names

    def _add_class(
        self, draft: Draft, cls: Any, annotation: Any, bound: tuple[Bindings, int], rules: Constraints
    ) -> None:
        # What a library annotates in its own classes says nothing of how they are stored.
        kind = None if cls in _bundles.classes else _fields.family(cls)
        name = cls.__qualname__
        if kind is None:
            _add_foreign(draft, cls, annotation)
            return
        key = self._class_key(cls, bound[0])
        index = self._class_memo.get(key)
        if index is None:
            index = self._class_memo[key] = len(self.classes)
            self.classes.append({"cls": cls, "name": name})
            self._queue.append((self.classes[index], cls, kind, *bound))
        if kind == "namedtuple":
            draft.add_sequence(name, kind="namedtuple", **{"class": index})
        elif kind == "typeddict":
            text = self.node(str, Scope())
            draft.add_mapping(name, kind="typeddict", key=text, **_bounds(rules), **{"class": index})
        else:
            draft.add_class(name, index)

    def _describe_fields(
        self, entry: dict[str, Any], cls: type, kind: str, bindings: Bindings, depth: int
    ) -> None:
        self._where = cls.__qualname__
        hints = own_hints(cls, bindings, depth, self._bind)
        qualifiers: dict[str, set[str]] = {}
        if kind in ("plain", "typeddict"):
            for name, hint in hints.items():
                self._where = f"{cls.__qualname__}.{name}"
                qualifiers[name] = self._qualifiers(*hint)
        fields, about = _fields.members(cls, kind, qualifiers)
        entry.update(about, fields=fields)
        try:
            _fields.set_up(entry, self.settings(cls))
        except ValueError as error:
            raise TypeError(f"`{cls.__qualname__}`: {error}") from None
        for field in fields:
            self._where = f"{cls.__qualname__}.{field['name']}"
            written = field.pop("type", Any)
            annotation, scope = hints.get(field["name"]) or (written, Scope(cls))
            if "info" in field:
                annotation = typing.Annotated[annotation, field.pop("info")]
            field["node"] = self.node(annotation, scope)
        self._where = ""


def _add_foreign(draft: Draft, cls: type, annotation: Any) -> None:
    """A class about which nothing else is known."""
    draft.add_scalar(cls.__qualname__, ("custom", annotation, cls), key=(cls, show(annotation)))


def _bounds(rules: Constraints) -> dict[str, Any]:
    found = rules.pick(SIZED) or {}
    return {"min": found.get("min_length"), "max": found.get("max_length")}
