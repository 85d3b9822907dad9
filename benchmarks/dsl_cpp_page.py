"""The dated page of `dsl_cpp.py`: what its figures say, and what they do not reach."""

from __future__ import annotations

from typing import Any

AIM_SPEEDUP, AIM_SHARE = 1.0, 0.8

HEAD = """# Printed C++ of the example programs against PyTorch eager

Command, on a machine with at least two processors:

```sh
python benchmarks/dsl_cpp.py
```

Machine: {machine}, two virtual processors, *shared with other work at the time* (load average
{loads} with one and two threads). g++ {compiler}, Python {python}, PyTorch {torch}. Allocation
policy of both sides: {policy}; each call
allocates its result, and ours is called through ctypes, which is in its time. Caches: warm from the
calls before, which for `large` means that little of a tensor is left in a core's own caches; the
tensors of `near` and `small` stay there. With one thread times are processor time of the thread,
with two they are wall time. Nobody reads the results here: stores past the caches leave a large
result in memory, and whoever reads it next finds it there. Tolerance: results are within the
`largest difference` of eager given below. Inputs are random and normal.

Programs (`examples/dsl/`, SHA-256): {programs}.

Ratios are eager over ours, of {rounds} interleaved rounds (eager, ours, ours, eager): median (lower
to upper quartile). Above 1 ours is faster. A/A is eager against itself.
"""

READING = """
## Against memory and against arithmetic

Bytes are each input once and each output once. `torch` is a copy by `torch.clone`, `best` the
fastest in the round of that, `memcpy` and a loop that stores past the caches. The last column is
what the kernel reaches when its data is in the second cache already (`near`), as a share of the
best copy of the large size: where it is near 1 or below, arithmetic takes as long as memory, and
the kernel could reach 80 % only if the two overlapped completely.
"""

CACHED = """
With two threads the in-cache rows are dominated by how long the other work keeps a thread waiting:
where the quartiles of A/A are far from 1, a row says nothing.
"""


def page_text(result: dict[str, Any]) -> str:
    """The page of a result."""
    one, two = result["runs"]
    head = HEAD.format(
        machine=result["machine"],
        loads=" and ".join(f"{run['load']:.1f}" for run in result["runs"]),
        compiler=result["compiler"],
        python=result["python"],
        torch=result["torch"],
        policy=", ".join(f"`{name}={value}`" for name, value in result["policy"].items()),
        programs=", ".join(f"{name} `{text}`" for name, text in result["programs"].items()),
        rounds=one["rows"][0]["rounds"],
    )
    parts = [head, "\n## One thread\n\n", *_speeds(one), READING, "", *_memory(one)]
    parts += ["\n## Two threads\n\n", *_speeds(two), CACHED]
    low, middle, high = two["sync_all_us"]
    parts.append(f"One `sync_all` of two threads: {middle:.2f} us ({low:.2f} to {high:.2f}).\n")
    missed = [*_missed(one, two)]
    parts.append("\n## Not reached\n\n")
    parts += [f"* {text}" for text in missed] or ["All aims are reached."]
    return "\n".join(part.removesuffix("\n") for part in parts) + "\n"


def _spread(values: list[float]) -> str:
    low, middle, high = values
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _speeds(run: dict[str, Any]) -> list[str]:
    lines = ["| case | size | shapes | eager / ours | A/A | largest difference |"]
    lines.append("|---|---|---|---|---|---|")
    for row in run["rows"]:
        shapes = ", ".join("x".join(map(str, shape)) for shape in row["shapes"])
        lines.append(
            f"| {row['case']} | {row['size']} | {shapes} | {_spread(row['speedup'])}"
            f" | {_spread(row['noise_a_a'])} | {row['largest_difference']:.1e} |"
        )
    return lines


def _best(row: dict[str, Any]) -> float:
    return max(row[f"copy_{name}_gb_per_s"][1] for name in ("torch", "memcpy", "streamed"))


def _near(run: dict[str, Any], row: dict[str, Any]) -> float:
    """What arithmetic allows, as a share of the best copy of the large size."""
    found = [r for r in run["rows"] if (r["case"], r["size"]) == (row["case"], "near")]
    return float(found[0]["gb_per_s"][1] / _best(row))


def _large(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in run["rows"] if row["size"] == "large"]


def _memory(run: dict[str, Any]) -> list[str]:
    lines = ["| case, large | GB/s | torch copy GB/s | best copy GB/s | share of torch copy"]
    lines[0] += " | share of best copy | near / best copy |"
    lines.append("|---|---|---|---|---|---|---|")
    for row in _large(run):
        lines.append(
            f"| {row['case']} | {row['gb_per_s'][1]:.1f} | {row['copy_torch_gb_per_s'][1]:.1f}"
            f" | {_best(row):.1f} | {_spread(row['share_of_torch_copy'])}"
            f" | {_spread(row['share_of_best_copy'])} | {_near(run, row):.2f} |"
        )
    return lines


def _missed(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    found = []
    for run in (one, two):
        for row in run["rows"]:
            if row["speedup"][1] < AIM_SPEEDUP:
                found.append(
                    f"{row['case']}, {row['size']}, {run['threads']} thread(s): "
                    f"{_spread(row['speedup'])} of eager's speed, aim {AIM_SPEEDUP:.1f}."
                )
    for row in _large(one):
        for name in ("torch", "best"):
            share = row[f"share_of_{name}_copy"]
            if share[1] < AIM_SHARE:
                found.append(
                    f"{row['case']}: {_spread(share)} of the {name} copy, aim {AIM_SHARE}; in the "
                    f"second cache it reaches {_near(one, row):.2f} of the best copy."
                )
    return found
