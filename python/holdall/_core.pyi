"""The native module: types for what crates/python exports."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, Literal, Protocol, TypeAlias, TypedDict, TypeVar, final, type_check_only

from ._seal import Seal

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)

# `type` and `bytes` are also names of arguments and attributes below.
_Class: TypeAlias = type[Any]
_Bytes: TypeAlias = bytes

@type_check_only
class _Buffer(Protocol):
    """Any C-contiguous bytes-like object; the buffer protocol has no type of its own before 3.12."""
    def __buffer__(self, flags: int, /) -> memoryview: ...

_BytesLike: TypeAlias = _Bytes | bytearray | memoryview | _Buffer
_Types: TypeAlias = _Class | ModuleType | Iterable[_Class | ModuleType]
_EncHook: TypeAlias = Callable[[Any], Any]
_DecHook: TypeAlias = Callable[[_Class, Any], Any]
_ExtHook: TypeAlias = Callable[[int, _Bytes], Any]
_Resolver: TypeAlias = Callable[[Stored], _Class | Use | Value | ByValue | Refuse | Skip | None]
_Order: TypeAlias = Literal["deterministic", "sorted"]
_DecimalFormat: TypeAlias = Literal["string", "number"] | Callable[[Any], Any]

__version__: Final[str]

class HoldallError(ValueError): ...
class EncodeError(HoldallError): ...

class DecodeError(HoldallError):
    offset: int

class TruncatedError(DecodeError): ...
class ChecksumError(DecodeError): ...
class LimitError(DecodeError): ...

class UnknownTypeError(DecodeError):
    type_name: str

class ValidationError(DecodeError):
    path: tuple[str | int, ...]

@final
class Limits:
    def __new__(
        cls,
        *,
        depth: int | None = None,
        objects: int | None = None,
        bytes: int | None = None,
        work: int | None = None,
    ) -> Limits: ...
    @staticmethod
    def strict(
        *, depth: int = 100, objects: int = 1_000_000, bytes: int = 64 << 20, work: int = 16 << 20
    ) -> Limits: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def objects(self) -> int | None: ...
    @property
    def bytes(self) -> int | None: ...
    @property
    def work(self) -> int | None: ...

@final
class Record:
    def __new__(cls, type_name: str, fields: dict[str, Any], *, version: int = 1) -> Record: ...
    @property
    def kind(self) -> str: ...
    @property
    def type_name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def fields(self) -> dict[str, Any]: ...
    @property
    def payload(self) -> Any: ...

@final
class Stored:
    @property
    def name(self) -> str | None: ...
    @property
    def alias(self) -> str | None: ...
    @property
    def version(self) -> int | None: ...
    @property
    def kind(self) -> Literal["object", "based", "enum", "custom", "dict"]: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def cls(self) -> _Class | None: ...

@final
class Use:
    def __new__(cls, cls_: _Class, /, *, renames: dict[str, str | None] | None = None) -> Use: ...
    @property
    def cls(self) -> _Class: ...
    @property
    def renames(self) -> dict[str, str | None]: ...

@final
class Value:
    def __new__(cls, value: Any) -> Value: ...
    @property
    def value(self) -> Any: ...

@final
class ByValue:
    def __new__(cls, function: Callable[[Record], Any]) -> ByValue: ...
    @property
    def function(self) -> Callable[[Record], Any]: ...

@final
class Refuse:
    def __new__(cls, why: str) -> Refuse: ...
    @property
    def why(self) -> str: ...

@final
class Skip: ...

SKIP: Final[Skip]

@final
class Encoder:
    def __new__(
        cls,
        *,
        refs: bool = True,
        canonical: bool = False,
        trust: bool = False,
        intern: bool = False,
        enc_hook: _EncHook | None = None,
        seal: Seal | None = None,
    ) -> Encoder: ...
    def encode(self, obj: object, buffers: list[Any] | None = None) -> bytes: ...
    def encode_into(self, obj: object, buffer: bytearray, offset: int = 0) -> int: ...

@final
class Decoder:
    def __new__(
        cls,
        *,
        type: Any = ...,
        types: _Types = (),
        trust: bool = False,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
        resolver: _Resolver | None = None,
        limits: Limits | None = None,
        seal: Seal | None = None,
    ) -> Decoder: ...
    def decode(self, data: _BytesLike, buffers: Iterable[Any] | None = None) -> Any: ...

def dumps(
    obj: object,
    /,
    *,
    refs: bool = True,
    canonical: bool = False,
    trust: bool = False,
    intern: bool = False,
    enc_hook: _EncHook | None = None,
    buffers: list[Any] | Callable[[Any], Any] | None = None,
    seal: Seal | None = None,
) -> bytes: ...
def loads(
    data: _BytesLike,
    /,
    *,
    type: Any = ...,
    types: _Types = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    resolver: _Resolver | None = None,
    limits: Limits | None = None,
    buffers: Iterable[Any] | None = None,
    seal: Seal | None = None,
) -> Any: ...

@final
class MsgpackEncoder:
    def __new__(
        cls,
        *,
        enc_hook: _EncHook | None = None,
        order: _Order | None = None,
        uuid_format: Literal["canonical", "hex", "bytes"] = "canonical",
        decimal_format: _DecimalFormat | None = None,
        hook_objects: bool = False,
        builtin_only: bool = False,
    ) -> MsgpackEncoder: ...
    def encode(self, obj: object) -> bytes: ...
    def encode_into(self, obj: object, buffer: bytearray, offset: int = 0) -> int: ...

@final
class MsgpackDecoder:
    def __new__(
        cls,
        *,
        type: Any = ...,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
        resolver: _Resolver | None = None,
        ext_hook: _ExtHook | None = None,
        limits: Limits | None = None,
        raw: bool = False,
        use_list: bool = True,
        strict_map_key: bool = False,
        timestamps: bool = False,
        as_msgpack_python: bool = False,
    ) -> MsgpackDecoder: ...
    def decode(self, data: _BytesLike) -> Any: ...

def msgpack_dumps(
    obj: object,
    /,
    *,
    enc_hook: _EncHook | None = None,
    order: _Order | None = None,
    uuid_format: Literal["canonical", "hex", "bytes"] = "canonical",
    decimal_format: _DecimalFormat | None = None,
    hook_objects: bool = False,
) -> bytes: ...
def msgpack_loads(
    data: _BytesLike,
    /,
    *,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    resolver: _Resolver | None = None,
    ext_hook: _ExtHook | None = None,
    limits: Limits | None = None,
) -> Any: ...

class BsonEncoder:
    def __new__(
        cls, *, enc_hook: _EncHook | None = None, order: _Order | None = None, hook_objects: bool = False
    ) -> BsonEncoder: ...
    def encode(self, obj: object) -> bytes: ...
    def encode_into(self, obj: object, buffer: bytearray, offset: int = 0) -> int: ...

class BsonDecoder:
    def __new__(
        cls,
        *,
        type: Any = ...,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
        resolver: _Resolver | None = None,
        limits: Limits | None = None,
        tz_aware: bool = True,
    ) -> BsonDecoder: ...
    def decode(self, data: _BytesLike) -> Any: ...

@final
class Document:
    def __new__(
        cls,
        data: _BytesLike,
        /,
        *,
        format: Literal["bson", "julia", "msgpack", "hold"] | None = None,
        type: Any = ...,
        types: _Types = (),
        trust: bool = False,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
        resolver: _Resolver | None = None,
        limits: Limits | None = None,
        tz_aware: bool = True,
    ) -> Document: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def get(self, key: Any, /, default: Any = None, *, type: Any = ...) -> Any: ...
    def keys(self) -> Iterator[Any]: ...
    def values(self) -> Iterator[Any]: ...
    def items(self) -> Iterator[tuple[Any, Any]]: ...
    @property
    def raw(self) -> memoryview: ...
    def load(self) -> Any: ...
    def close(self) -> None: ...
    def __enter__(self) -> Document: ...
    def __exit__(self, *args: object) -> None: ...

def bson_dumps(
    obj: object,
    /,
    *,
    enc_hook: _EncHook | None = None,
    order: _Order | None = None,
    hook_objects: bool = False,
) -> bytes: ...
def bson_loads(
    data: _BytesLike,
    /,
    *,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    resolver: _Resolver | None = None,
    limits: Limits | None = None,
    tz_aware: bool = True,
) -> Any: ...
def deepcopy(obj: _T, memo: dict[int, Any] | None = None) -> _T: ...

# --- for the Python layer only ---

# A descriptor, or a function that writes all of the bytes it is given.
_Sink: TypeAlias = int | Callable[[_Bytes], Any]
# A descriptor, or a function that fills a buffer and says how many bytes there were.
_Fill: TypeAlias = Callable[[memoryview], int]
_Progress: TypeAlias = Callable[[int, int], Any]

def file_dump(
    obj: object,
    sink: _Sink,
    /,
    *,
    refs: bool,
    canonical: bool,
    trust: bool,
    intern: bool,
    enc_hook: _EncHook | None,
    compress: str | tuple[str, int] | None,
    sync: bool,
    progress: _Progress | None,
) -> int:
    """Writes a file; gives its size."""

def file_write(message: _Bytes, sink: _Sink, /, compress: Any = None) -> int:
    """Writes a message as a file; gives its size."""

def file_load(
    source: int | _Fill,
    size: int | None,
    /,
    *,
    whole: bool,
    type: Any,
    types: _Types,
    trust: bool,
    strict: bool,
    dec_hook: _DecHook | None,
    resolver: _Resolver | None,
    limits: Limits | None,
    progress: _Progress | None,
) -> Any:
    """The next graph, of `size` bytes that there are, if that is known. whole: it is all of them; else no byte more is read."""

def file_load_mapped(
    data: _BytesLike,
    writable: bool,
    /,
    *,
    type: Any,
    types: _Types,
    trust: bool,
    strict: bool,
    dec_hook: _DecHook | None,
    resolver: _Resolver | None,
    limits: Limits | None,
) -> Any:
    """What a map of a file holds: large buffers are views of it."""

def load_pickle(
    fill: _Fill,
    peek: Callable[[int], Any] | None,
    persistent_load: Callable[[Any], Any] | None,
    find_class: Callable[[str, str], Any] | None,
    buffers: Iterable[Any] | None,
    types: _Types | None,
    memo: UnpicklerMemo | None,
    /,
) -> Any: ...

@final
class PicklerMemo:
    def __init__(self, known: PicklerMemo | dict[int, tuple[int, Any]] | None = None, /) -> None: ...
    def clear(self) -> None: ...
    def copy(self) -> dict[int, tuple[int, Any]]: ...

@final
class UnpicklerMemo:
    def __init__(self, known: UnpicklerMemo | dict[int, Any] | None = None, /) -> None: ...
    def clear(self) -> None: ...
    def copy(self) -> dict[int, Any]: ...

def open_document(
    data: _BytesLike,
    format: Literal["bson", "msgpack", "hold"],
    /,
    *,
    owned: bool = True,
    type: Any = ...,
    types: _Types = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    resolver: _Resolver | None = None,
    ext_hook: _ExtHook | None = None,
    limits: Limits | None = None,
    tz_aware: bool = True,
    writable: bool = False,
    remote: Any = None,
) -> Document:
    """A document of bytes; owned: in a map that was made for it, which closes with it. remote: what brings ranges of a file into the map."""

def msgpack_scan(data: _BytesLike, start: int, pending: int, /) -> tuple[int, int]:
    """Looks for the end of a value of which `pending` parts are owed at `start` (1 at its beginning).

    Gives the offset after the last whole token, and what is owed there: 0 at the value's end. DecodeError where no value starts.
    """

def all_within(array: Any, code: str, low: int, high: int, /) -> bool:
    """Whether all numbers of an array are `low` or more, and below `high`. code: the letter of its dtype."""

def sound_rows(ends: Any, places: Any, code: str, minor: int, /) -> bool:
    """Whether ends rise from 0 to no more than there are places, each of which is below `minor`."""

def sound_arrow(plan: bytes, stored: Any, /) -> bool:
    """Whether an array of Arrow's holds what its code takes for granted. plan: its type, in letters."""

