"""Plans the workloads of a verification from secret seeds: `workload plan 1` of docs/tasks.md.

The order is by what each kind finds: the official inputs, signed inputs with redrawn parameters,
an edge shape, other layouts, then magnitudes, ties and special values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kernelwright.core.execution import Distribution, ParameterDraw, Workload

OFFICIAL = Workload(seed=0)


@dataclass(frozen=True, slots=True)
class Traits:
    """What of a task's workloads can be drawn otherwise.

    Attributes:
        can_redraw: Whether an input holds free real numbers.
        can_randomise: Whether there are floating-point parameters.
        can_restride: Whether an input has more than one element.
        edge: Sizes of the edge shape, empty if there is none.
    """

    can_redraw: bool
    can_randomise: bool
    can_restride: bool
    edge: tuple[tuple[str, int], ...] = ()


def kinds(traits: Traits) -> tuple[tuple[Workload, ...], ...]:
    """Return every kind of workload of a task after the official one, as alternatives.

    Of the alternatives of one kind, the first that makes a fair test is planned.
    """
    randomised = ParameterDraw.RANDOMISED if traits.can_randomise else ParameterDraw.OFFICIAL
    drawn = replace(OFFICIAL, parameters=randomised)
    found: list[tuple[Workload, ...]] = []
    if traits.can_redraw:
        signed = replace(drawn, distribution=Distribution.SIGNED)
        found.append((signed, drawn, replace(signed, parameters=ParameterDraw.OFFICIAL)))
    elif traits.can_randomise:
        found.append((drawn,))
    if traits.edge:
        found.append((replace(drawn, sizes=traits.edge), replace(OFFICIAL, sizes=traits.edge)))
    if traits.can_restride:
        strided = replace(drawn, is_strided=True)
        if traits.can_redraw:
            signed = replace(strided, distribution=Distribution.SIGNED)
            found.append((signed, strided, replace(OFFICIAL, is_strided=True)))
        else:
            found.append((strided, replace(OFFICIAL, is_strided=True)))
    if traits.can_redraw:
        found.append((replace(OFFICIAL, distribution=Distribution.LARGE),))
        found.append((replace(drawn, distribution=Distribution.TIES),))
        found.append((replace(OFFICIAL, distribution=Distribution.SPECIAL),))
        found.append((replace(drawn, distribution=Distribution.TINY),))
    return tuple(found)


def planned(
    seeds: Sequence[int],
    choices: Sequence[Sequence[Workload]],
    is_fair: Callable[[Workload], bool],
) -> tuple[Workload, ...]:
    """Return one workload a seed: the official one, each fair kind, then over again.

    `is_fair` is asked about templates with seed 0, and only about as many as there are seeds.
    """
    templates = [OFFICIAL]
    for alternatives in choices:
        if len(templates) >= len(seeds):
            break
        for template in alternatives:
            if template in templates:
                break
            if is_fair(template):
                templates.append(template)
                break
    return tuple(
        replace(templates[index % len(templates)], seed=seed) for index, seed in enumerate(seeds)
    )
