"""The offline generator behind its port: traced in a real sandbox, checked by the real backend."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright.backends.cpu.backend import CpuBackend
from kernelwright.core.budget import Usage
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.execution import Build, Call, Failure, Returned, StateTransfer
from kernelwright.core.memory_item import MemoryItem, MemoryKind
from kernelwright.core.ports import GenerationRequest
from kernelwright.core.rollout import History, Proposal, Rollout
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tensor
from kernelwright.core.value import Stage
from kernelwright.core.verdict import Feasible, Latency, LatencySource
from kernelwright.sandbox import Sandbox
from kernelwright.synth.generator import OfflineGenerator, SpaceExhausted
from kernelwright.synth.tracing import WARM

from .reference_tasks import TASKS, task

SPEED = Latency(1.0, 1.0, 0.0, LatencySource.MEASURED)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(warm=WARM) as warm:
        yield warm


@pytest.fixture(scope="module")
def generator(sandbox: Sandbox) -> OfflineGenerator:
    return OfflineGenerator(sandbox)


def as_task(name: str) -> Task:
    return Task(name=name, source=TASKS[name], path=f"{name}.py")


def draft(name: str, history: History = History()) -> GenerationRequest:  # noqa: B008 - frozen
    return GenerationRequest(as_task(name), "cpu", Proposal(Stage.DRAFT), (), None, history)


def rollout(candidate: Candidate, index: int) -> Rollout:
    return Rollout(
        rollout_id=f"run/{index:05}",
        run_id="run",
        task_id="task",
        index=index,
        proposal=Proposal(Stage.DRAFT),
        context=(),
        candidate=candidate,
        verdict=Feasible(SPEED),
        reward=1.0,
        usage=Usage(),
        seed=0,
    )


def refinement(start: Candidate, history: History, *items: MemoryItem) -> GenerationRequest:
    proposal = Proposal(Stage.REFINE, start.candidate_id)
    return GenerationRequest(as_task("softmax"), "cpu", proposal, items, start, history)


def test_equal_requests_and_random_states_give_equal_candidates(
    generator: OfflineGenerator, sandbox: Sandbox
) -> None:
    first = generator.generate(draft("softmax"), rng=random.Random(3)).candidate
    other = OfflineGenerator(sandbox).generate(draft("softmax"), rng=random.Random(3)).candidate
    assert first == other
    history = History((rollout(first, 0),))
    one = generator.generate(refinement(first, history), rng=random.Random(4)).candidate
    two = generator.generate(refinement(first, history), rng=random.Random(4)).candidate
    assert one == two


def test_a_refinement_changes_one_or_two_choices_and_repeats_nothing(
    generator: OfflineGenerator,
) -> None:
    start = generator.generate(draft("softmax"), rng=random.Random(0)).candidate
    history = History((rollout(start, 0),))
    for index in range(1, 8):
        made = generator.generate(refinement(start, history), rng=random.Random(index)).candidate
        changed = set(made.schedule) - set(start.schedule)
        assert 1 <= len(changed) <= 2
        assert made.parent == start.candidate_id
        assert made.candidate_id not in {r.candidate.candidate_id for r in history.rollouts}
        history = History((*history.rollouts, rollout(made, index)))


def test_a_refinement_prefers_what_memory_recommends(generator: OfflineGenerator) -> None:
    start = generator.generate(draft("softmax"), rng=random.Random(0)).candidate
    item = MemoryItem(
        MemoryKind.PRACTICE, "online", "", backend="cpu", schedule=(("passes", "online"),)
    )
    made = generator.generate(
        refinement(start, History((rollout(start, 0),)), item), rng=random.Random(9)
    ).candidate
    assert set(made.schedule) - set(start.schedule) == {("passes", "online")}
    assert made.context == (item.item_id,)


def test_an_empty_space_is_a_named_error(generator: OfflineGenerator) -> None:
    history = History()
    plan = generator.plan(as_task("sum_all"))
    for index, schedule in enumerate(plan.space.all(random.Random(0))):
        candidate = plan.candidate(schedule, parent=None, context=())
        history = History((*history.rollouts, rollout(candidate, index)))
    with pytest.raises(SpaceExhausted):
        generator.generate(draft("sum_all", history), rng=random.Random(0))


def test_an_operator_without_a_template_is_named_with_its_shape(
    generator: OfflineGenerator,
) -> None:
    source = task("return torch.exp(x @ x.t())", "torch.randn(5, 37)")
    request = replace(draft("softmax"), task=Task("product", source, "product.py"))
    with pytest.raises(NotCovered, match=r"aten\.mm\.default -> float32\[5, 5\]"):
        generator.generate(request, rng=random.Random(0))


def test_a_reference_that_raises_is_not_covered(generator: OfflineGenerator) -> None:
    source = task("raise RuntimeError('no such thing')", "torch.randn(5, 37)")
    request = replace(draft("softmax"), task=Task("broken", source, "broken.py"))
    with pytest.raises(NotCovered, match="no such thing"):
        generator.generate(request, rng=random.Random(0))


@pytest.mark.parametrize("name", ["softmax", "layernorm", "cross_entropy", "batch_norm", "chain"])
def test_candidates_pass_the_screen(
    name: str, generator: OfflineGenerator, sandbox: Sandbox, tmp_path: Path
) -> None:
    candidate = generator.generate(draft(name), rng=random.Random(0)).candidate
    backend = CpuBackend(sandbox, cache_folder=tmp_path)
    assert backend.screen(candidate, as_task(name)) == ()


def test_a_candidate_runs_in_the_backend(
    generator: OfflineGenerator, sandbox: Sandbox, tmp_path: Path
) -> None:
    candidate = generator.generate(draft("softmax"), rng=random.Random(0)).candidate
    backend = CpuBackend(sandbox, cache_folder=tmp_path)
    build = backend.build(candidate)
    assert isinstance(build, Build), build
    rows = Tensor("float32", (3, 4), bytes(48))
    with backend.open(build) as module:
        made = module.construct(Call(0, (), {}, (rows,), True))
        assert isinstance(made, StateTransfer), made
        returned = module.run((rows,), is_traced=True)
    assert isinstance(returned, Returned) and not isinstance(returned, Failure)
    assert isinstance(returned.outputs, Tensor)
    assert memoryview(returned.outputs.data).cast("B").cast("f").tolist() == [0.25] * 12
    assert set(returned.dispatched) <= backend.allowed_operators()