def are_dicts(table: Any, levels: int, /) -> bool:
    """Whether it is a dict of dicts, so many levels below it."""

def tree_levels(nodes: Any, layout: tuple[Any, ...], features: int, /) -> int:
    """The levels below a tree's root. Raises ValueError: nodes that make no tree."""

def register_class(
    cls: _Class,
    name: str | None,
    aliases: tuple[str, ...],
    version: int,
    renames: dict[str, str],
    upgrade: Callable[..., Mapping[str, Any]] | None,
    encode: Callable[[Any], Any] | None,
    decode: Callable[..., Any] | None,
    settings: Any,
    /,
    *,
    ours: bool = False,
    bundled: bool = False,
    fills: bool = False,
    remaining: bool = False,
    constructor: tuple[Callable[..., Any], list[list[type[Any]]]] | None = None,
) -> None: ...
def register_function(function: Callable[..., Any], names: list[str], /) -> None: ...
def class_settings(cls: _Class) -> Any: ...
def layouts_known() -> tuple[bool, bool, bool, bool]: ...
def registered_subclasses(cls: _Class) -> list[_Class]: ...
def class_registration(
    cls: _Class,
) -> tuple[str, tuple[str, ...], int, dict[str, str], bool, bool] | None:
    """Name, aliases, version, renames, whether there are `upgrade` and `encode`, of a registered class."""

