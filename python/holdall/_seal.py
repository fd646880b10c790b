"""`Seal`: a keyed check around messages and files, which is compared before anything within is read.

The layout is section 14 of docs/format.md. HMAC-SHA256 is the standard library's, over OpenSSL.
"""

from __future__ import annotations

import copyreg
import hmac
import os
from typing import TYPE_CHECKING, Any, NoReturn, final

from . import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

# What stands around the payload: first byte, the key's id, the tag, the payload's length.
_ID = 4
TAG = 16
_LENGTH = 5
HEAD = 1 + _ID + TAG + _LENGTH
_LONGEST = (1 << 8 * _LENGTH) - 1
_START = bytes([_core.sealed_start])
# HKDF's salt, and what the derived keys are for: the first byte of its info.
_SALT = b"holdall seal 1"
_FOR_ID, FOR_PAYLOADS, FOR_LOGS = b"\0", b"\1", b"\2"
_SHORTEST, _SHORTEST_TEXT = 16, 32
# Random bytes, even 32 digits, have more different ones but for once in many millions of millions of keys.
_FEWEST = 5


class SealError(_core.DecodeError):
    """Something that is not sealed, or whose seal does not hold: nothing of it was read.

    >>> mine, other = Seal(Seal.new_key()), Seal(Seal.new_key())
    >>> try:
    ...     holdall.loads(holdall.dumps([1], seal=other), seal=mine)
    ... except holdall.SealError as error:
    ...     print(error)
    sealed with a key that is not among those of this seal - at byte 1
    """


@final
class Seal:
    """A secret key, with which what is stored elsewhere is checked to be what was stored.

    `seal=` of `dumps`, `dump`, `Encoder` and `Writer` puts a keyed check around what they write; with `seal=`, `loads`, `load`, `open`,
    `Decoder` and `Reader` take only what holds by it, and read nothing before it was compared. So a cache, queue or cookie may be
    written to by others, and what they wrote is refused.

    key: 16 random bytes or more (`Seal.new_key()` makes 32), or text of 32 characters or more, as secrets are in settings. Anything
        shorter, and what consists of few different bytes, is refused.
    context: what it is for ("sessions", "orders v2"). What was sealed for one context does not hold in another, with the same key: a
        message can't be moved from a queue into a cookie.
    old_keys: keys that what is read may also have been sealed with. To rotate: make the new key `key`, and the one before it an old key,
        until nothing is left that was sealed with it.

    It shows that the holder of a key wrote these bytes for this context, and nothing else: not when, how often, or in which order (a log's
    records have an order that holds, see `Writer`). The content stays readable to everybody. Threads may share one. It can't be stored.

    Raises TypeError, ValueError: a key that is none, or too short.

    >>> seal = Seal(Seal.new_key(), context="sessions")
    >>> data = holdall.dumps({"user": 7}, seal=seal)
    >>> holdall.loads(data, seal=seal)
    {'user': 7}
    >>> forged = data.replace(bytes([7]), bytes([1]))
    >>> try:
    ...     holdall.loads(forged, seal=seal)
    ... except holdall.SealError as error:
    ...     print("refused")
    refused
    """

    __slots__ = ("_context", "_keys", "_known", "_payloads", "_start")

    HEAD = HEAD

    def __init__(
        self,
        key: bytes | bytearray | str,
        *,
        context: str = "",
        old_keys: Iterable[bytes | bytearray | str] = (),
    ) -> None:
        if not isinstance(context, str):
            raise TypeError(f"context: expected text, got {_kind(context)}")
        if isinstance(old_keys, (str, bytes, bytearray)):
            raise TypeError("old_keys: expected a list of keys, got one key")
        self._context = context.encode("utf-8", "surrogatepass")
        self._keys = [
            _extracted(given, what)
            for given, what in [(key, "key"), *((old, "old_keys") for old in old_keys)]
        ]
        # More than one key may have an id, which is by chance then.
        self._known: dict[bytes, list[tuple[bytes, bytes]]] = {}
        for secret in self._keys:
            derived = self._derived(secret, FOR_PAYLOADS), self._derived(secret, FOR_LOGS)
            self._known.setdefault(_id_of(secret), []).append(derived)
        self._payloads = self._derived(self._keys[0], FOR_PAYLOADS)
        self._start = _START + _id_of(self._keys[0])

    def _derived(self, secret: bytes, purpose: bytes) -> bytes:
        return _expanded(secret, purpose + self._context)

    @staticmethod
    def new_key() -> bytes:
        """A random key of 32 bytes.

        >>> len(Seal.new_key())
        32
        """
        return os.urandom(32)

    def wrap(self, payload: Any, /) -> bytes:
        """Any bytes within a seal: 26 bytes more. `dumps(seal=)` does this with a message.

        Raises ValueError: a TiB or more.

        >>> seal = Seal(Seal.new_key())
        >>> bytes(seal.unwrap(seal.wrap(b"as they are")))
        b'as they are'
        """
        tag = hmac.digest(self._payloads, payload, "sha256")[:TAG]
        return b"".join((self._start, tag, _length_of(payload), payload))

    def unwrap(self, data: Any, /) -> memoryview:
        """The bytes within a seal that holds, not copied.

        data: bytes-like; all of it is one seal with its payload. What is not `bytes`, and might change after it was compared, is
            copied first.

        Raises SealError: it is not sealed, or cut short, or with another key, or the seal does not hold.
        """
        view = memoryview(data if type(data) is bytes else bytes(data))
        return self.holds(view[:HEAD], view[HEAD:])

    # --- for files and logs ---

    def holds(self, head: memoryview, payload: memoryview) -> memoryview:
        """The payload, if the seal in front of it holds."""
        keys, tag, length = self.head(head)
        if len(payload) != length:
            what = "cut short" if len(payload) < length else "longer than it says"
            raise refusal(
                f"what is sealed is {what}: expected {HEAD + length} bytes, got {HEAD + len(payload)}", 0
            )
        made = [hmac.digest(key, payload, "sha256")[:TAG] for key in keys]
        if not sum(hmac.compare_digest(one, tag) for one in made):
            raise refusal("the seal does not hold: the bytes were changed, or sealed for another context", 0)
        return payload

    def head(self, view: memoryview) -> tuple[list[bytes], bytes, int]:
        """Of what stands in front of a payload: the keys that it may be sealed with, its tag, the payload's length."""
        if not len(view) or view[0] != _START[0]:
            raise refusal("not sealed", 0, foreign=True)
        if len(view) < HEAD:
            raise refusal(f"what is sealed is cut short: expected {HEAD} bytes or more, got {len(view)}", 0)
        keys = self._known.get(bytes(view[1 : 1 + _ID]))
        if keys is None:
            raise refusal("sealed with a key that is not among those of this seal", 1)
        tag = bytes(view[1 + _ID : 1 + _ID + TAG])
        return (
            [of_payloads for of_payloads, _ in keys],
            tag,
            int.from_bytes(view[1 + _ID + TAG : HEAD], "little"),
        )

    def finished_head(self, made: hmac.HMAC, length: int) -> bytes:
        """What stands in front of a payload of which `made` has seen all."""
        return b"".join((self._start, made.digest()[:TAG], _length_bytes(length)))

    def started(self) -> hmac.HMAC:
        """The check of a payload that comes in pieces."""
        return hmac.new(self._payloads, digestmod="sha256")

    def log_keys(self, start: bytes) -> list[bytes]:
        """The keys that the log may be sealed with that says this id; the first is what new ones are sealed with."""
        keys = self._known.get(start)
        if keys is None:
            raise refusal("sealed with a key that is not among those of this seal", 1)
        return [of_logs for _, of_logs in keys]

    @property
    def id(self) -> bytes:
        """What says which key it was, in what is sealed: 4 bytes that tell nothing about the key.

        >>> len(Seal(Seal.new_key()).id)
        4
        """
        return self._start[1:]

    def __repr__(self) -> str:
        context = self._context.decode("utf-8", "surrogatepass")
        return f"Seal(<secret {self.id.hex()}>, context={context!r}, old_keys=<{len(self._keys) - 1}>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _refuse(self)

    def __init_subclass__(cls, **options: Any) -> NoReturn:
        raise TypeError("Seal can't be subclassed")


