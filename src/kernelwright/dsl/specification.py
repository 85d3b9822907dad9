"""The compact specification of the language, for a model's prompt; made from the tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kernelwright.dsl.builtins import BUILTINS, SCALAR_FUNCTIONS
from kernelwright.dsl.codes import CODES
from kernelwright.dsl.primitive import Builtin, DTypeRule, ShapeRule
from kernelwright.dsl.types import DType

TEMPLATE = Path(__file__).with_name("specification.md")
"""The text around the tables; {broadcast}, {primitives}, {scalars} and {codes} are filled in."""


def specification() -> str:
    """The language in a few pages of Markdown: structure, rules, every primitive, every code."""
    broadcast = " ".join(
        f"`{row.name}`" for row in BUILTINS.values() if row.shape is ShapeRule.BROADCAST
    )
    scalars = "\n".join(
        f"- `tl.{row.name}`{_place(row.where)}: {row.doc}" for row in SCALAR_FUNCTIONS.values()
    )
    codes = "\n".join(f"- {code}: {entry.title}" for code, entry in CODES.items())
    text = TEMPLATE.read_text(encoding="utf-8")
    parts = {
        "broadcast": broadcast,
        "primitives": "\n".join(_rows(BUILTINS.values())),
        "scalars": scalars,
        "codes": codes,
    }
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    return text


def _rows(rows: Iterable[Builtin]) -> Iterable[str]:
    for row in rows:
        yield f"- `{row.signature}` {row.doc} {_types(row)}"


def _types(row: Builtin) -> str:
    names = " ".join(_short(row.dtypes))
    if row.dtype is DTypeRule.MASK:
        return f'({names}; d is a "mask")'
    return f"({names})"


def _short(dtypes: tuple[DType, ...]) -> list[str]:
    return [dtype.value for dtype in dtypes]


def _place(where: str) -> str:
    return "" if where == "both" else f" ({where} only)"
