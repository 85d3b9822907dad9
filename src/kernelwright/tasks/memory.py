"""How much memory a task may take on this machine."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
_UNKNOWN = 8 << 30
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def available_bytes() -> int:
    """Return the bytes that new processes can use: what is free, and what the cgroup leaves."""
    bounds = [_free_bytes(_MEMINFO)]
    limit, used = _number(_CGROUP / "memory.max"), _number(_CGROUP / "memory.current")
    if limit is not None:
        bounds.append(max(0, limit - (used or 0)))
    return min(bound for bound in bounds if bound is not None) if any(bounds) else _UNKNOWN


def spelled(size_bytes: int) -> str:
    """Return a size for people: `1.5 GiB`."""
    value, unit = float(size_bytes), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:.0f} {_UNITS[0]}" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def _free_bytes(meminfo: Path) -> int | None:
    if not meminfo.is_file():
        return None
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _number(path: Path) -> int | None:
    text = path.read_text().strip() if path.is_file() else "max"
    return int(text) if text.isdigit() else None
