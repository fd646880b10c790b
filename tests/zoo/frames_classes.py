"""A subclass of NumPy's array, as the documentation of NumPy writes one: in a module, where pickle finds it."""

from __future__ import annotations

from typing import Any

import numpy as np


class Annotated(np.ndarray):  # type: ignore[type-arg]
    note: str

    @classmethod
    def of(cls, base: Any, note: str) -> Annotated:
        made = np.asarray(base).view(cls)
        made.note = note
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.note = getattr(obj, "note", "none")

    def __reduce__(self) -> Any:
        function, arguments, state = super().__reduce__()  # type: ignore[misc]
        return function, arguments, (*state, self.note)

    def __setstate__(self, state: Any) -> None:
        self.note = state[-1]
        super().__setstate__(state[:-1])
