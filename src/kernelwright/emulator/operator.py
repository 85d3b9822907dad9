"""An operator as its host library registered it: operands, attributes, data type combinations."""

from __future__ import annotations

import json
from dataclasses import dataclass

from kernelwright.core.fingerprint import Json


@dataclass(frozen=True, slots=True)
class Operand:
    """One input or output.

    Attributes:
        name: Its name in the definition.
        option: `required`, `optional` or `dynamic`.
        types: Data types, one a combination, in the words of a project's JSON.
        formats: Memory formats, one a combination.
    """

    name: str
    option: str
    types: tuple[str, ...]
    formats: tuple[str, ...]

    def type_of(self, combination: int) -> str:
        """Return the data type in a combination, empty where the definition gives none."""
        return _entry(self.types, combination)

    def format_of(self, combination: int) -> str:
        """Return the memory format in a combination, ND where the definition gives none."""
        return _entry(self.formats, combination) or "ND"


@dataclass(frozen=True, slots=True)
class Operator:
    """One registered operator.

    Attributes:
        type: Its type, such as `TanhCustom`.
        inputs: Inputs in order.
        outputs: Outputs in order.
        attributes: Names of its attributes in order.
        socs: Chips that it is configured for.
        has_tiling: Whether it has a tiling function.
    """

    type: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: tuple[str, ...]
    socs: tuple[str, ...]
    has_tiling: bool

    @property
    def combinations(self) -> int:
        """How many data type combinations there are; at least one."""
        return max(1, *(len(operand.types) for operand in (*self.inputs, *self.outputs)), 1)


def operators_from(text: str) -> tuple[Operator, ...]:
    """Read what the host library says of itself.

    Raises:
        ValueError: if `text` is no such answer.
    """
    document = json.loads(text)
    if not isinstance(document, list):
        raise ValueError("the host library's answer is no list")
    return tuple(_operator(entry) for entry in document)


def _operator(entry: dict[str, Json]) -> Operator:
    try:
        return Operator(
            str(entry["type"]),
            _operands(entry["inputs"]),
            _operands(entry["outputs"]),
            tuple(str(one["name"]) for one in _dicts(entry["attrs"])),
            _words(entry["socs"]),
            bool(entry["has_tiling"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"an operator's description lacks {error}") from error


def _operands(value: Json) -> tuple[Operand, ...]:
    return tuple(
        Operand(str(one["name"]), str(one["option"]), _words(one["types"]), _words(one["formats"]))
        for one in _dicts(value)
    )


def _dicts(value: Json) -> list[dict[str, Json]]:
    if not isinstance(value, list):
        raise TypeError("a list")
    return [one for one in value if isinstance(one, dict)]


def _words(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("a list of words")
    return tuple(str(word) for word in value)


def _entry(values: tuple[str, ...], combination: int) -> str:
    if not values:
        return ""
    return values[combination] if combination < len(values) else values[0]
