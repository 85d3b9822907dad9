"""The offline generator: writes C++ for the CPU without a model, and varies its schedule."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.ports import Generation, GenerationRequest
from kernelwright.core.rollout import History
from kernelwright.core.task import Task
from kernelwright.core.value import Stage
from kernelwright.sandbox import Sandbox
from kernelwright.synth.canonical import canonical
from kernelwright.synth.constructor import Constructor, constructor_of
from kernelwright.synth.graph import Source
from kernelwright.synth.model_source import model_source
from kernelwright.synth.partition import partition
from kernelwright.synth.route import Routes, routes_of
from kernelwright.synth.schedule import Schedule, Space, space_of
from kernelwright.synth.tracing import graph_of

BACKENDS = ("cpu",)
NAME = "offline"
VERSION = "1"


class SpaceExhausted(NotCovered):
    """Every schedule of a task's kernel was tried; there is nothing new to generate."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known of a task after it was traced once.

    Attributes:
        routes: Its kernels, and the ways to print them.
        constructor: What its module takes over from the reference.
        space: Its schedules.
    """

    routes: Routes
    constructor: Constructor
    space: Space

    def candidate(
        self, schedule: Schedule, *, parent: str | None, context: tuple[str, ...]
    ) -> Candidate:
        """Print the program under a schedule."""
        printed = self.routes.printed(schedule)
        module = model_source(self.routes.program, self.constructor, calls=printed.calls)
        files = {**printed.files, "model.py": module}
        return Candidate.of(
            "cpu", files, origin=NAME, parent=parent, context=context, schedule=schedule
        )


@dataclass(slots=True)
class OfflineGenerator:
    """Drafts from a default schedule, refines by changing one or two choices of a start point.

    Attributes:
        sandbox: Where references are traced.
    """

    sandbox: Sandbox
    _plans: dict[str, Plan | NotCovered] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def name(self) -> str:
        """Name in the registry."""
        return NAME

    def versions(self) -> Mapping[str, str]:
        """Return the version of the templates."""
        return {"generator.offline": VERSION}

    def generate(self, request: GenerationRequest, *, rng: random.Random) -> Generation:
        """Make one candidate that the history does not hold yet.

        Raises:
            NotCovered: naming the node of the reference that no template covers.
            SpaceExhausted: if every schedule was tried.
        """
        if request.backend not in BACKENDS:
            raise NotCovered(
                f"the offline generator does not write for {request.backend!r}",
                fix=f"choose one of: {', '.join(BACKENDS)}",
            )
        plan = self.plan(request.task)
        context = tuple(item.item_id for item in request.context)
        parent = request.start_point.candidate_id if request.start_point is not None else None
        tried = {rollout.candidate.candidate_id for rollout in request.history.rollouts}
        for schedule in _wanted(plan.space, request, rng):
            candidate = plan.candidate(schedule, parent=parent, context=context)
            if candidate.candidate_id not in tried:
                return Generation(candidate)
        raise SpaceExhausted(
            f"all schedules of {request.task.name} were tried",
            fix="the best candidate so far is the best of this generator",
        )

    def plan(self, task: Task) -> Plan:
        """Return what is known of a task; it is traced once.

        Raises:
            NotCovered: naming the node of the reference that no template covers.
        """
        with self._lock:
            if task.task_id not in self._plans:
                self._plans[task.task_id] = self._planned(task)
            plan = self._plans[task.task_id]
        if isinstance(plan, NotCovered):
            raise NotCovered(plan.what, fix=plan.fix)
        return plan

    def _planned(self, task: Task) -> Plan | NotCovered:
        if task.is_random:
            return NotCovered(
                f"{task.name} is random: two calls differ", fix="make the reference deterministic"
            )
        try:
            program = partition(canonical(graph_of(task, self.sandbox)))
            sources = {p.source for p in program.canonical.placeholders.values()}
            has_state = bool(sources & {Source.PARAMETER, Source.BUFFER})
            routes = routes_of(program, entry=_entry(task.name))
            plan = Plan(
                routes=routes,
                constructor=constructor_of(task.source, needs_state=has_state),
                space=space_of(program, routes.choices()),
            )
            plan.candidate(plan.space.default(), parent=None, context=())
        except NotCovered as fault:
            return fault
        return plan


def _entry(name: str) -> str:
    stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return f"{'task_' if not stem or stem[0].isdigit() else ''}{stem}_kernel"


def _wanted(
    space: Space, request: GenerationRequest, rng: random.Random
) -> Iterator[dict[str, str]]:
    """Yield schedules in the order in which they should be tried."""
    advice = [dict(item.schedule) for item in request.context if item.schedule]
    advice = [known for known in (_known(space, item) for item in advice) if known]
    if request.proposal.stage is Stage.REFINE and request.start_point is not None:
        start = space.completed(request.start_point.schedule)
    else:
        start = space.default()
        failed = _failed_choices(request.history)
        if not failed:
            yield from ({**start, **item} for item in _draft_advice(advice, start))
        yield start
    for item in advice:
        changed = {name: value for name, value in item.items() if start[name] != value}
        if changed:
            for some in _few(changed, rng):
                yield {**start, **some}
    yield from space.near(start, rng)


def _known(space: Space, item: Mapping[str, str]) -> dict[str, str]:
    known = dict(space.choices)
    return {name: value for name, value in item.items() if value in known.get(name, ())}


def _draft_advice(
    advice: list[dict[str, str]], start: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield what the first draft takes over: nothing that contradicts itself."""
    merged: dict[str, str] = {}
    for item in advice:
        for name, value in item.items():
            merged.setdefault(name, value)
    if any(start[name] != value for name, value in merged.items()):
        yield merged


def _few(changed: Mapping[str, str], rng: random.Random) -> Iterator[dict[str, str]]:
    """Yield one or two of the changes at a time."""
    names = sorted(changed)
    rng.shuffle(names)
    if len(names) <= 2:
        yield dict(changed)
    for name in names:
        yield {name: changed[name]}


def _failed_choices(history: History) -> bool:
    return any(rollout not in history.feasible() for rollout in history.rollouts)
