"""Calls printed programs in a process of its own: a crash is a result, not the end of a test run.

Reads a pickled list of jobs, writes a pickled result for each as it is done.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from typing import Any

from support.dsl_cpp import Overrun, call


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        jobs = pickle.load(file)
    threads = ctypes.CDLL("libgomp.so.1")
    libraries: dict[str, Any] = {}
    with open(sys.argv[2], "wb") as file:
        for path, lowered, arguments, cores, shift in jobs:
            threads.omp_set_num_threads(cores)
            library = libraries.setdefault(path, ctypes.CDLL(path))
            result: Any
            try:
                result = call(library, lowered, arguments, shift=shift)
            except Overrun as error:
                result = str(error)
            pickle.dump(result, file)
            file.flush()


main()
