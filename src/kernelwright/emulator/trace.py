"""The simulated pipes of a launch as a trace that Chrome and Perfetto open.

Takes:   the timing part of a report of a launch that kept its events, and where each call stands.
Gives:   the trace-event JSON format: one process a block, one thread a pipe, microseconds.
Leaves:  finding source lines to whoever can read the kernel's debug information.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kernelwright.core.fingerprint import Json
from kernelwright.emulator.profile import PIPES, number, records

Place = tuple[str, int]
"""A part of the candidate and a 1-based line in it."""


def trace_of(timing: Mapping[str, Json], lines: Mapping[int, Place] | None = None) -> Json:
    """Return the trace of a launch.

    Args:
        timing: The timing part of its report, with `events`.
        lines: Source place of each entry of the report's `places`, by index.

    Raises:
        ValueError: if the launch did not keep its events.
    """
    events = timing.get("events")
    if not isinstance(events, Sequence) or isinstance(events, str):
        raise ValueError("the launch kept no events: run it with keep_events")
    places = lines or {}
    rows: list[Json] = list(_names(timing))
    rows.extend(_event(event, places) for event in events if isinstance(event, Sequence))
    return {
        "traceEvents": rows,
        "displayTimeUnit": "ns",
        "otherData": {"simulated": True, "timing_model": str(timing.get("model", ""))},
    }


def lines_of(timing: Mapping[str, Json], line_at: Callable[[str, int], Place]) -> dict[int, Place]:
    """Return the source place of each entry of the report's `places`, by index.

    Args:
        timing: The timing part of a report with events.
        line_at: Gives the place of an address (a loaded library and an offset in it).
    """
    places = timing.get("places", [])
    if not isinstance(places, Sequence) or isinstance(places, str):
        return {}
    found: dict[int, Place] = {}
    for index, place in enumerate(places):
        if isinstance(place, Mapping):
            # A return address stands behind its call.
            path, line = line_at(str(place["image"]), int(number(place, "offset")) - 1)
            if line:
                found[index] = (path, line)
    return found


def write_trace(
    path: Path, timing: Mapping[str, Json], lines: Mapping[int, Place] | None = None
) -> None:
    """Write the trace of a launch to `path`."""
    path.write_text(json.dumps(trace_of(timing, lines)), encoding="utf-8")


def _process(block: int, sub: int) -> int:
    return block * 3 + sub


def _names(timing: Mapping[str, Json]) -> list[Json]:
    rows: list[Json] = []
    for core in records(timing, "cores"):
        block, sub = int(number(core, "block")), int(number(core, "sub"))
        process = _process(block, sub)
        name = f"block {block} {core.get('kind', 'aiv')}" + (f" {sub}" if sub else "")
        rows.append(
            {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": name}}
        )
        for thread, pipe in enumerate(PIPES):
            rows.append(
                {
                    "name": "thread_name",
                    "ph": "M",
                    "pid": process,
                    "tid": thread,
                    "args": {"name": pipe},
                }
            )
    return rows


def _event(event: Sequence[Json], places: Mapping[int, Place]) -> Json:
    block, sub, pipe, start, end, name, place = event
    arguments: dict[str, Json] = {"block": block, "simulated": True}
    where = places.get(place) if isinstance(place, int) else None
    if where is not None:
        arguments["path"], arguments["line"] = where
    return {
        "name": name,
        "cat": pipe,
        "ph": "X",
        "ts": start,
        "dur": _float(end) - _float(start),
        "pid": _process(int(_float(block)), int(_float(sub))),
        "tid": PIPES.index(str(pipe)),
        "args": arguments,
    }


def _float(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
