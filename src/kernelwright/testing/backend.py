"""The contract of a backend: screening, building and running candidates in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Call, Failure, Poison, Returned, StateTransfer
from kernelwright.core.ports import Backend, Module
from kernelwright.core.task import Task
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.core.verdict import Category, Latency, LatencySource


@dataclass(frozen=True, slots=True)
class BackendCase:
    """A backend to test, with candidates for one small task.

    Attributes:
        backend: The backend.
        task: The task.
        good: A candidate that is right.
        uncompilable: One that its toolchain refuses.
        bypassing: One that builds and is right, but computes outside its kernel.
        crashing: One that builds, and kills its process when it runs.
        call: How the task's module is constructed and called, with at least one tensor argument.
        expected: What `good` returns, byte for byte.
    """

    backend: Backend
    task: Task
    good: Candidate
    uncompilable: Candidate
    bypassing: Candidate
    crashing: Candidate
    call: Call
    expected: Tree


class BackendContract:
    """What holds for every backend; define the fixture `case`."""

    @pytest.fixture
    def case(self) -> BackendCase:
        """Return the backend under test."""
        raise NotImplementedError("define the fixture `case`")

    @pytest.fixture
    def build(self, case: BackendCase) -> Build:
        """Build the good candidate."""
        build = case.backend.build(case.good)
        assert isinstance(build, Build), build
        return build

    @pytest.fixture
    def module(self, case: BackendCase, build: Build) -> Iterator[Module]:
        """Start a process with the good candidate, constructed."""
        with case.backend.open(build) as module:
            transfer = module.construct(case.call)
            assert isinstance(transfer, StateTransfer), transfer
            yield module

    def test_it_names_itself_and_what_can_change_a_build(self, case: BackendCase) -> None:
        assert case.backend.name == case.good.backend
        versions = dict(case.backend.versions())
        assert versions
        assert all(isinstance(text, str) and text for pair in versions.items() for text in pair)

    def test_screening_lets_a_good_candidate_pass(self, case: BackendCase) -> None:
        assert case.backend.screen(case.good, case.task) == ()

    def test_screening_finds_computation_outside_the_kernel(self, case: BackendCase) -> None:
        findings = case.backend.screen(case.bypassing, case.task)
        assert findings
        for finding in findings:
            assert finding.rule and finding.message
            content = case.bypassing.files[finding.path]
            assert 1 <= finding.line <= len(content.splitlines())

    def test_a_build_is_of_its_candidate_and_says_how_it_was_made(
        self, case: BackendCase, build: Build
    ) -> None:
        assert build.candidate == case.good
        assert build.files
        assert build.toolchain
        assert build.wall_s >= 0.0

    def test_what_the_toolchain_refuses_is_a_value_with_its_words(self, case: BackendCase) -> None:
        refused = case.backend.build(case.uncompilable)
        assert isinstance(refused, Failure)
        assert refused.category is Category.COMPILE_ERROR
        assert refused.reason.strip()

    def test_a_candidate_returns_what_its_kernel_computes(
        self, case: BackendCase, module: Module
    ) -> None:
        for _ in range(2):
            returned = module.run(case.call.args)
            assert isinstance(returned, Returned), returned
            assert _plain(returned.outputs) == _plain(case.expected)
            assert returned.mutated_args == ()
            is_simulated = returned.profile is not None and returned.profile.simulated
            assert is_simulated is case.backend.is_simulated

    @pytest.mark.parametrize("poison", list(Poison))
    def test_poisoned_memory_does_not_show_in_a_right_answer(
        self, case: BackendCase, module: Module, poison: Poison
    ) -> None:
        returned = module.run(case.call.args, poison=poison)
        assert isinstance(returned, Returned), returned
        assert _plain(returned.outputs) == _plain(case.expected)

    def test_a_trace_shows_allowed_operators_only(self, case: BackendCase, module: Module) -> None:
        returned = module.run(case.call.args, is_traced=True)
        assert isinstance(returned, Returned), returned
        assert set(returned.dispatched) <= case.backend.allowed_operators()

    def test_a_crash_is_the_candidates_failure(self, case: BackendCase) -> None:
        build = case.backend.build(case.crashing)
        assert isinstance(build, Build), build
        with case.backend.open(build) as module:
            module.construct(case.call)
            failed = module.run(case.call.args)
            assert isinstance(failed, Failure)
            assert failed.reason.strip()

    def test_timed_work_takes_time_and_can_be_checked(
        self, case: BackendCase, module: Module
    ) -> None:
        assert module.hold([case.call.args, case.call.args]) is None
        for is_cold in (False, True):
            seconds = module.tick(0, repeats=3, is_cold=is_cold)
            assert isinstance(seconds, float), seconds
            assert 0.0 < seconds < 60.0
        outputs = module.last_outputs()
        assert not isinstance(outputs, Failure), outputs
        assert _plain(outputs) == _plain(case.expected)

    def test_a_profile_is_in_the_common_shape(self, case: BackendCase, build: Build) -> None:
        latency = Latency(100.0, 101.0, 1.0, LatencySource.MEASURED)
        profile = case.backend.profile(build, latency, bytes_moved=1_000_000)
        assert profile.backend == case.backend.name
        assert profile.tool
        assert profile.simulated is case.backend.is_simulated
        assert profile.bytes_moved == 1_000_000
        assert profile.duration_us == 100.0
        assert profile.achieved_gbps == pytest.approx(10.0)
        assert all(0.0 <= share <= 1.0 for _, share in profile.time_split)

    def test_memory_cannot_be_copied_infinitely_fast(self, case: BackendCase) -> None:
        for is_cold in (False, True):
            assert 0.01 < case.backend.copy_ceiling_gbps(1 << 20, is_cold=is_cold) < 1e5

    def test_an_artifact_stands_alone_and_is_the_same_each_time(self, case: BackendCase) -> None:
        files = dict(case.backend.export(case.good, case.task))
        assert "model.py" in files
        assert "import kernelwright" not in "".join(files.values())
        for path in files:
            assert not PurePosixPath(path).is_absolute()
            assert ".." not in PurePosixPath(path).parts
        assert dict(case.backend.export(case.good, case.task)) == files


def _plain(tree: Tree) -> list[tuple[str, object]]:
    return [
        (
            place,
            (leaf.dtype, leaf.shape, bytes(leaf.data)) if isinstance(leaf, Tensor) else leaf,
        )
        for place, leaf in leaves(tree)
    ]
