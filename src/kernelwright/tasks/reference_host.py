"""Entry of the sandboxed process that holds a task's reference: answers the oracle's questions.

Requests have `op` in their header, answers have `ok` or `failure`, as in `sandbox.module_host`.
Nothing here decides anything: outputs go to the trusted side as bytes.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import torch

from kernelwright.core.encode import from_json
from kernelwright.core.execution import Distribution, Workload
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer, encoded
from kernelwright.sandbox.channel import Channel
from kernelwright.sandbox.module_host import Answer, Handler, Header, serve_requests, state_of
from kernelwright.sandbox.torch_tree import from_torch, tensors_in
from kernelwright.tasks.inside.analysis import Analyst, bytes_of, is_small
from kernelwright.tasks.inside.compare import unfairness
from kernelwright.tasks.inside.draw import Drawn, drawn, is_redrawable
from kernelwright.tasks.inside.mutants import DoesNotApply, Mutator
from kernelwright.tasks.inside.reference import Reference
from kernelwright.tasks.inside.run import Outcome, run_eager, run_exact

KEPT_BYTES = 512 << 20
"""Results that are kept, so that a plan, its expected values and its mutants share them."""


@dataclass(slots=True)
class ReferenceHost:
    """The reference of one task and what was computed with it lately.

    Attributes:
        reference: The task file in this process's work folder.
    """

    reference: Reference
    _drawn: tuple[Workload, Drawn] | None = None
    _outcomes: OrderedDict[Workload, Outcome] = field(default_factory=OrderedDict)
    _has_exact: bool = True
    _mutator: tuple[Workload, Mutator] | None = None

    def handlers(self) -> dict[str, Handler]:
        """Return what this host answers, by `op`."""
        return {
            "machine": self.machine,
            "analyse": self.analyse,
            "measure": self.measure,
            "draw": self.draw,
            "traits": self.traits,
            "judge": self.judge,
            "expected": self.expected,
            "mutants": self.mutants,
            "mutant": self.mutant,
        }

    def machine(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Say what runs the reference, here and in every process of the same sandbox."""
        return {"torch": torch.__version__, "threads": torch.get_num_threads()}, ()

    def analyse(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Analyse the file as it is; run it on trial if that costs next to nothing."""
        analyst = Analyst(self.reference, self.reference.namespace(), _room(header))
        found = analyst.analysis()
        if is_small(found):
            found["is_random"] = bool(found["is_random"]) or analyst.is_random_on_trial()
        return found, ()

    def measure(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Analyse another text of the task, in the ways that worked for the file."""
        ways = header.get("ways")
        known = {str(k): str(v) for k, v in ways.items()} if isinstance(ways, Mapping) else {}
        namespace = self.reference.imported(str(header["text"]))
        analyst = Analyst(self.reference, namespace, _room(header), known)
        found = analyst.analysis()
        if header.get("trial") and is_small(found):
            found["is_random"] = bool(found["is_random"]) or analyst.is_random_on_trial()
        gc.collect()
        return found, ()

    def draw(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Draw a workload: constructor arguments, parameters and buffers, forward arguments."""
        workload = _workload(header)
        made = self._draw(workload)
        tree = {
            "init": from_torch(tuple(made.init)),
            "state": from_torch(dict(state_of(made.module))),
            "args": from_torch(tuple(made.args)),
        }
        skeleton, out = encoded(tree)
        return {"tree": skeleton, "is_training": bool(made.module.training)}, out

    def traits(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Say what of a workload could be drawn otherwise."""
        made = self._draw(_workload(header))
        tensors = list(tensors_in(list(made.args)))
        answer: dict[str, Json] = {
            "can_redraw": any(is_redrawable(tensor) for tensor in tensors),
            "can_randomise": any(p.is_floating_point() for p in made.module.parameters()),
            "can_restride": any(tensor.numel() > 1 for tensor in tensors),
        }
        return answer, ()

    def judge(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Say why a workload would be no fair test; the answer is empty if it is one."""
        workload, official = _workload(header), from_json(Workload, header["official"])
        length = int(str(header["reduction_length"]))
        if workload.distribution is Distribution.SPECIAL and not self._is_elementwise(
            workload, length
        ):
            return {"why": "special values are drawn for elementwise operators only"}, ()
        outcome = self._outcome(workload, is_exact=bool(header["exact"]))
        before = self._outcome(official)
        why = unfairness(
            workload.distribution,
            official=before.eager,
            eager=outcome.eager,
            exact=outcome.exact,
            reduction_length=length,
        )
        return {"why": why}, ()

    def expected(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Run the reference on a workload, in its own precision and, if asked, in float64."""
        outcome = self._outcome(_workload(header), is_exact=bool(header["exact"]))
        tree = {"eager": from_torch(outcome.eager), "exact": from_torch(outcome.exact)}
        skeleton, out = encoded(tree)
        return {"tree": skeleton, "mutated": list(outcome.mutated)}, out

    def mutants(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Name the mutants of the reference."""
        return {"names": list(self._mutator_of(_workload(header)).names())}, ()

    def mutant(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Run one mutant by name, or say why the task does not have it."""
        try:
            output = self._mutator_of(_workload(header)).output(str(header["name"]))
        except DoesNotApply as reason:
            return {"why": str(reason)}, ()
        skeleton, out = encoded(from_torch(output))
        return {"outputs": skeleton}, out

    def _mutator_of(self, workload: Workload) -> Mutator:
        if self._mutator is None or self._mutator[0] != workload:
            expected = self._outcome(workload).eager
            made = Mutator(self.reference, workload, self._draw(workload), expected)
            self._mutator = (workload, made)
        return self._mutator[1]

    def _draw(self, workload: Workload) -> Drawn:
        if self._drawn is None or self._drawn[0] != workload:
            self._drawn = None
            self._drawn = (workload, drawn(self.reference, workload))
        return self._drawn[1]

    def _outcome(self, workload: Workload, *, is_exact: bool = False) -> Outcome:
        kept = self._outcomes.get(workload)
        made = self._draw(workload) if kept is None or is_exact else None
        if kept is None:
            assert made is not None
            eager, mutated = run_eager(self.reference, workload, made)
            kept = self._outcomes[workload] = Outcome(eager, None, mutated)
        if is_exact and kept.exact is None and self._has_exact:
            assert made is not None
            kept.exact = run_exact(self.reference, workload, made, kept.eager)
            self._has_exact = kept.exact is not None
        self._outcomes.move_to_end(workload)
        self._forget()
        return kept

    def _forget(self) -> None:
        while len(self._outcomes) > 1 and self._kept_bytes() > KEPT_BYTES:
            self._outcomes.popitem(last=False)
        gc.collect()

    def _kept_bytes(self) -> int:
        return sum(
            bytes_of(tensors_in([outcome.eager, outcome.exact]))
            for outcome in self._outcomes.values()
        )

    def _is_elementwise(self, workload: Workload, length: int) -> bool:
        if length != 1:
            return False
        shapes = [tuple(tensor.shape) for tensor in tensors_in(list(self._draw(workload).args))]
        outputs = list(tensors_in(self._outcome(workload).eager))
        wide = _broadcast(shapes)
        return bool(outputs) and all(tuple(tensor.shape) == wide for tensor in outputs)


def serve(channel: Channel) -> None:
    """Answer the oracle until the trusted side closes the channel."""
    # What is there now stays: collecting what tasks leave behind must not walk over PyTorch.
    gc.freeze()
    host = ReferenceHost(Reference(Path.cwd(), "task.py"))
    serve_requests(channel, host.handlers())


def _workload(header: Header) -> Workload:
    return from_json(Workload, header["workload"])


def _room(header: Header) -> int:
    return int(str(header["room_bytes"]))


def _broadcast(shapes: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        return None
