"""The programs that several tests of the language use."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "dsl").glob("*.py"))
WELL_FORMED = sorted((ROOT / "tests" / "unit" / "dsl" / "well_formed").glob("*.dsl"))
ILL_FORMED = sorted((ROOT / "tests" / "unit" / "dsl" / "ill_formed").glob("*.dsl"))
ACCEPTED = [*EXAMPLES, *WELL_FORMED]

HEAD = "import kernelwright.language as tl\n\n\n"

MAP = (
    HEAD
    + """@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.exp(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
"""
)
"""A kernel that every test can bend to its purpose."""
