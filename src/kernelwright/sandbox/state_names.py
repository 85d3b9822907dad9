"""Which parameter of a module is which of the reference's, where they have other names.

Both sides construct after the same seed, so an honest module holds the same numbers under whatever
names. Once paired by content, other numbers can be copied in: a module that ignores a bias because
it happens to be zero is found out.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelwright.core.execution import Failure
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import ITEM_BYTES, Tensor
from kernelwright.core.verdict import Category

_FLOATS = frozenset({"float64", "float32", "float16", "bfloat16"})
_STATISTICS = re.compile(r"(?:.*\.)?(?:running_\w+|num_batches_tracked)")


@dataclass(frozen=True, slots=True)
class Held:
    """One parameter or buffer that a module says it holds.

    Attributes:
        name: Its name in the module.
        dtype: Element type.
        shape: Extents.
        digest: CRC-32 of its bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    digest: int


@dataclass(slots=True)
class Pairing:
    """Which names of one module stand for the reference's; learned once, good for all draws."""

    names: dict[str, str] = field(default_factory=dict)

    def of(self, answer: Mapping[str, Json], state: Mapping[str, Tensor]) -> dict[str, str] | None:
        """Return the module's name for each of the reference's; None while they are not known.

        `answer` is what the module says of its state: names, shapes and dtypes.
        """
        said = {item.name: (item.dtype, item.shape) for item in _held_in(answer)}
        if said == {name: (tensor.dtype, tensor.shape) for name, tensor in state.items()}:
            return {name: name for name in state}
        return self.names if set(self.names) == set(state) else None

    def learned(
        self, answer: Mapping[str, Json], state: Mapping[str, Tensor]
    ) -> dict[str, str] | Failure | None:
        """Learn the names from what the module says with digests; None if some stay unknown."""
        held = _held_in(answer)
        self.names = paired(state, held)
        absent = left_out(state, held, self.names)
        if absent:
            return Failure(
                Category.HACK,
                f"the module holds no parameter for {', '.join(absent)} of the reference, which"
                " may have other values than at first: keep it as a parameter, and use it",
            )
        return self.names if set(self.names) == set(state) else None


def paired(reference: Mapping[str, Tensor], held: Sequence[Held]) -> dict[str, str]:
    """Return the module's name for each of the reference's that is found by shape and content.

    Several with the same content (all zeros, say) are told apart by name, then by order.
    """
    free = {item.name: item for item in held}
    found: dict[str, str] = {}
    for name, tensor in reference.items():
        digest = zlib.crc32(tensor.data)
        alike = [
            item.name
            for item in free.values()
            if (item.dtype, item.shape, item.digest) == (tensor.dtype, tensor.shape, digest)
        ]
        if alike:
            found[name] = max(alike, key=lambda other: _likeness(name, other))
            del free[found[name]]
    return found


def left_out(
    reference: Mapping[str, Tensor], held: Sequence[Held], pairs: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the reference's constant parameters for which the module has no room at all.

    A parameter that starts as all zeros or all ones is not drawn, so seeding alike says nothing
    about whether the module uses it. Statistics of a normalisation are no parameters.
    """
    missing = {
        name: tensor.count
        for name, tensor in reference.items()
        if name not in pairs and not _STATISTICS.fullmatch(name) and _is_constant(tensor)
    }
    taken = set(pairs.values())
    room = sum(
        _count(item.shape) for item in held if item.name not in taken and item.dtype in _FLOATS
    )
    return tuple(missing) if sum(missing.values()) > room else ()


def _likeness(one: str, other: str) -> int:
    return len(os.path.commonprefix([one[::-1], other[::-1]]))


def _is_constant(tensor: Tensor) -> bool:
    if tensor.dtype not in _FLOATS or tensor.count < 2:
        return False
    size = ITEM_BYTES[tensor.dtype]
    data = bytes(tensor.data)
    return data == data[:size] * tensor.count


def _count(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _held_in(answer: Mapping[str, Json]) -> list[Held]:
    entries = answer.get("state")
    found = []
    for entry in entries if isinstance(entries, Sequence) and not isinstance(entries, str) else ():
        if isinstance(entry, Mapping):
            shape, number = entry.get("shape"), entry.get("digest")
            extents = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else ()
            found.append(
                Held(
                    str(entry.get("name")),
                    str(entry.get("dtype")),
                    tuple(n for n in extents if isinstance(n, int)),
                    number if isinstance(number, int) else -1,
                )
            )
    return found
