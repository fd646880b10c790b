"""More changes: those of whole packages and of unions, and those that a reader of the classes' own documentation would try."""

from __future__ import annotations

from tests.support.evolution_cases import Case

MORE: list[Case] = []
