"""The scope of an annotation: the names that it may use, the meaning of type variables, and how errors show
it.
"""

from __future__ import annotations

import builtins
import re
import sys
import types
import typing
from typing import TYPE_CHECKING, Any, NamedTuple, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Bindings = Mapping[Any, "Bound"]

_TYPING = ("typing", "typing_extensions")
_QUALIFIERS = frozenset({"Final", "Required", "NotRequired", "ReadOnly"})
_LAZY: Any = getattr(types, "LazyImportType", None)  # since 3.15
_CLASSVAR = re.compile(r"\s*(\w+\s*\.\s*)*ClassVar\b")


class Bound(NamedTuple):
    """The meaning of a type variable: an annotation, the scope in which it was written, and its key."""

    annotation: Any
    scope: Scope
    key: Any


class Scope:
    """A class body or a module, with the meaning of the type variables of its generic class."""

    __slots__ = ("_found", "_outer", "_spaces", "bindings", "depth", "module", "owner", "this")

    def __init__(
        self,
        owner: type | None = None,
        module: str | None = None,
        *,
        bindings: Bindings | None = None,
        this: tuple[type, Bindings] | None = None,
        depth: int = 0,
    ) -> None:
        self.owner = owner
        self.module = module if owner is None else owner.__module__
        self.bindings: Bindings = bindings or {}
        # The class that is being described; `owner` is the base whose body this scope is.
        self.this = this
        # How many generic classes are nested around this scope.
        self.depth = depth
        self._found: dict[str, Any] = {}
        self._outer: dict[str, Scope] = {}
        self._spaces: tuple[dict[str, Any], dict[str, Any]] | None = None

    def evaluate(self, text: str) -> Any:
        """The annotation that `text` means here. Raises what evaluating it raises, usually NameError."""
        if text in self._found:
            return self._found[text]
        first, then = self._spaces or self._names()
        # Most annotations are a single name, which needs no compiler.
        if text.isidentifier():
            space = first if text in first else then
            if text not in space:
                raise NameError(f"name {text!r} is not defined", name=text)
            found = space[text]
            if type(found) is _LAZY:
                # Of `lazy import`: the module is imported when the name is used.
                found = found.resolve()
        else:
            found = eval(text, then, first)
        self._found[text] = found
        return found

    def in_module(self, module: str) -> Scope:
        """The same scope with the names of another module."""
        if module == self.module:
            return self
        if module not in self._outer:
            self._outer[module] = Scope(
                module=module, bindings=self.bindings, this=self.this, depth=self.depth
            )
        return self._outer[module]

    def _names(self) -> tuple[dict[str, Any], dict[str, Any]]:
        # A field's default has the field's name, which is often also the name of its type. So the names of
        # the module and the builtins come before those of the class body.
        module = sys.modules.get(self.module or "")
        first: dict[str, Any] = {} if module is None else vars(module)
        then: dict[str, Any] = {}
        owner = self.owner
        if owner is not None:
            then.update(vars(owner))
            parameters = {p.__name__: p for p in then.get("__type_params__", ())}
            # A class knows its own name, even if it was defined in a function and its module doesn't have it.
            if "<locals>" in owner.__qualname__:
                first = {**first, owner.__name__: owner, **parameters}
            else:
                first = {**first, **parameters} if parameters else first
                then.setdefault(owner.__name__, owner)
        then.update(vars(builtins))
        self._spaces = first, then
        return self._spaces


def origin_of(annotation: Any) -> Any:
    """The origin of an alias (`list[int]`, `Annotated[X, ...]`); None for a class, which may have any such
    attribute.
    """
    return None if issubclass(type(annotation), type) else getattr(annotation, "__origin__", None)


def arguments_of(annotation: Any) -> tuple[Any, ...]:
    """The arguments of an alias; empty for a class."""
    return () if issubclass(type(annotation), type) else getattr(annotation, "__args__", ())


def special(form: Any) -> str | None:
    """The name of a special form, such as "Literal"; `typing` and `typing_extensions` have different objects
    for some.
    """
    if isinstance(form, type):
        return form.__name__ if form.__module__ in _TYPING else None
    return getattr(form, "_name", None) if type(form).__module__ in _TYPING else None


def is_union(annotation: Any) -> bool:
    return isinstance(annotation, types.UnionType) or origin_of(annotation) is Union


def is_annotated(annotation: Any) -> bool:
    return origin_of(annotation) is not None and hasattr(annotation, "__metadata__")


def is_alias(annotation: Any) -> bool:
    """Whether it was made by `type X = ...` or by one of the two `TypeAliasType`."""
    return type(annotation).__name__ == "TypeAliasType" and type(annotation).__module__ in _TYPING


