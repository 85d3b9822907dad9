"""Solving: begin or resume a run, work on it, and leave the best candidate where it is wanted."""

from __future__ import annotations

import secrets
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from kernelwright.core.budget import Budget
from kernelwright.core.fingerprint import Json, fingerprint
from kernelwright.core.ports import Store
from kernelwright.core.run import Run
from kernelwright.core.task import Tolerance
from kernelwright.engine.campaign import limit_reached, work
from kernelwright.engine.events import Listener, RunEnded, RunStarted
from kernelwright.engine.rollout import Crew
from kernelwright.wiring.backends import make_generator, make_strategy
from kernelwright.wiring.bench import Bench, opened_bench
from kernelwright.wiring.delivery import Delivery, finished_report, product_versions
from kernelwright.wiring.history import found_run
from kernelwright.wiring.memory import make_memory
from kernelwright.wiring.options import SolveOptions, TaskOptions
from kernelwright.wiring.settings import Settings
from kernelwright.wiring.stores import claimed, opened_store, store_path
from kernelwright.wiring.verifying import admitted

OUT = Path("kernelwright-out")


@dataclass(frozen=True, slots=True)
class Solved:
    """What a run left: its report, as `solve --json` prints it, and the folder with the files."""

    report: dict[str, Json]
    folder: Path


def solve(options: SolveOptions, settings: Settings, *, tell: Listener) -> Solved:
    """Begin a run, or go on with the one that has the same options, until its budget is spent.

    Raises:
        UsageMistake: if an option or the task file is wrong.
        MachineLacks: if the toolchain or the sandbox is not to be had.
        NotCovered: if the generator cannot write any kernel for the task.
        StoreConflict: if another process is working on the same run.
    """
    with (
        opened_store(settings, options.store) as store,
        opened_bench(options.task, options.backend, settings, tell=tell) as bench,
    ):
        run = _run_for(options, bench, store)
        with claimed(store_path(settings, options.store), run.run_id):
            return _worked(options, settings, bench=bench, store=store, run=run, tell=tell)


def resume(
    run_id: str,
    settings: Settings,
    *,
    store: Path | None,
    budget: Budget | None,
    tell: Listener,
) -> Solved:
    """Go on with the run of that identity; `budget` replaces its own.

    The task is read from the store, so that it goes on although the file was changed or moved.

    Raises:
        UnknownName: if there is no such run.
    """
    with opened_store(settings, store) as opened:
        run = found_run(opened, run_id)
        source = opened.get_blob(dict(run.options)["source"])
    with tempfile.TemporaryDirectory(prefix="kernelwright-task-") as folder:
        # The file's name is the task's name.
        path = Path(folder) / f"{run.task_name}.py"
        path.write_bytes(source)
        options = replace(
            _options_of(run, path), store=store, budget=run.budget if budget is None else budget
        )
        return solve(options, settings, tell=tell)


def _worked(
    options: SolveOptions,
    settings: Settings,
    *,
    bench: Bench,
    store: Store,
    run: Run,
    tell: Listener,
) -> Solved:
    folder = options.out or OUT / bench.task.name
    history = store.history(run.run_id)
    spent = limit_reached(run, history)
    known = finished_report(folder, run, history) if spent is not None else None
    if known is not None:
        tell(RunStarted(run, bench.task, history))
        tell(RunEnded(run, history, spent or ""))
        return Solved(known, folder)
    admission, verifier = admitted(bench, options.tolerance, tell=tell)
    generator = make_generator(options.generator, bench.sandbox)
    store.seed_items(bench.backend.knowledge())
    crew = Crew(
        strategy=make_strategy(options.strategy),
        memory=make_memory(settings),
        generator=generator,
        verifier=verifier,
        store=store,
        versions=tuple({**product_versions(), **generator.versions()}.items()),
        clock=time.time,
    )
    delivery = Delivery(
        folder, bench, run, admission=admission, tolerance=options.tolerance, tell=tell
    )
    try:
        work(crew, run, bench.task, tell=delivery)
    except KeyboardInterrupt:
        # What was found so far is worth having.
        delivery.write(store.history(run.run_id))
        raise
    return Solved(delivery.write(store.history(run.run_id)), folder)


def _run_for(options: SolveOptions, bench: Bench, store: Store) -> Run:
    chosen = {
        "generator": options.generator,
        "strategy": options.strategy,
        "tolerance": options.tolerance.value,
        "seed": str(options.seed),
        "max_bytes": str(options.task.max_bytes),
        "max_flops": str(options.task.max_flops),
    }
    key = fingerprint(["run", bench.task.task_id, options.backend, chosen])
    known = store.runs(key=key)
    if known and not options.is_fresh:
        return replace(known[0], budget=options.budget)
    source = store.put_blob(options.task.path.read_bytes())
    out = options.out or OUT / bench.task.name
    places = {"source": source, "path": str(options.task.path), "out": str(out.absolute())}
    return store.begin(
        Run(
            run_id=f"{bench.task.name}-{secrets.token_hex(4)}",
            key=key,
            task_id=bench.task.task_id,
            task_name=bench.task.name,
            backend=options.backend,
            options=tuple({**chosen, **places}.items()),
            budget=options.budget,
            seed=options.seed,
            started_at=time.time(),
        )
    )


def _options_of(run: Run, path: Path) -> SolveOptions:
    chosen = dict(run.options)
    sizes = [
        None if chosen[name] == "None" else int(chosen[name]) for name in ("max_bytes", "max_flops")
    ]
    return SolveOptions(
        task=TaskOptions(path, *sizes),
        backend=run.backend,
        generator=chosen["generator"],
        strategy=chosen["strategy"],
        tolerance=Tolerance(chosen["tolerance"]),
        budget=run.budget,
        seed=run.seed,
        out=Path(chosen["out"]),
    )