def _refuse(seal: Seal) -> NoReturn:
    raise TypeError("a Seal holds secret keys and is not stored: make it anew from its key")


# What is defined in this package does not count as a class's own way of being stored; this does.
copyreg.pickle(Seal, _refuse)


def _extracted(given: Any, what: str) -> bytes:
    """HKDF's first step (RFC 5869): a key of 32 bytes of one that may have any form."""
    if isinstance(given, str):
        key, shortest, of = given.encode("utf-8", "surrogatepass"), _SHORTEST_TEXT, "characters"
    elif isinstance(given, (bytes, bytearray)):
        key, shortest, of = bytes(given), _SHORTEST, "bytes"
    else:
        raise TypeError(f"{what}: expected bytes or text, got {_kind(given)}")
    if len(given) < shortest:
        raise ValueError(
            f"{what}: expected at least {shortest} {of}, got {len(given)}; Seal.new_key() makes a key"
        )
    if len(set(key)) < _FEWEST:
        raise ValueError(
            f"{what}: consists of fewer than {_FEWEST} different {of}; Seal.new_key() makes a key"
        )
    return hmac.digest(_SALT, key, "sha256")


def _expanded(secret: bytes, info: bytes) -> bytes:
    """Its second step, for 32 bytes."""
    return hmac.digest(secret, info + b"\1", "sha256")


def _id_of(secret: bytes) -> bytes:
    return _expanded(secret, _FOR_ID)[:_ID]


def _length_of(payload: Any) -> bytes:
    return _length_bytes(payload.nbytes if isinstance(payload, memoryview) else len(payload))


def _length_bytes(length: int) -> bytes:
    if length > _LONGEST:
        raise ValueError("what is sealed must be shorter than a TiB")
    return length.to_bytes(_LENGTH, "little")


def refusal(text: str, at: int, foreign: bool = False) -> SealError:
    error = SealError(f"{text} - at byte {at}")
    error.offset = at
    error.__dict__["foreign"] = foreign
    return error


def _kind(value: object) -> str:
    return type(value).__name__
