"""What this machine has, lacks and enforces; every claim is tried, none is assumed."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kernelwright import __version__
from kernelwright.core.errors import KernelwrightError
from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.sandbox import Sandbox
from kernelwright.wiring.backends import make_backend
from kernelwright.wiring.registries import BACKENDS
from kernelwright.wiring.settings import Settings
from kernelwright.wiring.stores import opened_store, store_path


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        group: What it belongs to: `python`, `backend cpu`, `sandbox`, `store`.
        name: What was looked at.
        is_ok: Whether it is there and works.
        is_needed: Whether the main job cannot run without it.
        detail: What was found.
        fix: What to do if it is not ok.
    """

    group: str
    name: str
    is_ok: bool
    is_needed: bool
    detail: str
    fix: str = ""

    @property
    def state(self) -> str:
        """One word for people."""
        if self.is_ok:
            return "ok"
        return "MISSING" if self.is_needed else "no"

    @property
    def json(self) -> dict[str, Json]:
        """The check as JSON."""
        return {
            "group": self.group,
            "name": self.name,
            "ok": self.is_ok,
            "needed": self.is_needed,
            "detail": self.detail,
            "fix": "" if self.is_ok else self.fix,
        }


def examine(settings: Settings, store: Path | None) -> tuple[Check, ...]:
    """Look at everything the main job needs, and prove what the sandbox enforces (a few s)."""
    with Sandbox(threads=settings.cpu.threads) as sandbox:
        return (
            *_python(),
            *_backends(settings, sandbox),
            *_sandbox(sandbox),
            *_store(settings, store),
        )


def _python() -> Iterator[Check]:
    yield Check("python", "kernelwright", True, True, __version__)
    yield Check("python", "python", True, True, platform.python_version())
    yield Check("python", "system", True, True, f"{platform.system()} {platform.machine()}")
    for package in ("torch", "numpy"):
        try:
            yield Check("python", package, True, True, version(package))
        except PackageNotFoundError:
            fix = f"pip install {package}"
            yield Check("python", package, False, True, "not installed", fix)


def _backends(settings: Settings, sandbox: Sandbox) -> Iterator[Check]:
    for name in BACKENDS.names():
        group = f"backend {name}"
        try:
            backend = make_backend(name, settings, sandbox)
            for what, detail in backend.versions().items():
                yield Check(group, what, True, name == "cpu", detail)
        except KernelwrightError as lacking:
            yield Check(group, "toolchain", False, name == "cpu", lacking.what, lacking.fix)


def _sandbox(sandbox: Sandbox) -> Iterator[Check]:
    for row in sandbox.enforced():
        detail = f"{row.how}: {row.detail}" if row.detail else row.how
        yield Check(
            "sandbox", row.name, row.enforced, False, detail, "see SECURITY.md for what is lost"
        )


def _store(settings: Settings, option: Path | None) -> Iterator[Check]:
    path = store_path(settings, option)
    try:
        with opened_store(settings, option) as store:
            runs = len(store.runs())
    except KernelwrightError as broken:
        yield Check("store", "database", False, True, broken.what, broken.fix)
        return
    free = shutil.disk_usage(path.parent).free
    yield Check("store", "database", True, True, f"{path}, {runs} runs")
    yield Check("store", "free disk", free > 1 << 30, False, f"{free / 1e9:.1f} GB", "free 1 GB")
    yield Check("store", "owner", os.access(path, os.W_OK), True, "writable", "check its mode")
