"""LMDB: `store = Store(lmdb.open("folder"), types=[Order])` is a mapping of text keys, of which one field can be read alone."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from .. import _core
from ._base import Codec, missing

try:
    import lmdb
except ImportError as error:
    raise missing("lmdb", "lmdb", error) from error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._base import Options

__all__ = ["Store"]


class Store(MutableMapping[str, Any]):
    """The values of an LMDB environment, by text keys. Each call is a transaction; `txn=` of `get_in` and `put_in` is one of yours.

    options: those of `holdall.integrations.Codec`. A miss is a KeyError, as for a key that is not there.
    """

    def __init__(self, env: lmdb.Environment, db: Any = None, **options: Unpack[Options]) -> None:
        self.env, self.db = env, db
        self.codec = Codec(**options)
        self._types: dict[str, Any] = {
            name: options[name] for name in ("types", "trust", "limits") if name in options
        }

    def get_in(self, txn: lmdb.Transaction, key: str) -> Any:
        """The value of a key, within a transaction. KeyError: there is none."""
        data = txn.get(key.encode(), db=self.db)
        made = self.codec.MISS if data is None else self.codec.loads(data)
        if made is self.codec.MISS:
            raise KeyError(key)
        return made

    def put_in(self, txn: lmdb.Transaction, key: str, value: Any) -> None:
        """Store a value, within a transaction."""
        txn.put(key.encode(), self.codec.dumps(value), db=self.db)

    def field(self, key: str, *path: Any) -> Any:
        """One part of a value, `store.field("order 7", "lines", 0)`: only that is built. Of sealed values all is compared first."""
        # A copy: memory of LMDB's is good for the transaction alone, and what is built may be a view of it.
        with self.env.begin() as txn:
            data = txn.get(key.encode(), db=self.db)
        if data is None:
            raise KeyError(key)
        if self.codec.seal is not None:
            data = self.codec.seal.unwrap(data)
        with _core.Document(data, **self._types) as document:
            made: Any = document
            for step in path:
                made = made[step]
            return made.load() if isinstance(made, _core.Document) else made

    def __getitem__(self, key: str) -> Any:
        with self.env.begin() as txn:
            return self.get_in(txn, key)

    def __setitem__(self, key: str, value: Any) -> None:
        with self.env.begin(write=True) as txn:
            self.put_in(txn, key, value)

    def __delitem__(self, key: str) -> None:
        with self.env.begin(write=True) as txn:
            if not txn.delete(key.encode(), db=self.db):
                raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        with self.env.begin() as txn, txn.cursor(db=self.db) as cursor:
            for key in cursor.iternext(values=False):
                yield bytes(key).decode()

    def __len__(self) -> int:
        with self.env.begin() as txn:
            return int(txn.stat(self.db)["entries"])
