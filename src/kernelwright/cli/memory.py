"""`kernelwright memory`: what was learned, and from what."""

from __future__ import annotations

from typing import Annotated

import typer

from kernelwright.cli.console import EXIT_DONE, EXIT_WRONG, emit, say, table
from kernelwright.cli.options import JsonFlag, StorePath
from kernelwright.core.memory_item import MemoryKind
from kernelwright.wiring.memory import list_items, rebuild_values, show_item
from kernelwright.wiring.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="List, show and rebuild what was learned.")


@app.command("list", epilog="Example:\n\n  kernelwright memory list --kind practice")
def list_command(
    kind: Annotated[MemoryKind | None, typer.Option(help="Only this kind.")] = None,
    backend: Annotated[str | None, typer.Option(help="Only items about this backend.")] = None,
    store: StorePath = None,
    is_json: JsonFlag = False,
) -> int:
    """List memory items with their values at each stage."""
    rows = list_items(load_settings(), store, kind=kind, backend=backend)
    if is_json:
        emit({"items": [row.json for row in rows]})
        return EXIT_DONE
    cells = [
        (
            row.item.item_id,
            row.item.kind.value,
            f"{row.draft.mean:+.3f} ({row.draft.count})",
            f"{row.refine.mean:+.3f} ({row.refine.count})",
            row.item.title[:70],
        )
        for row in rows
    ]
    say(table(("item", "kind", "draft value", "refine value", "title"), cells))
    return EXIT_DONE


@app.command("show", epilog="Example:\n\n  kernelwright memory show 1a2b3c4d5e6f7a8b")
def show_command(
    item_id: Annotated[str, typer.Argument(help="Identity of an item, or its first digits.")],
    store: StorePath = None,
    is_json: JsonFlag = False,
) -> int:
    """Show an item: its text, where it came from, and every reward that moved its values."""
    row = show_item(load_settings(), store, item_id)
    if is_json:
        emit(row.json)
        return EXIT_DONE
    item = row.item
    say(f"{item.kind.value} {item.item_id}: {item.title}")
    say(f"from: {item.rollout_id or 'seed knowledge'} {item.version}".rstrip())
    say(f"draft value {row.draft.mean:+.3f} ({row.draft.count} updates)")
    say(f"refine value {row.refine.mean:+.3f} ({row.refine.count} updates)")
    for rollout_id, update in row.updates:
        say(
            f"  {rollout_id}  {update.stage.value:<6}  reward {update.reward:+.3f}  "
            f"{update.before.mean:+.3f} -> {update.after.mean:+.3f}"
        )
    say("")
    say(item.body)
    return EXIT_DONE


@app.command("rebuild", epilog="Example:\n\n  kernelwright memory rebuild")
def rebuild_command(store: StorePath = None, is_json: JsonFlag = False) -> int:
    """Rebuild all values from the rollout log, and say whether the live ones were equal."""
    rebuilt = rebuild_values(load_settings(), store)
    if is_json:
        emit(
            {
                "values": rebuilt.values,
                "rollouts": rebuilt.rollouts,
                "different": list(rebuilt.different),
                "equal": not rebuilt.different,
            }
        )
    else:
        say(f"{rebuilt.values} values from {rebuilt.rollouts} rollouts")
        said = f"{len(rebuilt.different)} differed" if rebuilt.different else "all were equal"
        say(f"live values: {said}")
    return EXIT_WRONG if rebuilt.different else EXIT_DONE
