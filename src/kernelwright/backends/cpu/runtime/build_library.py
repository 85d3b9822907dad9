"""Builds the kernels of an exported `model.py` on the machine that imports it; standard library.

A library built for one processor does not run on another, so an export carries the sources and
this: it builds once a machine, into a cache folder, keyed by sources, flags and processor.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

# begin build: an exported model.py carries these lines
_SOURCES: list[str] = []
_FLAGS: list[str] = []
_VECTOR_FLAGS: dict[str, str] = {}


def _processor_flags() -> list[str]:
    """Name the vector extensions of this processor as compiler flags."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n\n", 1)[0].splitlines()
    except OSError:
        return []
    known: set[str] = set()
    for line in lines:
        if line.split(":")[0].strip() in ("flags", "Features"):
            known.update(line.partition(":")[2].split())
    if "asimd" in known:
        return ["-mcpu=native"]
    return list(dict.fromkeys(flag for name, flag in _VECTOR_FLAGS.items() if name in known))


def _cache_folder() -> str:
    """Return a private folder that outlives the process."""
    chosen = os.environ.get("KERNEL_BUILD_CACHE")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    fallback = os.path.join(tempfile.gettempdir(), f"kernel-builds-{os.getuid()}")
    for folder in [chosen] if chosen else [os.path.join(cache, "kernel-builds"), fallback]:
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            # Somebody else's folder could hold somebody else's library.
            if os.stat(folder).st_uid == os.getuid() and os.access(folder, os.W_OK):
                return folder
    raise RuntimeError("no folder to build in: set KERNEL_BUILD_CACHE to one that is writable")


def _compile(folder: str, sources: list[str], output: str) -> None:
    compiler = shutil.which(os.environ.get("CXX") or "g++") or shutil.which("clang++")
    if compiler is None:
        raise RuntimeError(
            "this kernel is compiled on first import and there is no C++ compiler: install g++"
            " (Debian, Ubuntu: apt install g++) or set CXX"
        )
    vectors = _processor_flags()
    while True:
        command = [compiler, *_FLAGS, *vectors, f"-I{folder}", *sources, "-o", output]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        # An older compiler may not know an extension of a newer processor.
        unknown = [flag for flag in vectors if f"'{flag}'" in done.stderr]
        if not unknown or "option" not in done.stderr and "argument" not in done.stderr:
            raise RuntimeError(f"{compiler} could not build the kernel:\n{done.stderr[-4000:]}")
        vectors = [flag for flag in vectors if flag not in unknown]


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    with open(path, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _library() -> ctypes.CDLL:
    """Return the library of the sources beside this file, building it if it is not there."""
    here = os.path.dirname(os.path.abspath(__file__))
    digest = hashlib.sha256(repr([_FLAGS, _processor_flags()]).encode())
    for source in _SOURCES:
        with open(os.path.join(here, source), "rb") as file:
            digest.update(source.encode() + b"\0" + file.read() + b"\0")
    path = os.path.join(_cache_folder(), f"{digest.hexdigest()[:32]}.so")
    if not os.path.exists(path):
        with _locked(f"{path}.lock"):
            if not os.path.exists(path):
                fresh = f"{path}.{os.getpid()}"
                units = [os.path.join(here, s) for s in _SOURCES if s.endswith(".cpp")]
                _compile(here, units, fresh)
                os.replace(fresh, path)
    return ctypes.CDLL(path)


# end build
