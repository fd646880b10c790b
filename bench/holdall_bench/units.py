"""Figures as text."""

from __future__ import annotations

from .results import Timing


def time_text(nanoseconds: float, items: int | None = None) -> str:
    """Three digits and a unit; for each item, if they are told."""
    value = nanoseconds / (items or 1)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if value >= size:
            return f"{digits(value / size)} {unit}"
    return f"{digits(value)} ns"


def digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def spread(timing: Timing) -> str:
    return f"{timing.spread:.0%}" if len(timing.rounds) > 1 else "once"


def amount(count: int) -> str:
    """Bytes in powers of 1,000."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{digits(count / size)} {unit}"
    return f"{count} B"
