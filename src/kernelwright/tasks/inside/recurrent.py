"""Recurrent layers on the meta device in one step instead of one step a time step.

PyTorch runs `nn.LSTM` on meta tensors operator by operator, which takes seconds for long
sequences. Their shapes and their operations follow from the arguments.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kernelwright.tasks.inside.census import Census

_LAYERS = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})


class RecurrentShortcut(TorchFunctionMode):
    """Answers `lstm`, `gru` and `rnn` calls with empty results and tells `census` their cost."""

    def __init__(self, census: Census) -> None:
        super().__init__()
        self._census = census

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace a recurrent layer on a padded batch; everything else runs as it is."""
        name = getattr(func, "__name__", "")
        # A packed sequence has its batch sizes in second place, and one argument less.
        if name in _LAYERS and len(args) == 9 and args[0].device.type == "meta":
            return self._answer(args)
        return func(*args, **(kwargs or {}))

    def _answer(self, args: tuple[Any, ...]) -> Any:
        data, hidden, weights, _, layers, dropout, is_training, is_bidirectional, _ = args
        states = hidden if isinstance(hidden, (tuple, list)) else (hidden,)
        directions = 2 if is_bidirectional else 1
        matrices = [weight for weight in weights if weight.dim() == 2]
        steps = data.numel() // max(1, data.shape[-1])
        census = self._census
        census.flops += 2 * steps * sum(weight.numel() for weight in matrices)
        longest = max((int(weight.shape[1]) for weight in matrices), default=1)
        census.reduction_length = max(census.reduction_length, longest)
        census.is_random |= bool(dropout) and is_training and layers > 1
        # The last state has the width of the output: a projection makes it narrower.
        output = data.new_empty((*data.shape[:-1], int(states[0].shape[-1]) * directions))
        lasts = tuple(torch.empty_like(state) for state in states)
        return (output, *lasts)
