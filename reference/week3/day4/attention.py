"""Week 3, day 4: attention

Challenge
    A query asks, keys answer, and the better a key answers, the more its value counts. Write this *attention* with
    its masks, in PyTorch: its parts first, tasks 1 to 3. In a second sitting put them together, and predict its bytes:
    one number for each pair of a query and a key.

        q = (1, 2, 0, 1), d = 4      key 0         key 1         key 2         key 3
            k                    (2, 1, 5, 0)  (-2, 1, 3, 0)  (1, 0, 0, 1)  (1, 2, 1, 1)
            q . k                      4             0             2             6
            scores: / sqrt(4)          2             0             1             3       row maximum m = 3
            exp(score - m)           .368          .050          .135            1       sum l = 1.553
            weights: / l             .237          .032          .087          .644
            values                  (1, 0)        (0, 1)        (1, 1)        (2, 0)     out = (1.612, .119)

Explore
    ./course week3/day4/explore_attention.py    When does one key take all the weight?
    ./course python -c "import torch; x = torch.zeros(2, 3); x[0] = -torch.inf; print(x - x.amax(1, keepdim=True))"
    Row 0: all scores hidden. Row 1: equal scores. First say what is printed, and what weights would come of it.

Concept
    Shapes: q is (batch, heads, n_q, d), k is (batch, heads, n_k, d), v is (batch, heads, n_k, d_v). Each head is an
    attention of its own. q @ k.mT multiplies the last two axes, head by head: .mT exchanges those two of k.
    Scale: let the numbers of q and k be independent, with mean 0 and variance 1. Then each product of two has
    variance 1, and a sum of d products has variance d. At d = 64 scores spread by sqrt(64) = 8, and exp(8) = 2981:
    one key takes nearly all. A factor changes a variance by its square: times 1 / sqrt(64), it is 1 again.
    Multiply q by the scale, not the scores: q has fewer numbers where n_k is above d. And float16 ends at 65504: 64
    products of 60 and 60 are 230400, which is inf there; with an eighth of q they are 28800.
    Softmax: exp(score - m) / l, for each query. x.amax(-1, keepdim=True) is the maximum of each row, as a column
    that fits beside the rows; x.sum takes the same arguments. A score of -inf gets the weight 0.
    Hidden rows: a row of -inf alone has m = -inf, and -inf less -inf is NaN. m.masked_fill(m == -torch.inf, 0.0) is
    m with 0 in such places. Then each exp of that row is 0, its l too, and 0 / 0 is NaN again. So put 1 where l is 0,
    in the same way: the weights of that row are 0 / 1, and other rows keep their l.
    Masks: True where a query may see a key. All other scores become -inf before the softmax, so that the weights
    of what is seen add up to 1. A *causal* mask hides what comes later: a query sees its own place and those
    before. A *padding* mask hides what fills short sequences up: torch.arange(4) < 2 is True, True, False, False.
    Axes of size 1 stand for all: (n_q, n_k) fits any batch and head, (batch, 1, 1, n_k) any head and query.
    x[:, None] makes a column of a vector, x[:, None, None, None] adds three axes. ~ turns a mask round, & joins two.
    Memory: at 32 heads, n_q = n_k = 8192 and d = 64, scores take 32 * 8192 * 8192 * 4 bytes, 8.6 GB, and q 67 MB.
    x.masked_fill_(~mask, -torch.inf), x.exp_() and x.div_(y), with _ at the end, write into x. torch.sub(a, b, out=out)
    writes into out, which may be a. So scores can turn into weights where they lie.
    The *peak* is the most bytes alive at a time. Here it is one matrix of scores, and the most that is ever alive
    together with it: look what tasks 1 and 4 make. A tensor ends when no name holds it; names inside a function end
    with its return. Two tensors of which one ends before the other begins count once, the larger one.
    Longest: if a head may take b numbers, n * n + d * n = b has the root (sqrt(d * d + 4 * b) - d) / 2. For the largest
    whole n with at most b, a whole number too, take math.isqrt and //, which round down. math.sqrt gives a float, which
    has 53 bits and rounds longer numbers.

Code it
    Task 1  scaled_scores, score_variance: q . k, scaled, and how far they spread    (three lines)
    Task 2  attention_weights: the softmax of each row, also of a row of -inf         (five lines)
    Task 3  causal_mask, padding_mask: who may see which key                           (two lines)
    Task 4  attention: all of it, in the memory of one matrix of scores               (four lines)
    Task 5  attention_memory, longest_sequence: what it takes, what fits             (three lines)

Verify
    pytest week3/day4                  then: ./course quiz week3/day4
    Reflect: div_ divides n_q * n_k weights by l. Which smaller tensor could be divided in their place?

Simulated without a GPU: results and bytes are exact. Time is not simulated.
"""

