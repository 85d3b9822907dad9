"""`kernelwright runs`: what was run, and going on with it."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, emit, note, say, table
from kernelwright.cli.options import JsonFlag, StorePath
from kernelwright.cli.progress import ProgressDisplay, best_text, rollout_line
from kernelwright.cli.solve import show_solved
from kernelwright.core.budget import Budget
from kernelwright.wiring.history import list_runs, prune_runs, show_run
from kernelwright.wiring.settings import load_settings
from kernelwright.wiring.solving import resume

app = typer.Typer(no_args_is_help=True, help="List, show, resume and forget runs.")

RunId = Annotated[str, typer.Argument(help="Identity of a run, as `runs list` prints it.")]


@app.command("list", epilog="Example:\n\n  kernelwright runs list --json")
def list_command(store: StorePath = None, is_json: JsonFlag = False) -> int:
    """List the runs of a store, newest first."""
    rows = list_runs(load_settings(), store)
    if is_json:
        emit({"runs": [row.json for row in rows]})
        return EXIT_DONE
    cells = [
        (
            row.run.run_id,
            row.run.task_name,
            row.run.backend,
            row.run.status.value,
            f"{len(row.history.rollouts)}/{row.run.budget.rollouts or '-'}",
            best_text(row.history),
        )
        for row in rows
    ]
    say(table(("run", "task", "backend", "status", "rollouts", "best"), cells))
    return EXIT_DONE


@app.command("show", epilog="Example:\n\n  kernelwright runs show softmax-1a2b3c4d")
def show_command(run_id: RunId, store: StorePath = None, is_json: JsonFlag = False) -> int:
    """Show a run's rollouts in order."""
    row = show_run(load_settings(), store, run_id)
    if is_json:
        emit(row.json)
        return EXIT_DONE
    say(f"{row.run.run_id}: {row.run.task_name} on {row.run.backend}, {row.run.status.value}")
    for name, value in row.run.options:
        say(f"  {name}: {value}")
    for rollout in row.history.rollouts:
        say(rollout_line(rollout))
        if rollout.candidate.schedule:
            chosen = ", ".join(f"{name}={value}" for name, value in rollout.candidate.schedule)
            say(f"       {rollout.candidate.candidate_id}: {chosen}")
    say(f"best: {best_text(row.history)}")
    return EXIT_DONE


@app.command("resume", epilog="Example:\n\n  kernelwright runs resume softmax-1a2b3c4d --budget 30")
def resume_command(
    run_id: RunId,
    budget: Annotated[
        int | None, typer.Option(help="New limit of rollouts, those already done included.", min=1)
    ] = None,
    store: StorePath = None,
    is_json: JsonFlag = False,
) -> int:
    """Go on with a run where it stopped."""
    larger = None if budget is None else Budget(rollouts=budget)
    with ProgressDisplay(is_quiet=is_json) as display:
        solved = resume(run_id, load_settings(), store=store, budget=larger, tell=display)
    return show_solved(solved, is_json=is_json)


@app.command("prune", epilog="Example:\n\n  kernelwright runs prune softmax-1a2b3c4d")
def prune_command(
    run_ids: Annotated[list[str], typer.Argument(help="Runs to forget.")],
    store: StorePath = None,
    is_json: JsonFlag = False,
) -> int:
    """Forget runs and their rollouts; values are rebuilt from what remains."""
    forgotten = prune_runs(load_settings(), store, run_ids)
    if is_json:
        emit({"pruned": dict(forgotten)})
    else:
        for run_id, count in forgotten.items():
            note(f"forgot {run_id} with {count} rollouts")
    return EXIT_DONE
