"""The two sides that are timed against each other, and what it means when one of them fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn

from kernelwright.core.execution import Failure
from kernelwright.core.ports import Module
from kernelwright.core.tensor import Tree
from kernelwright.verify.ratio import LEAST_S


class TimedFailure(Exception):
    """The candidate failed while it was timed; carries the failure to the gate.

    Attributes:
        failure: What went wrong.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


class BaselineFailed(Exception):
    """The reference failed while it was timed, which is no candidate's fault."""


@dataclass(frozen=True, slots=True)
class Duel:
    """The two modules that are timed against each other.

    Attributes:
        candidate: The candidate's module.
        baseline: The reference's module.
    """

    candidate: Module
    baseline: Module

    def hold(self, sets: list[tuple[Tree, ...]]) -> None:
        """Give both sides the same argument sets, at the same time."""
        with ThreadPoolExecutor(1) as aside:
            theirs = aside.submit(self.baseline.hold, sets)
            mine = self.candidate.hold(sets)
        for module, failure in ((self.baseline, theirs.result()), (self.candidate, mine)):
            if failure is not None:
                self._fail(module, failure)

    def tick(
        self,
        module: Module,
        index: int,
        *,
        repeats: int,
        is_cold: bool = False,
        keep: int | None = None,
    ) -> float:
        """Return the seconds of one call; the outputs of call `keep`, or the last, are kept."""
        spent = module.tick(index, repeats=repeats, is_cold=is_cold, keep=keep)
        if isinstance(spent, Failure):
            self._fail(module, spent)
        return max(spent / repeats, LEAST_S)

    def outputs(self) -> tuple[Tree, Tree]:
        """Return what the kept timed call of the candidate, and of the baseline, returned."""
        with ThreadPoolExecutor(1) as aside:
            theirs = aside.submit(self.baseline.last_outputs)
            mine = self.candidate.last_outputs()
        right = theirs.result()
        if isinstance(right, Failure):
            self._fail(self.baseline, right)
        if isinstance(mine, Failure):
            self._fail(self.candidate, mine)
        return mine, right

    def _fail(self, module: Module, failure: Failure) -> NoReturn:
        if module is self.baseline:
            raise BaselineFailed(failure.reason)
        raise TimedFailure(failure)
