"""Run as a process of its own: append rollouts to a store until stopped, and say which are in.

python appending.py DATABASE RUN_ID SEED COUNT
"""

from __future__ import annotations

import sys
from pathlib import Path

from kernelwright.memory.memory import ValueDrivenMemory
from kernelwright.store.location import open_store
from kernelwright.testing.samples import a_run, some_rollouts


def main(database: str, run_id: str, seed: str, count: str) -> None:
    store = open_store(Path(database))
    run = store.begin(a_run(run_id))
    learn = ValueDrivenMemory().learn
    done = len(store.history(run_id).rollouts)
    for rollout in some_rollouts(run, int(count), seed=int(seed))[done:]:
        store.append(rollout, learn)
        # Only what `append` has returned for counts as acknowledged.
        sys.stdout.write(f"{rollout.index}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
