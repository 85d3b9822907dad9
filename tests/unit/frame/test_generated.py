"""Sections of the documentation that are generated say what the product does now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_no_generated_section_is_stale() -> None:
    command = [sys.executable, ".ci/generated.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_the_command_line_has_its_generated_section() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "<!-- generated: command-line -->" in page
    assert "### `kernelwright solve`" in page
