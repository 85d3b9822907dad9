"""What the checks accept breaks no rule at run time: the interpreter finds no fault."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kernelwright.dsl import LaunchRefused, Program, check_file, specialised
from kernelwright.dsl.bind import Number
from kernelwright.dsl.evaluate import evaluate
from kernelwright.dsl.interpret import NUMPY, run
from kernelwright.dsl.nodes import Kernel
from kernelwright.dsl.types import DType
from support.dsl_programs import ACCEPTED

SIZES = [1, 1, 2, 3, 4, 7, 8, 9, 31, 64, 65, 130]
SMALL = {"TILE": 64, "COLS": 64, "ROWS": 4, "T": 16, "CORES": 4}


def constants(kernel: Kernel) -> dict[str, Number]:
    """Small values, so that tails and several tiles occur at small sizes."""
    found: dict[str, Number] = {}
    for param in kernel.consts:
        default = 2 if param.default is None else param.default
        found[param.name.text] = SMALL.get(param.name.text, default)
    return found


def drawn(
    rng: random.Random, kernel: Kernel, consts: dict[str, Number]
) -> dict[str, object] | None:
    """Arguments of random shape; None where the shapes are no shapes."""
    names: dict[str, Number] = {dim.text: rng.choice(SIZES) for dim in kernel.dims}
    names |= consts
    for param in kernel.scalars:
        names[param.name.text] = rng.choice([1, 2, 5]) if param.type is DType.I64 else 0.5
    given: dict[str, object] = {param.name.text: names[param.name.text] for param in kernel.scalars}
    values = np.random.default_rng(rng.randrange(1 << 30))
    for tensor in kernel.tensors:
        shape = tuple(int(evaluate(dim, names)) for dim in tensor.type.dims)
        if any(size < 1 for size in shape) or int(np.prod(shape)) > 50_000:
            return None
        given[tensor.name.text] = values.integers(0, 5, size=shape).astype(NUMPY[tensor.type.dtype])
    return given


def runs(rng: random.Random, program: Program, kernel: Kernel, wanted: int) -> int:
    """Run a kernel on random shapes, core counts and orders; give how many runs there were."""
    consts = constants(kernel)
    assert specialised(kernel, consts).is_ok
    done = 0
    for _ in range(400):
        given = drawn(rng, kernel, consts)
        if given is None:
            continue
        cores = rng.choice([1, 2, 3, 4])
        if "NC" in {dim.text for dim in kernel.dims} and "w" in given:
            workspace = np.asarray(given["w"])
            cores = workspace.shape[0] if workspace.shape[0] <= 4 else cores
        order = rng.choice(["sequential", "random", "interleaved"])
        try:
            outcome = run(
                program, kernel.name.text, given, schedule=dict(consts), cores=cores, order=order,  # type: ignore[arg-type]
                rng=np.random.default_rng(rng.randrange(1 << 30)),
            )  # fmt: skip
        except LaunchRefused:
            continue
        assert outcome.fault is None, outcome.fault.to_text()
        done += 1
        if done == wanted:
            break
    return done


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_an_accepted_program_runs_without_a_fault(path: Path) -> None:
    program = check_file(path).program
    assert program is not None
    rng = random.Random(path.stem)
    for kernel in program.kernels:
        assert runs(rng, program, kernel, 4) >= 1, "no shape satisfied the requirements"
