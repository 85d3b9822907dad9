"""What the gates decide by policy: every choice is named, has a default, and is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kernelwright.core.task import Tolerance


@dataclass(frozen=True, slots=True)
class Policy:
    """Named settings of the gates; docs/verify.md says why each default is what it is.

    Attributes:
        tolerance: Rule by which outputs are compared.
        is_shape_specialisation_allowed: Whether a candidate may refuse an edge shape with a loud
            exception. A wrong answer there always fails.
        is_every_trial_run: Whether the trials after a numerical mismatch run too, so that
            feedback can say how many passed, as EvoKernel's does.
        failing_trials_s: Seconds after which a candidate that has failed a trial gets no more.
        traced_share: Probability with which a trial after the first is traced.
        roofline_margin: Factor by which a kernel may beat the measured copy bandwidth before its
            figure is refused (see `roofline.py`).
        meaningful_bytes: Working sets below this fit a private cache, where no copy bandwidth
            bounds a kernel; the roofline is not applied and the details say so.
    """

    tolerance: Tolerance = Tolerance.STRICT
    is_shape_specialisation_allowed: bool = True
    is_every_trial_run: bool = True
    failing_trials_s: float = 1.0
    traced_share: float = 0.5
    roofline_margin: float = 1.5
    meaningful_bytes: int = 1 << 20


class Stopwatch:
    """Wall time by phase, for the details of a gate's report."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = self._last = clock()
        self._spent: dict[str, float] = {}

    def lap(self, phase: str) -> None:
        """Count the time since the last lap as spent on `phase`."""
        now = self._clock()
        self._spent[phase] = self._spent.get(phase, 0.0) + now - self._last
        self._last = now

    @property
    def total_s(self) -> float:
        """Seconds since the stopwatch was made."""
        return self._clock() - self._started

    @property
    def details(self) -> tuple[tuple[str, str], ...]:
        """Phases in the order in which they first came, as (`<phase>_s`, seconds) details."""
        return tuple((f"{phase}_s", f"{spent:.3f}") for phase, spent in self._spent.items())


def joined(words: Iterable[object]) -> str:
    """Return words as one detail, separated by commas."""
    return ", ".join(str(word) for word in words)
