"""A whole run: which data sets, which codecs, on what machine."""

from __future__ import annotations

import contextlib
import os
import platform
from datetime import datetime, timezone
from pathlib import Path
from time import monotonic

from . import runner
from .results import Machine, Run
from .runner import Progress, Settings


def run(
    sources: list[list[str]],
    codecs: list[str],
    settings: Settings,
    progress: Progress,
    command: str,
) -> Run:
    """Measure all codecs of these names on all data sets of these sources (see `own_data.find_data`)."""
    began = monotonic()
    made = Run(
        when=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=command,
        machine=machine(),
        versions={},
        data_sets=[],
    )
    for i, source in enumerate(sources):
        part = Progress(lambda text, share, i=i: progress.tell(text, (i + share) / len(sources)))  # type: ignore[misc]
        found = runner.measure(source, codecs, settings, part)
        made.data_sets.append(found.data_set)
        made.versions |= found.versions
        known = {each.codec for each in made.absent}
        made.absent += [each for each in found.absent if each.codec not in known]
    made.notes = notes(settings)
    made.seconds = round(monotonic() - began, 1)
    return made


def notes(settings: Settings) -> list[str]:
    said = []
    if len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [0, 0]) < 2:
        said.append("one processor only: whatever else ran was measured, too")
    if settings.min_rounds < 3:
        said.append("too few rounds to tell small differences")
    return said


def machine() -> Machine:
    return Machine(
        processor=processor(),
        cores=os.cpu_count() or 1,
        memory=memory(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=f"{platform.python_implementation()} {platform.python_version()}",
    )


def processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory() -> int | None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
