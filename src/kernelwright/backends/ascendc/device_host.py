"""The child's side of an emulated device: a module whose kernels run on the emulated chip.

What `sandbox.module_host` offers, and two requests more: `chip` chooses the chip and how launches
run, `reports` gives what every launch since the last request did.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from kernelwright.core.tensor import Buffer
from kernelwright.emulator import binding_host
from kernelwright.emulator.targets import configure, load_chip
from kernelwright.sandbox.channel import Channel
from kernelwright.sandbox.module_host import Answer, Handler, Header, ModuleHost, serve_requests


@dataclass(slots=True)
class DeviceHost(ModuleHost):
    """A module on the emulated chip."""

    def handlers(self) -> dict[str, Handler]:
        """Return what this host answers, by `op`."""
        # The call of the base is spelt out: a dataclass with slots is made anew, and `super()`
        # without arguments would mean the class before that.
        return {**ModuleHost.handlers(self), "chip": self.chip, "reports": self.reports}

    def chip(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Take the figures of chip `name`, and set each option in `options` to 0 or 1."""
        runtime = binding_host.session_of(self.folder).runtime
        configure(runtime, load_chip(str(header["name"])))
        options = header.get("options")
        for name, value in options.items() if isinstance(options, dict) else ():
            runtime.kw_host_set_option(name.encode(), 1 if value else 0)
        return {}, ()

    def reports(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Answer with the reports of all launches since the last time, and forget them."""
        session = binding_host.session_of(self.folder)
        found = session.reports()
        session.forget()
        return {"reports": list(found)}, ()


def serve(channel: Channel) -> None:
    """Answer requests about one module until the trusted side closes the channel."""
    # A call's watcher looks for this module to hear of kernel calls; see sandbox.run_watch.
    watched = ModuleType("kernel_ops")
    vars(watched)["_observer"] = None
    sys.modules["kernel_ops"] = watched
    binding_host.OBSERVERS.append(lambda name: _told(watched, name))
    host = DeviceHost(Path.cwd())
    serve_requests(channel, host.handlers(), after={"tick": host.keep})


def _told(watched: ModuleType, name: str) -> bool:
    observer = vars(watched)["_observer"]
    return observer is not None and bool(observer(name))
