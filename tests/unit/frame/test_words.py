"""What no file of the project may hold, and what every file of a kind must."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = {".cfg", ".cpp", ".css", ".h", ".html", ".ini", ".js", ".json", ".md", ".py", ".sh", ".sql",
        ".toml", ".txt", ".yaml", ".yml", ""}  # fmt: skip

# Written in halves, so that this file does not match itself.
FORBIDDEN = {
    "a path of one machine": re.compile(
        r"(?<![\w.])/(?:ro" + r"ot|wo" + r"rk|home/(?!me/)[a-z]+)/"
    ),
    "a registry host": re.compile("py" + r"pi\.(?:org|io)|python" + r"hosted|npm" + r"js\.org"),
    "a private key": re.compile("BEGIN [A-Z ]*PRIVATE " + "KEY"),
    "a merge left open": re.compile(r"^(?:<{7} |>{7} )", re.MULTILINE),
}
LARGEST_BYTES = 500_000


def tracked() -> list[Path]:
    """Every file that git knows or would add; without git, every file outside hidden folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    return sorted(path for path in paths if path.is_file())


def texts() -> dict[Path, str]:
    return {
        path: path.read_text(encoding="utf-8")
        for path in tracked()
        if path.suffix in TEXT and path.stat().st_size <= LARGEST_BYTES
    }


def test_no_file_holds_what_belongs_to_one_machine_or_person() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} has {what}"
        for path, text in texts().items()
        for what, pattern in FORBIDDEN.items()
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_no_file_is_too_large_to_review() -> None:
    large = [str(p.relative_to(ROOT)) for p in tracked() if p.stat().st_size > LARGEST_BYTES]
    assert large == []


def test_every_text_ends_with_one_newline() -> None:
    ragged = [
        str(path.relative_to(ROOT))
        for path, text in texts().items()
        if text and (not text.endswith("\n") or text.endswith("\n\n"))
    ]
    assert ragged == []


def test_every_constraint_pins_one_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_every_dependency_is_pinned_for_reproducible_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = list(project["project"]["dependencies"])
    for group in project["dependency-groups"].values():
        asked += group
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    names = {re.split(r"[\[<>=; ]", line)[0].lower().replace("_", "-") for line in asked}
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines if "==" in line}
    assert sorted(names - pinned) == []