@final
class CompiledSchema:
    generation: int

def compile_schema(described: dict[str, Any], generation: int) -> CompiledSchema: ...
def dumps_pickle(
    obj: object,
    persistent_id: Callable[[Any], Any] | None,
    reducer_override: Callable[[Any], Any] | None,
    dispatch_table: Mapping[_Class, Callable[[Any], Any]] | None,
    buffer_callback: Callable[[Any], Any] | None,
    memo: PicklerMemo | None,
    /,
) -> bytes: ...
def loads_pickle(
    data: _BytesLike,
    persistent_load: Callable[[Any], Any] | None,
    find_class: Callable[[str, str], Any] | None,
    buffers: Iterable[Any] | None,
    types: _Types | None,
    /,
) -> Any: ...
def bson_encode(document: Any, check_keys: bool, codec_options: Any, /) -> bytes: ...
def bson_decode(data: Any, codec_options: Any, /) -> Any: ...
def bson_decode_all(data: Any, codec_options: Any, /) -> list[Any]: ...
def lisp_dumps(
    obj: object,
    /,
    *,
    refs: bool = True,
    version: bool = False,
    all: bool = False,
    shared_lists: bool = False,
    enc_hook: _EncHook | None = None,
) -> bytes: ...
def lisp_loads(
    data: _BytesLike,
    /,
    *,
    types: Any = None,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    limits: Limits | None = None,
    views: bool = False,
    all: bool = False,
) -> Any: ...

