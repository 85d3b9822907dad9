"""Properties run on shared machines: no deadline an example, and the same examples each time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("kernelwright", deadline=None, derandomize=True)
settings.load_profile("kernelwright")
