"""Loads a project's host library and prints its operators as JSON; runs in a child.

Loading runs the project's static constructors, so this never happens in the trusted process.
Usage: `python describe_host.py RUNTIME HOST`; it needs the standard library only.
"""

from __future__ import annotations

import ctypes
import sys


def main(runtime: str, host: str) -> int:
    """Print the operators that `host` registers in `runtime`; 1 and a reason if it cannot load."""
    library = ctypes.CDLL(runtime, mode=ctypes.RTLD_GLOBAL)
    library.kw_host_load.restype = ctypes.c_char_p
    library.kw_host_operators.restype = ctypes.c_char_p
    why = library.kw_host_load(host.encode())
    if why is not None:
        sys.stderr.write(why.decode(errors="replace") + "\n")
        return 1
    sys.stdout.write(library.kw_host_operators().decode(errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
