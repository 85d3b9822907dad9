"""A verdict in a few lines for people, from the same object that `--json` prints."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.core.fingerprint import Json


def verdict_lines(verdict: Mapping[str, Json]) -> list[str]:
    """Return the gates a line each, then the result."""
    lines = [_gate_line(name, gate) for name, gate in _items(verdict.get("gates"))]
    if not verdict.get("feasible"):
        return [*lines, f"infeasible: the {verdict.get('gate')} gate failed"]
    latency = _number(verdict.get("latency_us"))
    simulated = " (simulated)" if verdict.get("simulated") else ""
    result = f"feasible: {latency:.1f} us{simulated}"
    if verdict.get("speedup") is not None:
        low, high = _number(verdict.get("speedup_low")), _number(verdict.get("speedup_high"))
        result += (
            f", {_number(verdict.get('speedup')):.2f}x the baseline "
            f"(95 % interval {low:.2f}-{high:.2f}, {verdict.get('cache')} cache)"
        )
    return [*lines, result]


def _gate_line(name: str, gate: Json) -> str:
    fields = dict(_items(gate))
    status = str(fields.get("status")).replace("_", " ")
    line = f"{name:<12} {status}"
    reason = str(fields.get("reason") or "").strip()
    if not reason:
        return line
    indented = reason.replace("\n", "\n" + " " * 13)
    return f"{line}\n{' ' * 13}{indented}"


def _items(value: Json) -> list[tuple[str, Json]]:
    return list(value.items()) if isinstance(value, Mapping) else []


def _number(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")
