"""The contract of a generator."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.ports import Generation, GenerationRequest, Generator


@dataclass(frozen=True, slots=True)
class GeneratorCase:
    """A generator to test.

    Attributes:
        generator: The generator.
        same: A second one, made the same way.
        draft: A draft of a task that it can write.
        refine: A refinement of a candidate of that task, which `draft.history` may lack.
        uncovered: A request that it cannot fulfil, or None if it takes every task.
    """

    generator: Generator
    same: Generator
    draft: GenerationRequest
    refine: GenerationRequest
    uncovered: GenerationRequest | None = None

    @property
    def requests(self) -> tuple[GenerationRequest, GenerationRequest]:
        """The two requests that it can fulfil."""
        return self.draft, self.refine


class GeneratorContract:
    """What holds for every generator; define the fixture `case`."""

    @pytest.fixture
    def case(self) -> GeneratorCase:
        """Return the generator under test."""
        raise NotImplementedError("define the fixture `case`")

    def test_it_names_itself_and_what_can_change_its_work(self, case: GeneratorCase) -> None:
        assert case.generator.name
        versions = dict(case.generator.versions())
        assert versions
        assert all(isinstance(text, str) and text for pair in versions.items() for text in pair)

    def test_a_candidate_is_written_for_the_backend(self, case: GeneratorCase) -> None:
        for request in case.requests:
            candidate = _made(case.generator, request)
            assert candidate.backend == request.backend
            assert candidate.parts
            assert all(content.strip() for _, content in candidate.parts)

    def test_parts_stay_inside_their_folder(self, case: GeneratorCase) -> None:
        for request in case.requests:
            for path, _ in _made(case.generator, request).parts:
                place = PurePosixPath(path)
                assert not place.is_absolute()
                assert ".." not in place.parts

    def test_a_candidate_says_where_it_came_from(self, case: GeneratorCase) -> None:
        for request in case.requests:
            candidate = _made(case.generator, request)
            assert candidate.origin == case.generator.name
            assert candidate.parent == request.proposal.start_point
            assert candidate.context == tuple(item.item_id for item in request.context)

    def test_equal_requests_and_random_states_give_equal_candidates(
        self, case: GeneratorCase
    ) -> None:
        for request in case.requests:
            first = _made(case.generator, request)
            assert _made(case.generator, request) == first
            assert _made(case.same, request) == first

    def test_it_draws_from_the_given_random_source_only(self, case: GeneratorCase) -> None:
        for request in case.requests:
            random.seed(1)
            before = random.getstate()
            _made(case.generator, request)
            assert random.getstate() == before

    def test_it_says_what_it_spent(self, case: GeneratorCase) -> None:
        usage = _generation(case.generator, case.draft).usage
        assert usage.seconds >= 0.0
        assert usage.input_tokens >= 0
        assert usage.output_tokens >= 0
        assert usage.money_usd >= 0.0

    def test_a_task_that_it_cannot_write_is_refused_with_a_reason(
        self, case: GeneratorCase
    ) -> None:
        if case.uncovered is None:
            return
        with pytest.raises(NotCovered) as caught:
            _generation(case.generator, case.uncovered)
        assert caught.value.what
        assert caught.value.fix


def _generation(generator: Generator, request: GenerationRequest) -> Generation:
    return generator.generate(request, rng=random.Random(5))


def _made(generator: Generator, request: GenerationRequest) -> Candidate:
    return _generation(generator, request).candidate
