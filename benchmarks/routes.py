"""The two ways to print the offline generator's kernels, against PyTorch eager, interleaved.

    python benchmarks/routes.py KernelBench/KernelBench/level1/2?_*.py

For every task file: the default schedule printed from the kernel language (dsl) and as C++
directly (cpp), and eager, in one run: rounds in alternating order, medians of paired ratios (and
the quartiles of the one that decides), one thread, warm caches. Writes results/routes.json; it is
why `synth/route.py` chooses as it does.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
from pathlib import Path
from typing import TypeAlias

from kernelwright.core.errors import KernelwrightError
from kernelwright.core.execution import Failure, Workload
from kernelwright.core.ports import Module
from kernelwright.synth.generator import OfflineGenerator
from kernelwright.wiring.bench import Bench, opened_bench
from kernelwright.wiring.options import TaskOptions
from kernelwright.wiring.settings import Settings

RESULTS = Path(__file__).parent / "results" / "routes.json"
ROUNDS = 41
ROUND_S = 0.03
MAX_BYTES = 64 << 20
MAX_FLOPS = 2_000_000_000


Found: TypeAlias = "dict[str, float | str | list[float]]"


def measured(path: Path) -> Found:
    """Return the ratios of one task file.

    Raises:
        KernelwrightError: if the generator does not cover it.
    """
    options = TaskOptions(path=path, max_bytes=MAX_BYTES, max_flops=MAX_FLOPS)
    with opened_bench(options, "cpu", Settings()) as bench, contextlib.ExitStack() as stack:
        plan = OfflineGenerator(bench.sandbox).plan(bench.task)
        routes = dict(plan.space.choices).get("route", ())
        if not routes:
            return {"stopped": "; ".join(why for _, why in plan.routes.stopped)}
        modules = {"eager": stack.enter_context(bench.oracle.baseline())}
        for route in routes:
            candidate = plan.candidate(
                {**plan.space.default(), "route": route}, parent=None, context=()
            )
            built = bench.backend.build(candidate)
            assert not isinstance(built, Failure), built
            modules[route] = stack.enter_context(bench.backend.open(built))
        times = _times(bench, modules)
        found: Found = {"default": routes[0], "content": bench.task.task_id}
        for over, under in (("eager", "dsl"), ("eager", "cpp"), ("cpp", "dsl")):
            ratios = [a / b for a, b in zip(times[over], times[under], strict=True)]
            found[f"{over}/{under}"] = round(statistics.median(ratios), 3)
        low, _, high = statistics.quantiles(ratios, n=4)
        return {**found, "cpp/dsl quartiles": [round(low, 3), round(high, 3)]}


def _times(bench: Bench, modules: dict[str, Module]) -> dict[str, list[float]]:
    call = bench.oracle.call(Workload(seed=1))
    for module in modules.values():
        assert not isinstance(module.construct(call), Failure)
        assert module.hold([call.args]) is None
        _tick(module, 1)
    repeats = max(1, int(ROUND_S / max(_tick(module, 1) for module in modules.values())))
    times: dict[str, list[float]] = {name: [] for name in modules}
    for turn in range(ROUNDS):
        names = list(modules) if turn % 2 else list(reversed(modules))
        for name in names:
            times[name].append(_tick(modules[name], repeats))
    return times


def _tick(module: Module, repeats: int) -> float:
    seconds = module.tick(0, repeats=repeats, is_cold=False)
    assert isinstance(seconds, float), seconds
    return max(seconds / repeats, 1e-9)


def main(paths: list[str]) -> None:
    """Measure every file, print a line each, and write the results."""
    found: dict[str, Found] = {}
    for path in map(Path, paths):
        try:
            found[path.stem] = measured(path)
        except KernelwrightError as error:
            found[path.stem] = {"not covered": str(error).splitlines()[0]}
        print(path.stem, found[path.stem], flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
