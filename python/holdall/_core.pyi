"""The native module: types for what crates/python exports."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar, final, type_check_only

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
        cls, *, depth: int | None = None, objects: int | None = None, bytes: int | None = None
    ) -> Limits: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def objects(self) -> int | None: ...
    @property
    def bytes(self) -> int | None: ...

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
class Encoder:
    def __new__(
        cls,
        *,
        refs: bool = True,
        canonical: bool = False,
        trust: bool = False,
        intern: bool = False,
        enc_hook: _EncHook | None = None,
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
        limits: Limits | None = None,
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
    buffers: list[Any] | None = None,
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
    limits: Limits | None = None,
    buffers: Iterable[Any] | None = None,
) -> Any: ...

@final
class MsgpackEncoder:
    def __new__(cls, *, enc_hook: _EncHook | None = None, builtin_only: bool = False) -> MsgpackEncoder: ...
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
        ext_hook: _ExtHook | None = None,
        limits: Limits | None = None,
        raw: bool = False,
        use_list: bool = True,
        strict_map_key: bool = False,
        timestamps: bool = False,
    ) -> MsgpackDecoder: ...
    def decode(self, data: _BytesLike) -> Any: ...

def msgpack_dumps(obj: object, /, *, enc_hook: _EncHook | None = None) -> bytes: ...
def msgpack_loads(
    data: _BytesLike,
    /,
    *,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    ext_hook: _ExtHook | None = None,
    limits: Limits | None = None,
) -> Any: ...

class BsonEncoder:
    def __new__(cls, *, enc_hook: _EncHook | None = None) -> BsonEncoder: ...
    def encode(self, obj: object) -> bytes: ...
    def encode_into(self, obj: object, buffer: bytearray, offset: int = 0) -> int: ...

class BsonDecoder:
    def __new__(
        cls,
        *,
        type: Any = ...,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
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
        format: Literal["bson", "msgpack", "hold"] = "bson",
        type: Any = ...,
        types: _Types = (),
        trust: bool = False,
        strict: bool = True,
        dec_hook: _DecHook | None = None,
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

def bson_dumps(obj: object, /, *, enc_hook: _EncHook | None = None) -> bytes: ...
def bson_loads(
    data: _BytesLike,
    /,
    *,
    type: Any = ...,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
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
    progress: _Progress | None,
) -> int:
    """Writes a file; gives its size."""

def file_write(message: _Bytes, sink: _Sink, /) -> int:
    """Writes a message as a file; gives its size."""

def file_load(
    source: int | _Fill,
    size: int | None,
    /,
    *,
    type: Any,
    types: _Types,
    trust: bool,
    strict: bool,
    dec_hook: _DecHook | None,
    limits: Limits | None,
    progress: _Progress | None,
) -> Any:
    """What a file holds that has `size` bytes; without a size the next graph, and no byte more is read."""

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
    limits: Limits | None,
) -> Any:
    """What a map of a file holds: large buffers are views of it."""

def load_pickle(
    fill: _Fill,
    persistent_load: Callable[[Any], Any] | None,
    find_class: Callable[[str, str], Any] | None,
    buffers: Iterable[Any] | None,
    /,
) -> Any: ...
def open_document(
    data: _BytesLike,
    format: Literal["bson", "msgpack", "hold"],
    /,
    *,
    type: Any = ...,
    types: _Types = (),
    trust: bool = False,
    strict: bool = True,
    dec_hook: _DecHook | None = None,
    ext_hook: _ExtHook | None = None,
    limits: Limits | None = None,
    tz_aware: bool = True,
    writable: bool = False,
) -> Document:
    """A document in a map that was made for it, which closes with it."""

def msgpack_scan(data: _BytesLike, start: int, pending: int, /) -> tuple[int, int]:
    """Looks for the end of a value of which `pending` parts are owed at `start` (1 at its beginning).

    Gives the offset after the last whole token, and what is owed there: 0 at the value's end. DecodeError where no value starts.
    """

def register_class(
    cls: _Class,
    name: str | None,
    aliases: tuple[str, ...],
    version: int,
    renames: dict[str, str],
    upgrade: Callable[[dict[str, Any], int], Mapping[str, Any]] | None,
    encode: Callable[[Any], Any] | None,
    decode: Callable[[Any], Any] | None,
    settings: Any,
    /,
) -> None: ...
def class_settings(cls: _Class) -> Any: ...
def registered_subclasses(cls: _Class) -> list[_Class]: ...

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
    /,
) -> bytes: ...
def loads_pickle(
    data: _BytesLike,
    persistent_load: Callable[[Any], Any] | None,
    find_class: Callable[[str, str], Any] | None,
    buffers: Iterable[Any] | None,
    /,
) -> Any: ...
def bson_encode(document: Any, check_keys: bool, codec_options: Any, /) -> bytes: ...
def bson_decode(data: Any, codec_options: Any, /) -> Any: ...
def bson_decode_all(data: Any, codec_options: Any, /) -> list[Any]: ...

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
