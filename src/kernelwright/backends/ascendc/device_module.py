"""The trusted side of an emulated device: what a call returned, which rules it broke, its time."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.core.execution import Call, Failure, Poison, Returned, StateTransfer
from kernelwright.core.fault import Fault, Severity, distinct
from kernelwright.core.fingerprint import Json
from kernelwright.core.profile import Profile
from kernelwright.core.tensor import Tree
from kernelwright.core.verdict import Category
from kernelwright.emulator.profile import number, performance, profile_of
from kernelwright.emulator.report import Lines, faults_from
from kernelwright.emulator.trace import lines_of, trace_of
from kernelwright.sandbox.module_client import ModuleClient

MOST_FAULTS = 12
"""Faults that are told of one call; one mistake rarely shows in more places."""


class DeviceClient(ModuleClient):
    """Asks a `DeviceHost`, which has more to offer than a module's host."""

    def ask(self, op: str, **fields: Json) -> Mapping[str, Json] | Failure:
        """Ask for something that only this host knows."""
        answer = self._ask({"op": op, **fields}, doing=f"asking for {op}")
        return answer if isinstance(answer, Failure) else answer[0]


@dataclass(slots=True)
class DeviceModule:
    """A module on the emulated chip; implements `core.ports.Module` over a sandboxed child.

    Attributes:
        client: Asks the child.
        chip: Name of the chip.
        lines: Finds source lines of faults.
        options: How launches run: `strict_sync`, `timing_only`, `keep_events`.
        names: The candidate's parts: faults name them, whatever folder they were built in.
        reports: What the launches of the last call said.
    """

    client: DeviceClient
    chip: str
    lines: Lines
    options: Mapping[str, bool] = field(default_factory=dict)
    names: Sequence[str] = ()
    reports: tuple[Mapping[str, Json], ...] = ()
    _is_chosen: bool = False

    def construct(self, call: Call) -> StateTransfer | Failure:
        """Seed, construct and fill the module; a later call replaces it."""
        made = self.client.construct(call)
        if isinstance(made, Failure) or self._is_chosen:
            return made
        options: dict[str, Json] = {name: int(value) for name, value in self.options.items()}
        chosen = self.client.ask("chip", name=self.chip, options=options)
        self._is_chosen = not isinstance(chosen, Failure)
        return chosen if isinstance(chosen, Failure) else made

    def run(
        self, args: tuple[Tree, ...], *, poison: Poison | None = None, is_traced: bool = False
    ) -> Returned | Failure:
        """Call `forward` once; a broken rule of the device is a failure, whatever was returned."""
        self._told()
        returned = self.client.run(args, poison=poison, is_traced=is_traced)
        told = self._told()
        faults = self._faults()
        errors = [fault for fault in faults if fault.severity is Severity.ERROR]
        if errors:
            return _failure(errors, faults, returned)
        if isinstance(returned, Failure):
            return dataclasses.replace(returned, faults=faults)
        if isinstance(told, Failure):
            return told
        profile = self._profile()
        if profile is None:
            # Without this a module that launches only while it is watched would have no time, and
            # the machine would be blamed for that.
            return Failure(Category.HACK, "[FAIL] forward launched no kernel on the device")
        return dataclasses.replace(returned, faults=faults, profile=profile)

    def hold(self, calls: Sequence[tuple[Tree, ...]]) -> None | Failure:
        """Keep argument sets in the process."""
        return self.client.hold(calls)

    def tick(
        self, index: int, *, repeats: int, is_cold: bool, keep: int | None = None
    ) -> float | Failure:
        """Return the simulated seconds of `repeats` calls."""
        self._told()
        ticked = self.client.tick(index, repeats=repeats, is_cold=is_cold, keep=keep)
        told = self._told()
        if isinstance(ticked, Failure):
            return ticked
        if isinstance(told, Failure):
            return told
        return self.duration_us() * 1e-6

    def last_outputs(self) -> Tree | Failure:
        """Return what the timed call that was kept returned."""
        return self.client.last_outputs()

    def _told(self) -> None | Failure:
        """Fetch the reports of the launches since the last time."""
        self.reports = ()
        if not self._is_chosen:
            return None
        answer = self.client.ask("reports")
        if isinstance(answer, Failure):
            return answer
        found = answer.get("reports")
        items = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
        self.reports = tuple(item for item in items if isinstance(item, Mapping))
        return None

    def _launches(self) -> list[Mapping[str, Json]]:
        launches = (report.get("launch") for report in self.reports)
        return [launch for launch in launches if isinstance(launch, Mapping)]

    def _timings(self) -> list[Mapping[str, Json]]:
        timings = (launch.get("timing") for launch in self._launches())
        return [timing for timing in timings if isinstance(timing, Mapping)]

    def _faults(self) -> tuple[Fault, ...]:
        found = [
            dataclasses.replace(fault, path=self._part(fault.path))
            for document in (*self.reports, *self._launches())
            for fault in faults_from(document, self.lines)
        ]
        return distinct(found)[:MOST_FAULTS]

    def _part(self, path: str) -> str:
        """Return the part that a compiler's path means, else the file's own name."""
        for name in self.names:
            if path == name or path.endswith(f"/{name}"):
                return name
        return path.rpartition("/")[2]

    def performance(self) -> Mapping[str, Json] | None:
        """Return the figures of the last call's longest launch as EvoKernel's appendix F has them.

        None where nothing was launched.
        """
        launches = [item for item in self._launches() if isinstance(item.get("timing"), Mapping)]
        if not launches:
            return None
        longest = max(launches, key=lambda item: number(_timing(item), "duration_us"))
        return performance(str(longest.get("name", "kernel")), [_timing(longest)])

    def duration_us(self) -> float:
        """Return the simulated time of the last call's launches together."""
        return sum(number(timing, "duration_us") for timing in self._timings())

    def write_trace(self, path: Path) -> None:
        """Write the timeline of the last call's launches, each behind the one before it."""
        rows: list[Json] = []
        start_us = 0.0
        for timing in self._timings():
            document = trace_of(timing, lines_of(timing, self._place))
            assert isinstance(document, dict)
            events = document["traceEvents"]
            assert isinstance(events, list)
            rows += [_later(event, start_us) for event in events]
            start_us += number(timing, "duration_us")
        model = str(self._timings()[0].get("model", "")) if rows else ""
        whole = {
            "traceEvents": rows,
            "displayTimeUnit": "ns",
            "otherData": {"simulated": True, "timing_model": model},
        }
        path.write_text(json.dumps(whole), encoding="utf-8")

    def _place(self, image: str, offset: int) -> tuple[str, int]:
        found = self.lines.of(image, offset)
        return self._part(found.path), found.line

    def _profile(self) -> Profile | None:
        """Return the longest launch's profile with the time of all of them."""
        timings = self._timings()
        if not timings:
            return None
        longest = max(timings, key=lambda timing: number(timing, "duration_us"))
        return dataclasses.replace(profile_of(longest), duration_us=self.duration_us())


def _timing(launch: Mapping[str, Json]) -> Mapping[str, Json]:
    timing = launch.get("timing")
    return timing if isinstance(timing, Mapping) else {}


def _later(event: Json, start_us: float) -> Json:
    if not isinstance(event, dict) or not isinstance(event.get("ts"), int | float):
        return event
    return {**event, "ts": number(event, "ts") + start_us}


def _failure(
    errors: Sequence[Fault], faults: tuple[Fault, ...], returned: Returned | Failure
) -> Failure:
    words = [fault.text for fault in errors]
    if isinstance(returned, Failure):
        words.append(returned.reason)
    return Failure(Category.DEVICE_FAULT, "\n".join(words), faults)
