"""Strategies: what to try next, decided from the history alone; one strategy a file."""
