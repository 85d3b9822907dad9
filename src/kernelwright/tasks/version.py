"""Which version of a benchmark a file belongs to, so that a result can be repeated."""

from __future__ import annotations

from pathlib import Path

from kernelwright.core.fingerprint import fingerprint, fingerprint_bytes

_HEX = frozenset("0123456789abcdef")


def version_of(path: Path) -> str:
    """Return `git:<commit>` of the checkout around a file or folder, else `sha256:<content>`."""
    checkout = checkout_of(path)
    commit = None if checkout is None else _commit(checkout)
    return f"sha256:{content_hash(path)}" if commit is None else f"git:{commit}"


def checkout_of(path: Path) -> Path | None:
    """Return the top folder of the git checkout that holds a path, None if none does."""
    full = path.resolve()
    for folder in (full, *full.parents):
        if (folder / ".git").exists():
            return folder
    return None


def content_hash(path: Path) -> str:
    """Return the hash of a file, or of every Python file below a folder with its place."""
    if path.is_file():
        return fingerprint_bytes(path.read_bytes())
    files = sorted(file for file in path.rglob("*.py") if file.is_file())
    hashes = [fingerprint_bytes(file.read_bytes()) for file in files]
    places = [file.relative_to(path).as_posix() for file in files]
    return fingerprint([list(pair) for pair in zip(places, hashes, strict=True)])


def _commit(checkout: Path) -> str | None:
    """Read the commit that is checked out; git itself is not started, so no hook or filter runs."""
    folder = _git_folder(checkout)
    head = _text(folder / "HEAD")
    if not head.startswith("ref: "):
        return head if _is_commit(head) else None
    name = head.removeprefix("ref: ")
    # A worktree keeps its own HEAD and shares everything else.
    shared = _text(folder / "commondir")
    places = (folder, (folder / shared).resolve()) if shared else (folder,)
    for place in places:
        commit = _text(place / name)
        if _is_commit(commit):
            return commit
    for place in places:
        for line in _text(place / "packed-refs").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name and _is_commit(commit):
                return commit
    return None


def _git_folder(checkout: Path) -> Path:
    dot_git = checkout / ".git"
    if dot_git.is_dir():
        return dot_git
    return (checkout / _text(dot_git).removeprefix("gitdir: ")).resolve()


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= _HEX


def _text(path: Path) -> str:
    return path.read_text(errors="replace").strip() if path.is_file() else ""
