"""Inequalities between integer scalars: what is known at a program point, and what follows."""

from __future__ import annotations
