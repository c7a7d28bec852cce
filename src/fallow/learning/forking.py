"""PyTorch in a process that forks. Threads do not survive a fork, and a child that waits for them waits for ever."""

import torch


def without_threads() -> None:
    """Keeps PyTorch from starting threads of its own, so that this process can fork. Fallow computes with one."""
    torch.set_num_threads(1)


def draw_anew() -> None:
    """Seeds PyTorch's generator, which a child would share with its siblings. Fallow draws from others."""
    torch.seed()
