"""Julia's types as objects."""

from __future__ import annotations

import functools
import struct
from typing import Any, final

from .._values import _Frozen
from . import _numbers
from ._literals import NUMBERS, TOKEN, WORDS, Reader, shown_value
from ._names import ALIASES, ARRAYS, MUTABLE, SHORT, Symbol, canonical, path_of, short_name, unquoted

# How deep types in a message may be nested: no text needs more, and the stack is limited.
_MOST_DEPTH = 40
_MOST_NAMES = 400
# The same for a text that is read.
_MOST_READ_DEPTH = 100
# The most types in NTuple{N, T}, which is written as N types.
_MOST_REPEATS = 10_000


@final
class Type(_Frozen):
    """A type of Julia's, as a value of its own and as what `.type` of other values is.

    path: modules and name, as stored: ("Main", "Base", "Dict").
    params: types, ints, bools, Symbols, tuples and whatever else can be a parameter.
    mutable: whether instances have an identity (`mutable struct`); None is what is known of the name.

    Equal are types of the same `.name` and parameters, which are compared as Julia does: `UInt8(5)` is not 5, nor
    `Float32(1)` 1.0. `.name` has no Main before Base and Core. `str()` is what Julia prints, but says how wide each
    parameter is; `Type.parse` reads it. Raises TypeError: `path` is no tuple of names, or `params` no tuple.

    >>> Type(("Main", "Base", "Dict"), (Type(("Core", "String")), Type(("Core", "Int64"))))
    Type.parse('Dict{String, Int64}')
    >>> Type.parse("Vector{Float32}").params
    (Type.parse('Float32'), 1)
    """

    __slots__ = ("_hash", "_mutable", "name", "params", "path")
    _mutable: bool | None
    name: str
    params: tuple[Any, ...]
    path: tuple[str, ...]

    def __new__(
        cls, path: tuple[str, ...], params: tuple[Any, ...] = (), *, mutable: bool | None = None
    ) -> Type:
        text = isinstance(path, str)
        path, params = tuple(path), tuple(params)
        if text or not path or not all(isinstance(part, str) for part in path):
            raise TypeError("Type: path: expected a tuple of names; `Type.parse` reads text")
        self = object.__new__(cls)
        name = canonical(path)
        for slot, value in (("path", path), ("params", params), ("name", name), ("_mutable", mutable)):
            object.__setattr__(self, slot, value)
        hash(self)  # hashed while its parameters' hashes are known
        return self

    @staticmethod
    def parse(text: str) -> Type | Union | _Bottom:
        """The type that Julia would take `text` for: `Dict{String,Int64}`, `Main.Wrapper{Core.Int64}`.

        A name without a module is Base's or Core's if they have it, else Main's. Raises ValueError: no such text.

        >>> Type.parse("Foo{Int}").path
        ('Main', 'Foo')
        """
        if not isinstance(text, str):
            raise TypeError(f"Type.parse: expected str, got {type(text).__name__}")
        return _parsed(text)

    @property
    def is_mutable(self) -> bool:
        """Whether instances have an identity, so that sharing them is kept."""
        return self.name in MUTABLE if self._mutable is None else self._mutable

    def __eq__(self, other: object) -> bool:
        return same(self, other) if isinstance(other, Type) else NotImplemented

    def __hash__(self) -> int:
        try:
            kept: int = _KEPT_HASH.__get__(self)
        except AttributeError:
            # Cached, because nested types would be hashed again for each type around them.
            kept = hash((self.name, *map(_mark, self.params)))
            _KEPT_HASH.__set__(self, kept)
        return kept

    def __str__(self) -> str:
        return shown(self)

    def __repr__(self) -> str:
        return _as_read(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.path, self.params, self._mutable)


# Valid in this process only, so it must not be stored with the type: the class hides the slot.
_KEPT_HASH: Any = Type.__dict__["_hash"]
del Type._hash  # type: ignore[attr-defined]


def _as_read(type_: Any) -> str:
    """An expression that makes the type again, if there is one."""
    text = shown(type_)
    try:
        readable = " where " not in text and "…" not in text and same(Type.parse(text), type_)
    except ValueError:
        readable = False
    return f"Type.parse({text!r})" if readable else f"<{text}>"


def _restored(path: tuple[str, ...], params: tuple[Any, ...], mutable: bool | None) -> Type:
    return Type(path, params, mutable=mutable)