import math

import torch
from tools.gpu import device  # where tensors are: "cuda", or "cpu" where no GPU is


# Task 1
def scaled_scores(q: torch.Tensor, k: torch.Tensor, scale: float | None = None) -> torch.Tensor:
    """The product of each query with each key, times scale: (..., n_q, n_k), in the dtype of q.

    q: (..., n_q, d), k: (..., n_k, d), of the same axes before the last two, floats; n_q and n_k may be 0.
    scale: 1 / sqrt(d) if not given; 0.0 is a scale, too.
    At its peak it takes the scores and as much as q, no more. q stays as it is.
    """
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return (q * scale) @ k.mT


def score_variance(d: int, scale: float = 1.0) -> float:
    """The variance of scores, if the numbers of queries and keys are independent, with mean 0 and variance 1."""
    return d * scale**2


# Task 2
def attention_weights(scores: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The softmax of each row: (..., n_q, n_k), in the dtype of scores.

    scores: (..., n_q, n_k), float32 or float64, of any size. A row of -inf alone has weights 0. A NaN or +inf makes
    its own row NaN, and no other.
    out: as scores, allocated if not given; it may be scores. Beside out only columns, (..., n_q, 1), are allocated.
    """
    out = torch.empty_like(scores) if out is None else out
    if out.numel() == 0:
        return out  # no key or no query: amax refuses
    m = scores.amax(-1, keepdim=True)
    m = m.masked_fill(m == -torch.inf, 0.0)
    torch.sub(scores, m, out=out).exp_()
    l = out.sum(-1, keepdim=True)
    return out.div_(l.masked_fill(l == 0, 1.0))


# Task 3
def causal_mask(n_q: int, n_k: int, first: int = 0) -> torch.Tensor:
    """(n_q, n_k), bool, on `device`: True where the key's place is not after the query's.

    Key j has place j, query i has place first + i: queries may go on where earlier ones ended. n_q and n_k may be 0.
    At its peak it takes one byte for each pair of a query and a key, and vectors of places, which
    torch.arange(n, device=device) makes. torch.arange(n) lies on the CPU, and cannot meet scores on a GPU.
    """
    return torch.arange(n_k, device=device) <= first + torch.arange(n_q, device=device)[:, None]


def padding_mask(lengths: torch.Tensor, n_k: int) -> torch.Tensor:
    """(batch, 1, 1, n_k), bool, on `device`: True for the first lengths[b] keys of sequence b.

    lengths: (batch,), int64, on `device`, from 0 to n_k.
    """
    return torch.arange(n_k, device=device) < lengths[:, None, None, None]


# Task 4
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, mask: torch.Tensor | None = None,
              scale: float | None = None) -> torch.Tensor:
    """The values, summed with the weights of each query: (..., n_q, d_v), in the dtype of q.

    q: (..., n_q, d), k: (..., n_k, d), v: (..., n_k, d_v), float32 or float64; none needs a gradient. n_q and n_k may
    be 0; a query that sees no key gets zeros. What is hidden in k has no influence, NaN included. In v all that is
    hidden is finite, since a weight of 0 times NaN is NaN.
    mask: bool, True where a query sees a key; it fits (..., n_q, n_k), perhaps with axes of size 1. None: all see all.
    scale: as in scaled_scores.
    At its peak one matrix of scores is alive, and nothing else that is as large; ~mask has a byte for each of mask's.
    """
    scores = scaled_scores(q, k, scale)
    if mask is not None:
        scores.masked_fill_(~mask, -torch.inf)
    return attention_weights(scores, out=scores) @ v


# Task 5
def attention_memory(batch: int, heads: int, n_q: int, n_k: int, d: int, itemsize: int) -> int:
    """Bytes that attention without a mask takes at its peak, beside q, k and v, for d_v = d.

    itemsize: bytes of a number. d is larger than 8, so that the output, (n_q, d), takes more than m, l and all else
    of (n_q, 1), which ends before the output begins.
    """
    return batch * heads * n_q * (n_k + d) * itemsize


def longest_sequence(budget: int, heads: int, d: int, itemsize: int) -> int:
    """The most queries, with as many keys, whose attention_memory is at most budget bytes, for a batch of 1.

    0 if not even one fits. Exact, and at once, for a budget of any size: no loop over lengths.
    """
    pairs = budget // (heads * itemsize)  # n * (n + d) is at most this
    return (math.isqrt(d * d + 4 * pairs) - d) // 2
