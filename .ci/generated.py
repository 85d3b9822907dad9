"""Write the generated sections of the documentation, or say which ones are stale.

    python .ci/generated.py            rewrite them
    python .ci/generated.py --check    exit 1 if one of them is not what it would be now

A section stands between `<!-- generated: NAME -->` and `<!-- end -->`; `SECTIONS` explains NAME.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = re.compile(
    r"^(?P<open><!-- generated: (?P<name>[\w-]+) -->\n)(?P<body>.*?)(?P<close><!-- end -->)",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """Every page that may hold generated sections."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def help_of(*words: str) -> str:
    """Return what `kernelwright WORDS --help` prints at a fixed width."""
    plain = {"COLUMNS": "88", "TERM": "dumb", "NO_COLOR": "1", "_TYPER_FORCE_DISABLE_TERMINAL": "1"}
    command = [Path(sys.executable).parent / "kernelwright", *words, "--help"]
    done = subprocess.run(
        command, env=os.environ | plain, capture_output=True, text=True, check=True, timeout=60
    )
    lines = [line.rstrip() for line in done.stdout.strip().splitlines()]
    return "\n".join(lines).strip() + "\n"


def commands_in(text: str) -> list[str]:
    """Return the sub-commands that a help text lists."""
    _, found, below = text.partition("Commands")
    return re.findall(r"^[│ ] ([a-z]+(?:-[a-z]+)*)  ", below, re.MULTILINE) if found else []


def command_line() -> str:
    """Every command with its help, in the order in which the help lists them."""
    parts = []
    queue: list[tuple[str, ...]] = [()]
    while queue:
        words = queue.pop(0)
        text = help_of(*words)
        title = " ".join(("kernelwright", *words))
        parts.append(f"### `{title}`\n\n```text\n{text}```\n")
        queue[:0] = [(*words, name) for name in commands_in(text)]
    return "\n".join(parts)


def extensions() -> str:
    """A table of what is built in, by kind."""
    from kernelwright.wiring import registries

    rows = ["| kind | built in | entry-point group of other packages |", "|---|---|---|"]
    for name in ("BACKENDS", "GENERATORS", "STRATEGIES", "STORES", "MODELS", "LOWERINGS"):
        registry = getattr(registries, name)
        built_in = ", ".join(f"`{key}`" for key in registry.built_in) or "none yet"
        rows.append(f"| {registry.kind} | {built_in} | `{registry.group}` |")
    return "\n".join(rows) + "\n"


def packages() -> str:
    """The packages with the first line of their docstrings."""
    rows = []
    for init in sorted((ROOT / "src" / "kernelwright").glob("*/__init__.py")):
        found = re.match(r'"""(.*?)(?:"""|\n)', init.read_text(encoding="utf-8"))
        if found is None:
            raise SystemExit(f"{init.relative_to(ROOT)} has no docstring")
        rows.append(f"  {init.parent.name + '/':<12} {found[1].rstrip('.')}")
    return "```text\nsrc/kernelwright/\n" + "\n".join(rows) + "\n```\n"


def primitives() -> str:
    """Every operation of the kernel language, from its table."""
    from kernelwright.dsl.builtins import BUILTINS

    rows = ["| call | meaning | element types | extent of the result | on the NPU |"]
    rows.append("|---|---|---|---|---|")
    for row in BUILTINS.values():
        doc = row.doc.replace("|", "\\|")
        types = " ".join(dtype.value for dtype in row.dtypes)
        call = f"`{row.ascendc}`" if row.ascendc else "composed"
        rows.append(f"| `{row.signature}` | {doc} | {types} | {row.shape.value} | {call} |")
    return "\n".join(rows) + "\n"


def scalar_functions() -> str:
    """Every function of scalars in the kernel language."""
    from kernelwright.dsl.builtins import REDUCTIONS, SCALAR_FUNCTIONS

    where = {"both": "kernels and host code", "kernel": "kernels", "host": "host code"}
    rows = ["| function | meaning | where |", "|---|---|---|"]
    for row in SCALAR_FUNCTIONS.values():
        rows.append(f"| `tl.{row.name}` | {row.doc} | {where[row.where]} |")
    names = " ".join(f"`tl.{name}(b)`" for name in REDUCTIONS)
    rows.append(f"| {names} | Over the whole valid extent of a buffer. | inside `tl.compute()` |")
    rows.append(
        "| `tl.load_scalar(x[i, j])` | One element of global memory. | inside `tl.copyin()` |"
    )
    return "\n".join(rows) + "\n"


def diagnostic_codes() -> str:
    """Every diagnostic of the kernel language."""
    from kernelwright.dsl.codes import CODES

    rows = ["| code | meaning |", "|---|---|"]
    rows += [f"| {code} | {entry.title} |" for code, entry in CODES.items()]
    return "\n".join(rows) + "\n"


SECTIONS: Mapping[str, Callable[[], str]] = {
    "command-line": command_line,
    "extensions": extensions,
    "packages": packages,
    "primitives": primitives,
    "scalar-functions": scalar_functions,
    "diagnostic-codes": diagnostic_codes,
}


def renewed(page: str) -> str:
    """Return a page with every generated section as it would be now.

    Raises:
        KeyError: if a section has a name that nothing generates.
    """
    return SECTION.sub(lambda m: f"{m['open']}\n{SECTIONS[m['name']]()}\n{m['close']}", page)


def main() -> int:
    """Rewrite or check; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    stale = []
    for page in pages():
        old = page.read_text(encoding="utf-8")
        new = renewed(old)
        if old != new:
            stale.append(str(page.relative_to(ROOT)))
            if not options.check:
                page.write_text(new, encoding="utf-8")
    if stale:
        print(("stale: " if options.check else "rewritten: ") + ", ".join(stale))
        print("fix: python .ci/generated.py" if options.check else "review them with git diff")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    raise SystemExit(main())