@final
class TypeVar:
    """A variable in a type: the `T` of `Dict{T, T} where T<:Number`.

    Each is itself and no other, whatever it is called.
    lower, upper: bounds, `BOTTOM` and Any where it has none.

    >>> var = TypeVar(Symbol("T"), BOTTOM, Type.parse("Number"))
    >>> print(UnionAll(var, Type(("Main", "Base", "Dict"), (var, var))))
    Dict{T, T} where T<:Number
    """

    __slots__ = ("lower", "name", "upper")

    def __init__(self, name: str, lower: Any = None, upper: Any = None) -> None:
        self.name = name
        self.lower = BOTTOM if lower is None else lower
        self.upper = ANY if upper is None else upper

    def __str__(self) -> str:
        return str(self.name)

    def __repr__(self) -> str:
        return f"TypeVar({str(self.name)!r})"


@final
class UnionAll(_Frozen):
    """A type with a variable: `Array{T, 1} where T`. Equal are two that differ in their variables' names alone.

    Raises TypeError: `var` is no TypeVar.

    >>> var = TypeVar(Symbol("T"))
    >>> UnionAll(var, Type(("Core", "Array"), (var, 1)))
    <Vector{T} where T>
    """

    __slots__ = ("body", "var")
    var: TypeVar
    body: Any

    def __new__(cls, var: TypeVar, body: Any) -> UnionAll:
        if not isinstance(var, TypeVar):
            raise TypeError(f"UnionAll: var: expected a TypeVar, got {type(var).__name__}")
        self = object.__new__(cls)
        object.__setattr__(self, "var", var)
        object.__setattr__(self, "body", body)
        return self

    def __eq__(self, other: object) -> bool:
        return same(self, other) if isinstance(other, UnionAll) else NotImplemented

    def __hash__(self) -> int:
        body = self.body
        while isinstance(body, UnionAll):
            body = body.body
        # Without the parameters, which contain the variable.
        return hash(("where", getattr(body, "name", None)))

    def __str__(self) -> str:
        return shown(self)

    def __repr__(self) -> str:
        return f"<{shown(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return UnionAll, (self.var, self.body)


@final
class Union(_Frozen):
    """A union of two or more types, in the order in which Julia keeps them; equal in any order.

    >>> Union(Type.parse("Missing"), Type.parse("Int64"))
    Type.parse('Union{Missing, Int64}')
    """

    __slots__ = ("members",)
    members: tuple[Any, ...]

    def __new__(cls, *members: Any) -> Union:
        flat: list[Any] = []
        for member in members:
            flat.extend(member.members if isinstance(member, Union) else (member,))
        if len(flat) < 2:
            raise TypeError("Union: expected two types or more")
        self = object.__new__(cls)
        object.__setattr__(self, "members", tuple(flat))
        return self

    def __eq__(self, other: object) -> bool:
        return same(self, other) if isinstance(other, Union) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(map(_mark, self.members)))

    def __str__(self) -> str:
        return shown(self)

    def __repr__(self) -> str:
        return _as_read(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Union, self.members


@final
class _Bottom(_Frozen):
    """Julia's `Union{}`, the type that no value has. There is one, `BOTTOM`.

    >>> print(BOTTOM)
    Union{}
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "Union{}"

    def __repr__(self) -> str:
        return "Type.parse('Union{}')"

    def __reduce__(self) -> str:
        return "BOTTOM"


BOTTOM = _Bottom()


@final
class Anonymous:
    """The type of a function without a name, or of a closure: an instance's values are what it has captured.

    typename: what Julia knows of it, as a record: its name, the names of what it captures, its methods with their code.
    params: the types of what it captures.

    >>> Anonymous(JuliaStruct("Core.TypeName", ["1.5.3", Symbol("#1#2")]), ())
    <#1#2>
    """

    __slots__ = ("params", "typename")

    def __init__(self, typename: Any, params: tuple[Any, ...] = ()) -> None:
        self.typename = typename
        self.params = tuple(params)

    @property
    def known_by(self) -> list[Any]:
        """The values of its `typename`. That record may hold this type, and be filled after it was made; a damaged file has none."""
        values = getattr(self.typename, "values", None)
        return values if isinstance(values, list) else []

    @property
    def name(self) -> str:
        """Its name in Julia, which is made up there; "" while it isn't known."""
        values = self.known_by
        return str(values[1]) if len(values) > 1 and isinstance(values[1], str) else ""

    @property
    def is_mutable(self) -> bool:
        """Closures never are."""
        return False

    def __str__(self) -> str:
        return shown(self)

    def __repr__(self) -> str:
        return f"<{shown(self)}>"


@final
class Module(_Frozen):
    """A module of Julia's.

    >>> Module(("Main", "Lab"))
    Module(('Main', 'Lab'))
    """

    __slots__ = ("path",)
    path: tuple[str, ...]

    def __new__(cls, path: tuple[str, ...]) -> Module:
        self = object.__new__(cls)
        object.__setattr__(self, "path", tuple(path))
        return self

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, Module) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.path)

    def __str__(self) -> str:
        return ".".join(self.path)

    def __repr__(self) -> str:
        return f"Module({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Module, (self.path,)


