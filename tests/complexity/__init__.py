"""Hostile inputs by size: what bytes that were made by someone who knows the formats cost, through every door.

`make complexity` runs it. A *family* is a function of n that gives a message of about n bytes; it stands in a module of
`families/`, and is registered by a decorator:

    @family("hold")
    def empty_lists(n: int) -> bytes:
        return w.message(w.sequence(*[w.EMPTY_LIST] * n))

A *door* is a function that takes such bytes, as users would: `loads`, a file, a log, the command line. Every family goes
through all doors of its format, at each size, each time in a process of its own. `bounds.py` says what it may cost.
"""