julia_tags: tuple[str, ...]

def julia_dumps(obj: object, /, *, enc_hook: _EncHook | None = None) -> bytes: ...
def julia_loads(
    data: _BytesLike,
    /,
    *,
    types: Any = None,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    limits: Limits | None = None,
    views: bool = False,
) -> Any: ...
def julia_parse(data: _BytesLike, /, *, limits: Limits | None = None) -> Any: ...
def julia_open(
    data: _BytesLike,
    /,
    *,
    owned: bool,
    types: Any = None,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    limits: Limits | None = None,
    views: bool = False,
) -> Document: ...
def lisp_open(
    data: _BytesLike,
    /,
    *,
    owned: bool,
    types: Any = None,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    limits: Limits | None = None,
    views: bool = False,
) -> Document: ...

@type_check_only
class OutlineSum(TypedDict):
    """Values of one kind. `bytes` are their own: of a container, without its members'."""

    kind: str
    values: int
    bytes: int

@type_check_only
class OutlineRest(TypedDict):
    """Members of one kind that are not shown; `bytes` with all that they hold. No kind: all for which there was no room."""

    kind: str | None
    name: str | None
    values: int
    bytes: int

@type_check_only
class OutlineNode(TypedDict):
    """A value that is shown.

    depth: of how many others it is a part.
    role: what its key is: "root", "item" (an index), "key" (of a dict), "other" (a key that is no text: its kind), "field",
        "content" (of an instance: what it is beside its fields), "apart" (a value that is only referred to).
    name: what more there is of the kind: an instance's class, an array's dtype and shape.
    offset, bytes: where it begins in the data, and all that it takes.
    items: items, pairs or fields. number: what it can be referred to by; references: how often it is.
    target: of a reference, the number. value: if short values are told.
    rest: members that are not shown. whole: all of it is there.
    """

    depth: int
    role: str
    key: str | int | None
    kind: str
    name: str | None
    offset: int
    bytes: int
    items: int
    number: int | None
    references: int
    target: int | None
    value: str | None
    rest: list[OutlineRest]
    whole: bool

@type_check_only
class OutlineClass(TypedDict):
    """Instances of a layout or described type; `bytes` with all that they hold, what is within each other once.

    kind: "dict", "object", "based", "enum", "custom" or "described".
    fields: the first of the `field_count` names.
    """

    kind: str
    name: str | None
    version: int
    fields: list[str]
    field_count: int
    values: int
    bytes: int

