"""Calls printed programs in processes of their own: a crash is a result, not the end of a run.

Reads a pickled list of jobs, writes a pickled result for each as it is done: what the call gave, or
a sentence about how it failed.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from typing import Any

from support.dsl_cpp import Overrun, call

SECONDS = 5
"""Longest call."""


def one(libraries: dict[str, Any], job: Any, end: int) -> None:
    """Make one call and write its result to a pipe."""
    path, lowered, arguments, cores, shift = job
    signal.alarm(SECONDS)
    ctypes.CDLL("libgomp.so.1").omp_set_num_threads(cores)
    result: Any
    try:
        result = call(libraries[path], lowered, arguments, shift=shift)
    except Overrun as error:
        result = str(error)
    with os.fdopen(end, "wb") as pipe:
        pickle.dump(result, pipe)


def done(libraries: dict[str, Any], job: Any) -> Any:
    """Fork a process for one job, and wait for its result."""
    start, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(start)
        code = 1
        try:
            one(libraries, job, end)
            code = 0
        finally:
            os._exit(code)
    os.close(end)
    with os.fdopen(start, "rb") as pipe:
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        return f"the printed program ended its process: {os.waitstatus_to_exitcode(status)}"
    return pickle.loads(found)


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        jobs = pickle.load(file)
    libraries: dict[str, Any] = {}
    broken: dict[tuple[str, str], str] = {}
    with open(sys.argv[2], "wb") as file:
        for job in jobs:
            if job[0] not in libraries:
                libraries[job[0]] = ctypes.CDLL(job[0])
            key = job[0], job[1].signature.name
            # What has crashed or hung once is not called again: each time takes seconds.
            result = broken.get(key) or done(libraries, job)
            if isinstance(result, str):
                broken[key] = result
            pickle.dump(result, file)
            file.flush()


main()
