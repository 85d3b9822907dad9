"""The value-driven memory of EvoKernel: what to show a generator, and what a rollout teaches.

Pure: items and values come in, items and moved values go out; a store keeps them. The read side is
`retrieve` (with `embed`), the write side `reward`, `normalize`, `values`, `distill` and `learn`.
"""