@type_check_only
class OutlineReferred(TypedDict):
    number: int
    references: int
    kind: str
    name: str | None
    offset: int | None

@type_check_only
class Outline(TypedDict):
    """What bytes hold.

    nodes: in the order of the bytes, each before what it holds.
    kinds, classes, referred: the largest first; the last two up to `most`.
    numbered, shared: objects with a number, and those that are referred to. references: how often, together.
    start: bytes before the message. head: before its value. read: from `start` to where the value, or what is sound, ends:
        `head` and the bytes of `kinds` together. left: bytes behind that.
    error, error_offset: what ended it, and where in the data.
    """

    nodes: list[OutlineNode]
    kinds: list[OutlineSum]
    classes: list[OutlineClass]
    class_count: int
    referred: list[OutlineReferred]
    numbered: int
    shared: int
    references: int
    start: int
    head: int
    read: int
    left: int
    error: str | None
    error_offset: int | None

def guess_format(
    data: _BytesLike, /, *, is_bson: bool = False
) -> Literal["hold", "bson", "julia", "lisp", "json", "pickle"] | None: ...
def foreign_format(data: _BytesLike, /) -> str | None:
    """What bytes are that begin as files of none of our formats do, as a clause of an error."""

def name_foreign(
    error: BaseException, data: _BytesLike, format: Literal["hold", "bson", "msgpack"], /
) -> None:
    """Puts the name of the format that `data` have, if a reader of `format` refused them, into its error."""

def explain_error(error: BaseException, why: str, /) -> None:
    """Puts a clause at the end of what an error of ours says, before the place."""

def outline(data: _BytesLike, format: str, /, *, depth: int, most: int, values: bool = False) -> Outline: ...

# --- files and logs, for the Python layer only ---

file_start_size: Final[int]
message_starts: Final[bytes]
sealed_start: Final[int]
sealed_log_start: Final[int]

@type_check_only
class FileFrame(TypedDict):
    """A frame of a file: where it begins, its body's place and length, and how long a compressed one is unpacked.

    ok: whether its checksum holds; False too where it is cut short.
    """

    kind: str
    codec: str
    at: int
    offset: int
    size: int
    raw_size: int | None
    ok: bool | None

def file_frames_of(data: _BytesLike, /, *, most: int = ...) -> list[FileFrame]: ...
def file_body(data: _BytesLike, at: int, message: bool) -> bytes: ...
def file_kind(start: bytes) -> Literal["graph", "log", "message"] | None: ...
def file_verify(
    data: _BytesLike, progress: Callable[[int, int], Any] | None
) -> tuple[str, int, int | None, list[Damage]]:
    """Kind, whole frames, records of a log, what is damaged."""

def log_repair(data: _BytesLike, sink: int | Callable[[bytes], Any]) -> int:
    """Writes what is whole of a log; gives how many records that are."""

@final
class Damage:
    def __new__(cls, offset: int, size: int, reason: str) -> Damage: ...
    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def reason(self) -> str: ...

@final
class LogWriter:
    def __new__(
        cls,
        sink: int | Callable[[bytes], Any],
        /,
        *,
        append: bool,
        sync: str,
        refs: bool,
        trust: bool,
        enc_hook: _EncHook | None,
        compress: str | tuple[str, int] | None,
        flush: Callable[[], Any] | None = None,
    ) -> LogWriter: ...
    def write(self, obj: object) -> int: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    @property
    def records(self) -> int: ...
    @property
    def cut(self) -> int: ...

@final
class LogReader:
    def __new__(
        cls,
        source: Any,
        /,
        *,
        repair: str | None,
        follow: bool,
        part: tuple[int, int] | None,
        type: Any,
        types: _Types,
        trust: bool,
        strict: bool,
        dec_hook: _DecHook | None,
        resolver: _Resolver | None,
        limits: Limits | None,
    ) -> LogReader: ...
    def __iter__(self) -> LogReader: ...
    def __next__(self) -> Any: ...
    def seek(self, record: int) -> None: ...
    def feed(self, data: _BytesLike) -> None: ...
    def end(self) -> None: ...
    def close(self) -> None: ...
    @property
    def record(self) -> int: ...
    @property
    def damage(self) -> list[Damage]: ...
