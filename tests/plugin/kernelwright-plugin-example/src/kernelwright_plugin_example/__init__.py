"""One extension of each kind for kernelwright."""

__version__ = "1.0.0"
