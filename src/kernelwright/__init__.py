"""Kernelwright: from a PyTorch reference operator to a verified, fast kernel."""

__version__ = "0.1.0.dev0"
