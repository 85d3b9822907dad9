"""Reading a candidate that a user has on disk: a folder of parts, or one file."""

from __future__ import annotations

from pathlib import Path

from kernelwright.core.errors import UsageMistake

REPORTS = frozenset({"report.md", "report.json"})
SINGLE_FILE_PART = "model.py"
SIZE_LIMIT_BYTES = 4 << 20


def read_files(path: Path) -> dict[str, str]:
    """Read the parts at `path`: every text file of a folder, or one file as `model.py`.

    Reports, hidden files, caches and built libraries in the folder are no parts.

    Raises:
        UsageMistake: if there is nothing to read, or it is no text of sensible size.
    """
    if path.is_file():
        return {SINGLE_FILE_PART: _text(path)}
    if not path.is_dir():
        raise UsageMistake(
            f"there is no candidate at {path}", fix="name a folder of parts, or one file"
        )
    files = {
        file.relative_to(path).as_posix(): _text(file)
        for file in sorted(path.rglob("*"))
        if file.is_file() and _is_part(file.relative_to(path))
    }
    if not files:
        raise UsageMistake(
            f"the folder {path} holds no parts", fix="put the kernel's sources and model.py there"
        )
    return files


def _is_part(path: Path) -> bool:
    is_hidden = any(name.startswith((".", "__pycache__")) for name in path.parts)
    is_built = path.suffix in {".so", ".o", ".a", ".pyc"}
    return not is_hidden and not is_built and path.name not in REPORTS


def _text(path: Path) -> str:
    if path.stat().st_size > SIZE_LIMIT_BYTES:
        raise UsageMistake(
            f"{path} is larger than {SIZE_LIMIT_BYTES >> 20} MiB", fix="name the sources only"
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageMistake(f"{path} is not UTF-8 text: {error}", fix="remove it") from error
