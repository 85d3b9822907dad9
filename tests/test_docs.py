"""Every block of README and docs that is marked runnable runs, and prints what is written there.

A mark is an HTML comment on the line above a fenced block:

    <!-- run -->          a `sh` or `python` block; it must end with status 0
    <!-- run: 1 -->       the same; it must end with status 1
    <!-- run, long -->    the same, but only in `make test-all`
    <!-- prints -->       the lines that the block before it prints, in order, where `...` stands
                          for anything: within a line, or, alone on a line, for any lines
    <!-- dsl ... -->      a snippet of the kernel language, see `support/dsl_page.py`

Blocks of one page run in order in one folder, which starts with a copy of `examples/` and `mini/`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import dsl_page

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")])

MARK = re.compile(
    r"^<!-- (?P<mark>run(?:: (?P<code>\d+))?(?P<long>, long)?|prints|dsl (?P<dsl>.+)) -->$",
    re.MULTILINE,
)
FENCE = re.compile(r"```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A marked block, with what it has to print (None: anything)."""

    line: int
    language: str
    text: str
    code: int = 0
    long: bool = False
    prints: str | None = None
    dsl: str | None = None


def blocks_of(page: str) -> list[Block]:
    """Return the runnable blocks of a page.

    Raises:
        ValueError: if a mark has no block below it, or `prints` has nothing to print it.
    """
    blocks: list[Block] = []
    for mark in MARK.finditer(page):
        line = page.count("\n", 0, mark.start()) + 1
        fence = FENCE.match(page, mark.end() + 1)
        if fence is None:
            raise ValueError(f"line {line}: no fenced block below the mark")
        if mark["mark"] == "prints":
            if not blocks:
                raise ValueError(f"line {line}: nothing ran that could print this")
            blocks[-1] = replace(blocks[-1], prints=fence["text"])
        else:
            code = int(mark["code"] or 0)
            block = Block(line, fence["language"], fence["text"], code, bool(mark["long"]))
            blocks.append(replace(block, dsl=mark["dsl"]))
    return blocks


def pattern_of(prints: str) -> re.Pattern[str]:
    """Return the expression that matches any output which has these lines in order."""
    lines = []
    for line in prints.strip().splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            words = (re.escape(part.strip()) for part in re.split(r"\.\.\.", line))
            # A run of spaces is one item: one for each would try every way to share out the blanks.
            text = re.sub(r"(?:\\ )+", r"[^\\S\\n]+", r".*?".join(words))
            lines.append(r"[^\S\n]*" + text + r"[^\n]*\n")
    return re.compile("".join(lines))


def command_of(block: Block) -> list[str]:
    if block.language in {"sh", "bash", "console"}:
        return ["bash", "-euo", "pipefail", "-c", block.text]
    if block.language == "python":
        return [sys.executable, "-c", block.text]
    raise ValueError(f"line {block.line}: a {block.language!r} block cannot be run")


def pages_with_blocks() -> list[tuple[Path, list[Block]]]:
    found = [(page, blocks_of(page.read_text(encoding="utf-8"))) for page in PAGES]
    return [(page, blocks) for page, blocks in found if blocks]


CASES = [
    pytest.param(
        page,
        [block for block in blocks if not block.long or with_long],
        id=str(page.relative_to(ROOT)) + (" with long blocks" if with_long else ""),
        marks=[pytest.mark.long, pytest.mark.timeout(900)] if with_long else [],
    )
    for page, blocks in pages_with_blocks()
    for with_long in ([False, True] if any(block.long for block in blocks) else [False])
]


@pytest.mark.parametrize(("page", "blocks"), CASES)
def test_every_marked_block_of_a_page_runs(page: Path, blocks: list[Block], tmp_path: Path) -> None:
    for name in ("examples", "mini"):
        shutil.copytree(ROOT / name, tmp_path / name)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "KERNELWRIGHT_STORE": str(tmp_path / "store"),
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    for block in blocks:
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.dsl is not None:
            try:
                said = dsl_page.printed(block.dsl, block.text, tmp_path)
            except AssertionError as error:
                raise AssertionError(f"{where}: {error}") from error
        else:
            said = output_of(block, tmp_path, environment, where)
        if block.prints is not None:
            assert pattern_of(block.prints).search(said), f"{where} printed something else:\n{said}"


def output_of(block: Block, folder: Path, environment: dict[str, str], where: str) -> str:
    """Run a block in a process of its own; what it prints."""
    done = subprocess.run(
        command_of(block),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == block.code, f"{where}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_every_snippet_of_the_language_page_is_checked() -> None:
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    marked = {match.end() + 1 for match in MARK.finditer(page)}
    loose = [
        f"docs/language.md:{page.count(chr(10), 0, fence.start()) + 1}"
        for fence in FENCE.finditer(page)
        if fence["language"] != "text" and fence.start() not in marked
    ]
    assert loose == []


def test_links_between_files_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        (str(page.relative_to(ROOT)), target)
        for page in PAGES
        for target in re.findall(r"`make ([a-z-]+)`", page.read_text(encoding="utf-8"))
    }
    assert {(page, target) for page, target in named if target not in targets} == set()


def test_the_expected_output_of_a_block_is_matched_line_by_line() -> None:
    pattern = pattern_of("one ... three\n...\nlast\n")
    assert pattern.search("zero\none  two three\nfour\nfive\nlast\n")
    assert not pattern.search("one two\nlast\n")
    assert not pattern.search("last\none two three\n")