def _mark(param: Any) -> Any:
    """A parameter's part of the hash: cheap, without descending into nested types of a message."""
    if isinstance(param, tuple):
        return len(param), *(name for name in param if isinstance(name, str))
    if isinstance(param, float) and param != param:
        return None  # each NaN has a hash of its own, and all are equal here
    return hash(param) if isinstance(param, (*_KINDS, str, int, float)) else None


def same(a: Any, b: Any) -> bool:
    """Whether two types are equal, with one step for each pair of their parts, however they are nested and
    shared.
    """
    todo = [(a, b)]
    seen: set[tuple[int, int]] = set()
    variables: dict[int, Any] = {}
    while todo:
        a, b = todo.pop()
        if a is b or (id(a), id(b)) in seen or variables.get(id(a)) is b is not None:
            continue
        seen.add((id(a), id(b)))
        if isinstance(a, Type) and isinstance(b, Type):
            if a.name != b.name or len(a.params) != len(b.params):
                return False
            todo.extend(zip(a.params, b.params, strict=True))
        elif isinstance(a, UnionAll) and isinstance(b, UnionAll):
            variables[id(a.var)] = b.var
            todo += [(a.var.lower, b.var.lower), (a.var.upper, b.var.upper), (a.body, b.body)]
        elif isinstance(a, Union) and isinstance(b, Union):
            if len(a.members) != len(b.members):
                return False
            todo.extend(zip(a.members, _paired(a.members, b.members), strict=True))
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            todo.extend(zip(a, b, strict=True))
        elif isinstance(a, _KINDS) or isinstance(b, _KINDS) or not _egal(a, b):
            return False
    return True


def _egal(a: Any, b: Any) -> bool:
    """Whether two parameters that aren't types are the same to Julia, including widths and bits."""
    # Those of 32-bit files: BSON.jl takes every Int32 in a type for an Int.
    if _class(a) is not _class(b):
        return False
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, complex):
        parts = [(number.real, number.imag) for number in (a, b)]
        # Complex numbers of ints compare exactly by their parts.
        exact = [(getattr(number, "re", 0), getattr(number, "im", 0)) for number in (a, b)]
        return (
            struct.pack("<dd", *parts[0]) == struct.pack("<dd", *parts[1])
            and exact[0] == exact[1]
            and _own(a) == _own(b)
        )
    try:
        return bool(a == b) and _own(a) == _own(b)
    except ValueError:
        # Arrays: no type has them as parameters, but a file may.
        return False


def _class(value: Any) -> type[Any]:
    cls = type(value)
    return int if cls in (_numbers.Int32, _numbers.Int64) else cls


def _own(value: Any) -> Any:
    """The Julia type that an object has as an attribute."""
    own = getattr(value, "type", None)
    return own if isinstance(own, Type) else getattr(value, "__julia_type__", None)


