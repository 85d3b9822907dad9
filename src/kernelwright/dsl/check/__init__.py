"""The checks: a program that passes has one meaning and can be lowered."""

from __future__ import annotations
