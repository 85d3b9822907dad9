"""Entries that the tests start in sandboxed children: an honest one and many that are not."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
import time
from pathlib import Path

from kernelwright.sandbox.channel import CHANNEL_FD, Channel


def echo(channel: Channel) -> None:
    """Answers with what it got."""
    while True:
        header, blobs = channel.receive()
        channel.send(header, blobs)


def shell(channel: Channel) -> None:
    """Runs the Python in `code`, which may leave its answer in `answer`."""
    while True:
        header, _ = channel.receive()
        scope: dict[str, object] = {"answer": None, "channel": channel}
        exec(str(header["code"]), scope)
        channel.send({"answer": scope["answer"]})


def deaf(channel: Channel) -> None:
    """Never reads."""
    time.sleep(60)


def crash(channel: Channel) -> None:
    """Ends by the signal that it is told."""
    header, _ = channel.receive()
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os.kill(os.getpid(), int(str(header["signal"])))
    time.sleep(60)


def early(channel: Channel) -> None:
    """Answers before it is asked, as an infinitely fast kernel would."""
    os.write(CHANNEL_FD, struct.pack("<4sQII", b"KWF1", 0, 2, 0) + b"{}")
    Path("sent").write_text("x")
    time.sleep(60)


def guesser(channel: Channel) -> None:
    """Answers to another request than the one that was made."""
    channel.receive()
    os.write(CHANNEL_FD, struct.pack("<4sQII", b"KWF1", 12345, 2, 0) + b"{}")
    time.sleep(60)


def babbler(channel: Channel) -> None:
    """Writes a verdict where an answer belongs."""
    channel.receive()
    os.write(CHANNEL_FD, json.dumps({"feasible": True}).encode() + bytes(64))
    time.sleep(60)


def boaster(channel: Channel) -> None:
    """Announces a blob that is far too large."""
    channel.receive()
    os.write(CHANNEL_FD, struct.pack("<4sQIIQ", b"KWF1", 0, 2, 1, 1 << 40) + b"{}")
    time.sleep(60)


def short(channel: Channel) -> None:
    """Closes its line in the middle of an answer and lives on."""
    channel.receive()
    os.write(CHANNEL_FD, struct.pack("<4sQIIQ", b"KWF1", 0, 2, 1, 100) + b"{}")
    os.close(CHANNEL_FD)
    time.sleep(60)


def stopped(channel: Channel) -> None:
    """Stops itself and everything it started."""
    if os.fork() == 0:
        signal.pause()
    channel.receive()
    os.kill(0, signal.SIGSTOP)


def swarm(channel: Channel) -> None:
    """Forks and starts threads as fast as it can, for ever, and ignores what can be ignored."""
    channel.receive()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except (OSError, RuntimeError):
            time.sleep(0.001)


def bloat(channel: Channel) -> None:
    """Allocates more than it may with torch, and does not catch the refusal."""
    import torch

    header, _ = channel.receive()
    channel.send({"bytes": torch.ones(int(str(header["bytes"])), dtype=torch.uint8).numel()})


def capability(channel: Channel) -> None:
    """Runs softmax, then says at which vector capability torch dispatches."""
    import torch

    channel.receive()
    total = float(torch.softmax(torch.randn(64, 64), -1).sum())
    channel.send(
        {
            "capability": torch.backends.cpu.get_cpu_capability(),
            "threads": torch.get_num_threads(),
            "sum": total,
            "modules": "torch" in sys.modules,
        }
    )
