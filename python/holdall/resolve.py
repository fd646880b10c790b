"""What a resolver is told, and what it answers: the program's word on stored data that its classes no longer fit.

`register(cls, resolver=f)` has `f` asked about what was stored as `cls`; `loads(data, resolver=f)`, and the functions and
classes like it, about everything in `data` that was stored as some class. That of the call is asked first. `f(stored)` is called once for each
layout, with a `Stored`: names, no values. Its answer depends on these alone, and may be remembered. It is one of

- None: as without a resolver;
- a class, or `Use(cls, renames=...)`: build that class;
- `holdall.Record`: keep it as a record;
- `Value(x)`: this value in its place;
- `SKIP`: leave it out of the list, dict or set that holds it; a field gets its default;
- `Refuse(why)`: an error;
- `ByValue(function)`: it depends on the values. Then, and only then, `function(record)` is called with each value.

>>> from dataclasses import dataclass
>>> from holdall.resolve import SKIP, Stored, Use
>>> @holdall.register(name="zoo.Bird")
... @dataclass
... class Bird:
...     name: str
>>> old = holdall.Record("zoo.Animal", {"name": "Tit", "wings": 2}), holdall.Record("zoo.Cage", {"size": 4})
>>> def resolver(stored: Stored) -> object:
...     if stored.name == "zoo.Cage":
...         return SKIP
...     return Use(Bird, renames={"wings": None}) if "wings" in stored.fields else None
>>> holdall.loads(holdall.dumps(list(old)), resolver=resolver)
[Bird(name='Tit')]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import SKIP, ByValue, Record, Refuse, Stored, Use, Value

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from ._core import Skip

    Answer: TypeAlias = type[Any] | Use | Value | ByValue | Refuse | Skip | None
    Resolver: TypeAlias = Callable[[Stored], Answer]

__all__ = ["SKIP", "ByValue", "Record", "Refuse", "Stored", "Use", "Value"]
