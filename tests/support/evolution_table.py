"""All rows of the table of changes: each has its cases in the files named here."""

from __future__ import annotations

from tests.support.evolution_cases import CASES
from tests.support.evolution_more_cases import MORE
from tests.support.evolution_resolver_cases import RESOLVED

TABLE = [*CASES, *MORE, *RESOLVED]