def _paired(ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> list[Any]:
    """The members of another union in the order of this one's: by hash, or by name if they have variables of
    their own.
    """
    left = list(theirs)
    found = []
    for member in ours:
        alike = [n for n, other in enumerate(left) if _mark(other) == _mark(member)]
        named = [n for n, other in enumerate(left) if _name(other) == _name(member)]
        found.append(left.pop((alike or named or [0])[0]))
    return found


def _name(type_: Any) -> str:
    name: str = getattr(type_, "name", "")
    return name


def shown(node: Any, *, label: bool = False) -> str:
    """As Julia prints it; with `label` the outermost name has all its modules, except a Main before Base and
    Core.
    """
    return _Printer().text(node, 0, label)


class _Printer:
    def __init__(self) -> None:
        self.left = _MOST_NAMES

    def text(self, node: Any, depth: int, label: bool = False) -> str:
        self.left -= 1
        if depth > _MOST_DEPTH or self.left < 0:
            return "…"
        depth += 1
        if isinstance(node, Type):
            return self.type(node, depth, label)
        if isinstance(node, Anonymous):
            return (node.name or "#") + (self.braces(node.params, depth) if node.params else "")
        if isinstance(node, Union):
            return "Union" + self.braces(node.members, depth)
        if isinstance(node, UnionAll):
            return self.where(node, depth)
        if isinstance(node, tuple):
            inside = ", ".join(self.text(item, depth) for item in node)
            return f"({inside},)" if len(node) == 1 else f"({inside})"
        return shown_value(node)

    def type(self, node: Type, depth: int, label: bool) -> str:
        params = node.params
        if (
            node.name == "Core.Array"
            and len(params) == 2
            and not label
            and type(params[1]) is int
            and params[1] in (1, 2)
        ):
            return ("Vector", "Matrix")[params[1] - 1] + self.braces(params[:1], depth)
        if node.name == "Core.Tuple" and not params and not label:
            return "Tuple{}"
        return (node.name if label else short_name(node.path, node.name)) + (
            self.braces(params, depth) if params else ""
        )

    def braces(self, params: tuple[Any, ...], depth: int) -> str:
        texts = []
        for param in params:
            texts.append(self.text(param, depth))
            if self.left < 0:
                break
        return "{" + ", ".join(texts) + "}"

    def where(self, node: Any, depth: int) -> str:
        variables = []
        while isinstance(node, UnionAll) and self.left > 0:
            variables.append(self.variable(node.var, depth))
            node = node.body
        inside = ", ".join(variables)
        return f"{self.text(node, depth)} where {inside if len(variables) == 1 else f'{{{inside}}}'}"

    def variable(self, var: TypeVar, depth: int) -> str:
        self.left -= 1
        lower = "" if var.lower is BOTTOM else f"{self.text(var.lower, depth)}<:"
        # In a damaged file it may be anything, including objects that can't be compared.
        is_any = isinstance(var.upper, Type) and var.upper == ANY
        upper = "" if is_any else f"<:{self.text(var.upper, depth)}"
        return f"{lower}{var.name}{upper}"


_KINDS = (Type, UnionAll, Union, TypeVar, Anonymous, _Bottom)
ANY = Type(("Core", "Any"))


# One object for each type, so that it is found by identity.
@functools.lru_cache(1024, typed=True)
def known(name: str, *params: Any) -> Type:
    """A type of Base or Core by its short name, with the path that Julia 1.5 writes."""
    return Type(SHORT[name], params)


# Types don't change, and programs use the same names repeatedly.
@functools.lru_cache(256)
def _parsed(text: str) -> Type | Union | _Bottom:
    parser = _Parser(text)
    found = parser.type(0)
    parser.end()
    return found


class _Parser(Reader):
    def items(self, close: str, depth: int) -> list[Any]:
        """The parameters up to the closing bracket."""
        found: list[Any] = []
        while not self.take(close):
            if found and not self.take(","):
                self.fail(f"a comma or `{close}`")
            if found and self.take(close):
                break
            found.append(self.item(depth))
        return found

    def item(self, depth: int) -> Any:
        """A parameter."""
        if depth > _MOST_READ_DEPTH:
            self.fail("a type that is nested less deep")
        if self.take("("):
            return tuple(self.items(")", depth + 1))
        match = TOKEN.match(self.text, self.at)
        if match is None:
            self.fail("the name of a type")
        before, self.at = self.at, match.end()
        if match["number"]:
            return self.number(match["number"])
        if match["symbol"] or match["text"]:
            return Symbol(match["symbol"] or unquoted(match["text"]))
        if match["char"]:
            return _numbers.Char(match["char"][-1])
        if match["name"] in WORDS:
            return WORDS[match["name"]]
        if match["name"] in NUMBERS and self.take("("):
            values = self.items(")", depth + 1)
            try:
                (value,) = values
                return NUMBERS[match["name"]](value)
            except (TypeError, ValueError):
                self.fail(f"a number within {match['name']}")
        self.at = before
        return self.type(depth)

    def type(self, depth: int) -> Type | Union | _Bottom:
        match = TOKEN.match(self.text, self.at)
        if match is None or not match["name"]:
            self.fail("the name of a type")
        self.at = match.end()
        name = match["name"]
        braces = self.take("{")
        params = self.items("}", depth + 1) if braces else []
        if name in ("Union", "Core.Union") and braces:
            return Union(*params) if len(params) > 1 else params[0] if params else BOTTOM
        if name in ARRAYS:
            if len(params) != 1:
                self.fail(f"one parameter of {name}")
            short, rank = ARRAYS[name]
            return known(short, *params, rank)
        if name == "NTuple":
            if len(params) != 2 or type(params[0]) is not int or not 0 <= params[0] <= _MOST_REPEATS:
                self.fail("a length and a type in NTuple")
            return known("Tuple", *([params[1]] * params[0]))
        if name in ALIASES and not braces:
            short, names = ALIASES[name]
            return known(short, *(known(part) if isinstance(part, str) else part for part in names))
        return Type(path_of(name), tuple(params))
