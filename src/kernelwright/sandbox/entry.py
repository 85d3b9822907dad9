"""The last step of a child: it is inside its walls and starts what it was made for."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import shutil
import socket
import sys
import traceback
from typing import NoReturn

from kernelwright.sandbox.channel import CHANNEL_FD, Channel
from kernelwright.sandbox.plan import Package, Plan


def child_environment(plan: Plan) -> dict[str, str]:
    """Return the whole environment of a child: its folder is its home and its scratch space."""
    return {**os.environ, "HOME": plan.workdir, "TMPDIR": plan.workdir, **plan.env}


def execute(plan: Plan) -> NoReturn:
    """Become the command of `plan`.

    Raises:
        OSError: if there is no such program, or it cannot be executed.
    """
    env = child_environment(plan)
    program = shutil.which(plan.argv[0], path=env["PATH"])
    if program is None:
        raise FileNotFoundError(f"no program {plan.argv[0]!r} can be reached from the sandbox")
    os.execve(program, list(plan.argv), env)


def serve(plan: Plan) -> NoReturn:
    """Call the entry of `plan` with the channel, then end; a fault ends with status 1."""
    status = 1
    try:
        os.environ.update(child_environment(plan))
        gc.unfreeze()
        sys.argv = [plan.entry]
        module, _, function = plan.entry.partition(":")
        _load_package(plan.package)
        getattr(importlib.import_module(module), function)(Channel(_channel()))
        status = 0
    except SystemExit as leave:
        status = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it raises ends here, as a status
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


def _channel() -> socket.socket:
    return socket.socket(fileno=CHANNEL_FD)


def _load_package(package: Package | None) -> None:
    # From the very file that the trusted side found, not from a path that may be searched.
    if package is None or package.name in sys.modules:
        return
    where = list(package.where) or None
    spec = importlib.util.spec_from_file_location(
        package.name, package.origin, submodule_search_locations=where
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{package.origin} is no Python package")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package.name] = module
    spec.loader.exec_module(module)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # The code that ran here may have closed or replaced it.
            continue
