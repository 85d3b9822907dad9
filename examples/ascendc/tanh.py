"""Hyperbolic tangent of every element, in KernelBench's format."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.tanh(x)


batch_size = 96
dim = 4112


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
