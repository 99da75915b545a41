"""Functions that make tensors on the course's device, or forget to."""

import torch

from tools.gpu import device


def told(n):
    return torch.arange(n, device=device) + torch.tensor(1)


def told_in_a_block(n):
    with torch.device(device):
        return torch.arange(n) + torch.arange(n, device=device)


def moved(n):
    out = torch.empty(n, dtype=torch.int64, device=device)
    out.copy_(torch.arange(n))
    out[:1] = torch.zeros(1)
    return out + torch.ones(n).to(device, torch.int64) + torch.ones(n).to(device=device) + torch.ones(n).to(out)


def as_its_argument(x):
    return torch.arange(len(x), device=x.device) + x.new_zeros(1)


def unasked(n):
    places = torch.arange(n)
    return places + 1


def half_of_it(n):
    places = torch.arange(n, device=device)
    return places[None, :] <= torch.ones(n)[:, None]


def reads_a_number(n):
    return torch.zeros(int(torch.arange(n).sum()), device=device)


def not_yet(n):
    raise NotImplementedError("week9/day4 task 1: not_yet")


def odd(n):
    return torch.arange(n).reshape(n + 1)
