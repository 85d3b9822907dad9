"""The warm process: imports what children need once, then forks on request.

It has one thread, runs no operator of what it imported, and never sees untrusted input: what to
start is read by the supervisor it forks. It ends when the trusted side closes the line or dies.
"""

from __future__ import annotations

import array
import gc
import importlib
import os
import select
import signal
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import NoReturn

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.frame import send_frame
from kernelwright.sandbox.isolate import Ability, probe
from kernelwright.sandbox.supervise import supervise

_CHECK_MS = 500


def main(fd: int, options: Mapping[str, Json]) -> NoReturn:
    """Serve requests that arrive on socket `fd` until the trusted side is gone."""
    parent = os.getppid()
    control = socket.socket(fileno=fd)
    uid = options.get("uid")
    ability = probe(uid if isinstance(uid, int) else 0, namespaces=bool(options.get("namespaces")))
    names = options.get("warm")
    _import_warm([str(name) for name in names] if isinstance(names, list) else [])
    # Children are waited for by nobody: their supervisors report on a line of their own.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    send_frame(control, 0, asdict(ability))
    _serve(control, parent, ability)
    os._exit(0)


def _import_warm(names: list[str]) -> None:
    """Import modules without what they leave behind for the process they think they are in.

    A module may note its folders in the environment or in `tempfile` when it is imported; in a
    child those folders do not exist.
    """
    before = dict(os.environ)
    for name in names:
        importlib.import_module(name)
    os.environ.clear()
    os.environ.update(before)
    tempfile.tempdir = None


def _serve(control: socket.socket, parent: int, ability: Ability) -> None:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    size = array.array("i").itemsize
    while os.getppid() == parent:
        if not poll.poll(_CHECK_MS):
            continue
        byte, rights, _, _ = control.recvmsg(1, socket.CMSG_SPACE(2 * size))
        if not byte:
            return
        fds = array.array("i")
        for _, _, data in rights:
            fds.frombytes(data[: len(data) - len(data) % size])
        if os.fork() == 0:
            control.close()
            supervise(fds[0], fds[1] if len(fds) > 1 else None, ability)
        for fd in fds:
            os.close(fd)