def is_variable(annotation: Any) -> bool:
    """Whether it is a type variable. `isinstance` says so of some forms of `typing_extensions` as well."""
    return type(annotation) is typing.TypeVar


def text_of(annotation: Any) -> str | None:
    """The text of a forward reference."""
    if isinstance(annotation, str):
        return annotation
    return getattr(annotation, "__forward_arg__", None) if type(annotation).__name__ == "ForwardRef" else None


def _meaning(variable: Any, scope: Scope) -> tuple[Any, Scope]:
    """The meaning of a type variable. An unbound one means its default, its bound or its constraints."""
    bound = scope.bindings.get(variable)
    if bound is not None:
        return bound.annotation, bound.scope
    if (has_default := getattr(variable, "has_default", None)) is not None and has_default():
        return variable.__default__, scope
    if variable.__bound__ is not None:
        return variable.__bound__, scope
    if variable.__constraints__:
        # Constraints may be forward references, for which `|` is not defined.
        return Union[variable.__constraints__], scope  # noqa: UP007
    return Any, scope


def settled(annotation: Any, scope: Scope) -> tuple[Any, Scope]:
    """Resolve forms that only stand for another type: type variables, `NewType`, `Final[X]`, `LiteralString`."""
    while type(annotation) is not type:
        if annotation is None:
            return type(None), scope
        if is_variable(annotation):
            annotation, scope = _meaning(annotation, scope)
        elif hasattr(annotation, "__supertype__"):
            scope = scope.in_module(annotation.__module__)
            annotation = annotation.__supertype__
        elif special(origin_of(annotation)) in _QUALIFIERS:
            annotation = annotation.__args__[0]
        elif (name := special(annotation)) == "LiteralString":
            return str, scope
        else:
            return (Any if name in ("Any", "Final") else annotation), scope
    return annotation, scope


def is_classvar_text(text: str) -> bool:
    return _CLASSVAR.match(text) is not None


def own_hints(
    cls: type, bindings: Bindings, depth: int, bind: Callable[..., tuple[Bindings, int]]
) -> dict[str, tuple[Any, Scope]]:
    """The annotations of a class and its bases: for each name the annotation, and the scope in which it is
    written.

    `bind` gives the meaning of a generic base's parameters if the base has arguments.
    """
    scopes = {cls: Scope(cls, bindings=bindings, this=(cls, bindings), depth=depth)}
    # A TypedDict's bases are not in its `__mro__`.
    waiting = [cls] if any("__orig_bases__" in vars(base) for base in cls.__mro__) else []
    for current in waiting:
        for written in vars(current).get("__orig_bases__", current.__bases__):
            base = origin_of(written) or written
            if isinstance(base, type) and base not in scopes:
                arguments = arguments_of(written)
                meant, _ = bind(base, arguments, scopes[current], written)
                scopes[base] = Scope(base, bindings=meant, this=(cls, bindings), depth=depth)
                waiting.append(base)
    found: dict[str, tuple[Any, Scope]] = {}
    for base in reversed(cls.__mro__):
        for name, annotation in annotations_of(base).items():
            if base not in scopes:
                scopes[base] = Scope(base, this=(cls, bindings), depth=depth)
            found[name] = annotation, scopes[base]
    if dict in cls.__bases__:
        for base in waiting[1:]:
            for name, annotation in annotations_of(base).items():
                if found.get(name, (None,))[0] is annotation:
                    found[name] = annotation, scopes[base]
    return found


def annotations_of(cls: type) -> Mapping[str, Any]:
    """The annotations in the body of this class alone."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    found: Mapping[str, Any] = vars(cls).get("__annotations__") or {}
    return found


def show(annotation: Any) -> str:
    """An annotation for errors. Other values are never shown: they may be data that was passed by mistake."""
    text = text_of(annotation)
    if text is not None:
        return text
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is ...:
        return "..."
    if is_union(annotation):
        return " | ".join(map(show, annotation.__args__))
    if is_annotated(annotation):
        return show(annotation.__origin__)
    origin = origin_of(annotation)
    if origin is not None:
        arguments = arguments_of(annotation)
        if special(origin) == "Literal":
            return "Literal"
        name = show(origin)
        return f"{name}[{', '.join(map(show, arguments))}]" if arguments else name
    if isinstance(annotation, type):
        return annotation.__qualname__
    if is_variable(annotation) or is_alias(annotation) or hasattr(annotation, "__supertype__"):
        return str(annotation.__name__)
    return special(annotation) or f"<{type(annotation).__name__}>"
