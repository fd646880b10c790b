"""cl-binary-store's own data sets, as the values that Lisp has: keywords, conses, vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import lisp_peers
from .data import Case, lisp_sets, row
from .judge import SBCL_SETS

# How many, where it isn't the function's default.
SIZES = {"a_bunch_of_specialized_arrays": {"n": 100_000}, "a_pile_of_tangled_conses": {"number": 100_000}}
STRUCTURES = ("lots_of_structure_objects", "a_lot_of_people_and_addresses")


def lisp_set(name: str, sizes: dict[str, int]) -> Any:
    from holdall import lisp

    data = getattr(lisp_sets(), name)(**sizes)
    if name == "lots_of_keywords":
        known = {text: lisp.keyword(text) for text in data}
        return [known[text] for text in data]
    if name == "long_complex_list":
        return [lisp.Cons(*one) if type(one) is tuple and one else one for one in data]
    if name == "a_pile_of_tangled_conses":
        # One without a cdr is a list of one.
        conses: dict[int, Any] = {
            id(pair): [None] if pair[1] is None else lisp.Cons(None, None) for pair in data
        }
        for pair in data:
            made, (car, cdr) = conses[id(pair)], (conses.get(id(side)) for side in pair)
            if isinstance(made, list):
                made[0] = car
            else:
                made.car, made.cdr = car, cdr
        return tuple(conses.values())
    if name == "a_bunch_of_specialized_arrays":
        # Two of them have elements of 2 and 4 bits in Lisp: we write 8, and read bytes.
        return [array.tobytes() if getattr(array, "dtype", None) == "uint8" else array for array in data]
    return tuple(data) if name in STRUCTURES else data


def lisp_store_cases() -> list[Case]:
    """Each is stored with and without references by both; a knot of conses with them only."""
    missing = "there are no shared data sets" if lisp_sets() is None else lisp_peers.missing()
    return [
        row(
            f"sbcl_{name}",
            f"cl-binary-store in SBCL: {name.replace('_', ' ')}",
            partial(lisp_set, name, SIZES.get(name, {})),
            identity="tangled" in name,
            deep="tangled" in name,
            contestants=lisp_peers.store_peers,
            missing=missing,
        )
        for name in SBCL_SETS
    ]
