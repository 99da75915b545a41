"""Week 3, kata: a paper read for its technique

Challenge
    "Cut Your Losses in Large-Vocabulary Language Models" (Wijmans et al., 2024) claims that a loss which took 24 GB
    takes 1 MB. Ask of a paper: what is stored, what must be kept, what is computed again? Then write it. A token has a
    hidden state, d numbers, and each word of the vocabulary a row of the classifier (the paper's E and C). Their dot
    product is the *logit* of the word. *Cross-entropy*, the loss, is small if the word that came has a large one.

        hidden = (1, 2, 0, 1)   word    0      1         2      3          rows of the classifier: the week's keys
        logits                          4      0         2      6          the label, the word that came, is word 2
        m                               4                6                 alpha = exp(4 - 6) = .135
        l                               1 + .018         .135 * 1.018 + .018 + 1 = 1.156
        picked                          0                2                 the logit of the label
        lse = 6 + log(1.156) = 6.145    loss = lse - picked = 4.145
        exp(logits - lse)               .117   .002      .016   .865       the softmax
        d_logits                        .117   .002     -.984   .865       1 less at the label

Explore
    ./course python -c "print(8192 * 256000 * 4 / 2**20)"
    MiB of float32 logits of 8192 tokens and 256000 words. How many such matrices are the paper's 24 GB, 24000 MiB?

Concept
    Four answers, each with a test. Claim: 24 GB become 1 MB. Cost: 3 matrices * 8192 * 256000 * 4 bytes = 24000 MiB.
    Kept: loss and lse, two numbers a token, 64 KiB. Computed again: the logits, for the gradients. Those of d = 2304
    columns in 16 bits are (8192 + 256000) * 2304 * 2 bytes = 1161 MiB. The authors measured 1163 for the backward.
    Forward: m and l of day 5, over tiles of words. A tile of logits begins as tl.zeros((TILE_M, TILE_V), dtype), and
    logits = tl.dot(h, w.T, logits, input_precision=PRECISION, out_dtype=dtype) adds the products of TILE_D columns.
    Padding: a place past the last word has a logit of 0, and exp(0) counts. Make it -inf before the maximum. m begins
    at LOWEST: from -inf, a tile of -inf gives -inf - -inf, NaN. Log-sum-exp: m + tl.log(l).
    Picked: one tile has the label, where word[None, :] == label[:, None]. tl.where(a, x, 0.0) is 0 elsewhere.
    Ignored: a label of -100 says that a token does not count. Its loss and gradients are 0, whatever its hidden state
    holds; 0 times NaN is NaN. The mean is over the others; over none it is 0: x.sum().clamp(min=1) is at least 1.
    Gradients: d_logits = (exp(logits - lse) - one_hot) * d_loss / counted; one_hot is 1 at the label, else 0.
    d_hidden = d_logits @ classifier is a sum over all chunks of words; of d_classifier = d_logits.T @ hidden each chunk
    has its own rows. An ignored token gets a hidden state of 0 and an lse of inf, by x.masked_fill(mask, number): then
    exp(0 - inf) is 0, and a label of -100 is in no chunk.
    One chunk: x - y is a second one. x.sub_(y), x.exp_() and x.mul_(y) write into x. del x forgets it: in a loop the
    old x is alive until the new one has been computed.
    One-hot: x.scatter_add_(1, places, values) adds values[i, 0] to x[i, places[i, 0]]; both are (tokens, 1). Where a
    label is not here, in this chunk, add 0 at place 0: torch.where(here, labels - start, 0).
    16 bits: x.to(lse.dtype) before products and sums, and each gradient is rounded once.

Code it
    Task 1  bytes_of_logits, bytes_of_forward, bytes_of_backward: the claim, as formulas    (three lines)
    Task 2  loss_kernel, token_losses: loss and lse, one store each                    (twenty-one lines)
    Task 3  cross_entropy_backward: both gradients, chunk after chunk                    (fourteen lines)
    Task 4  CrossEntropy: the mean, and what waits for the backward                          (four lines)

Verify
    pytest week3/katas/paper_technique         then: ./course quiz week3/katas/paper_technique
    Reflect: the paper also skips gradients "below numerical precision". What may that cost, and what would test it?

Simulated without a GPU: results and bytes are exact, and the compiler is the real one. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

IGNORED = -100                                   # the label of a token that does not count
LOWEST = tl.constexpr(-3.4028234663852886e38)    # of float32
PRECISION = tl.constexpr("tf32x3")               # of float32 products: on tensor cores, nearly float32
CONFIG = {"TILE_M": 64, "TILE_V": 128, "TILE_D": 64, "num_warps": 4, "num_stages": 3}  # tokens, words, columns
WIDE = CONFIG | {"TILE_V": 64, "TILE_D": 32}     # of float32 and float64
CHUNK = 4096                                     # words of a chunk of the backward


# Task 1
def bytes_of_logits(tokens: int, vocabulary: int, matrices: int) -> int:
    """Bytes of so many float32 matrices with a logit of each token and each word."""
    raise NotImplementedError("week3/katas/paper_technique task 1: bytes_of_logits")


def bytes_of_forward(tokens: int) -> int:
    """Bytes that token_losses allocates: lse and loss of each token, float32."""
    raise NotImplementedError("week3/katas/paper_technique task 1: bytes_of_forward")


def bytes_of_backward(tokens: int, vocabulary: int, d: int, chunk: int, size: int) -> int:
    """Bytes of d_hidden and d_classifier, `size` bytes a number, and of the logits of one chunk in float32.

    chunk: words of a chunk; no more than the vocabulary has are ever there.
    """
    raise NotImplementedError("week3/katas/paper_technique task 1: bytes_of_backward")


# Task 2
@triton.jit
def load_tile(x_ptr, row, col, rows, cols, row_stride, col_stride):
    """x[row, col] for a vector of rows and one of columns, 0 outside x. Given."""
    row, col = row[:, None], col[None, :]
    places = row.to(tl.int64) * row_stride + col.to(tl.int64) * col_stride  # int32 ends at 2**31
    return tl.load(x_ptr + places, mask=(row < rows) & (col < cols), other=0.0)


@triton.jit
def loss_kernel(hidden_ptr, classifier_ptr, labels_ptr, loss_ptr, lse_ptr, tokens, vocabulary, d, hidden_row,
                hidden_col, classifier_row, classifier_col, TILE_M: tl.constexpr, TILE_V: tl.constexpr,
                TILE_D: tl.constexpr, IGNORED: tl.constexpr):
    """loss and lse of TILE_M tokens. hidden_row, hidden_col, ...: the strides of each matrix."""
    dtype: tl.constexpr = lse_ptr.dtype.element_ty
    token = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    label = tl.load(labels_ptr + token, mask=token < tokens)
    pass  # tile by tile: logits, -inf past the last word, picked, m and l; then lse, and two stores


def token_losses(hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor, *,
                 tiles: tuple[int, int, int] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """(loss, lse) of each token, (tokens,), by loss_kernel, a program for each TILE_M tokens.

    hidden: (tokens, d), classifier: (vocabulary, d), floats of one dtype and any strides; neither is copied. tokens may
    be 0; vocabulary and d are 1 or more. labels: (tokens,) int64, contiguous, a word or IGNORED. loss, lse: float64 if
    hidden is, else float32. A label of IGNORED: loss 0. What is not finite stays with its token.
    The launch hands on *hidden.stride() and *classifier.stride(), then IGNORED and **config by keyword.
    tiles: (TILE_M, TILE_V, TILE_D), each 16 or more, if not those of CONFIG or WIDE.
    """
    (tokens, d), vocabulary = hidden.shape, len(classifier)
    config = CONFIG if hidden.element_size() == 2 else WIDE
    config = config | (dict(zip(("TILE_M", "TILE_V", "TILE_D"), tiles)) if tiles else {})
    dtype = torch.promote_types(hidden.dtype, torch.float32)
    loss, lse = (torch.empty(tokens, dtype=dtype, device=hidden.device) for _ in range(2))
    grid = (triton.cdiv(tokens, config["TILE_M"]),)
    raise NotImplementedError("week3/katas/paper_technique task 2: token_losses")


# Task 3
def cross_entropy_backward(d_loss: torch.Tensor, hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor,
                           lse: torch.Tensor, chunk: int = CHUNK) -> tuple[torch.Tensor, torch.Tensor]:
    """(d_hidden, d_classifier), of the shapes and dtype of hidden and classifier, `chunk` words at a time.

    d_loss: the gradient of the mean loss, one number. Others as those of token_losses; lse: what it returned.
    An ignored token has a d_hidden of 0 and adds nothing to d_classifier, even if its hidden state is NaN.
    At no time is more than one chunk of (tokens, chunk) numbers alive.
    """
    ignored = labels == IGNORED
    scale = d_loss / (~ignored).sum().clamp(min=1)
    d_classifier = torch.empty(classifier.shape, dtype=classifier.dtype, device=classifier.device)
    raise NotImplementedError("week3/katas/paper_technique task 3: cross_entropy_backward")


# Task 4
class CrossEntropy(torch.autograd.Function):
    """cross_entropy for autograd: the mean loss of the tokens that count, 0 if there are none.

    Beside its arguments only lse waits for the backward, which returns a gradient for each of them, None for labels.
    """

    @staticmethod
    def forward(ctx, hidden, classifier, labels):
        raise NotImplementedError("week3/katas/paper_technique task 4: forward")

    @staticmethod
    def backward(ctx, d_loss):
        raise NotImplementedError("week3/katas/paper_technique task 4: backward")


def cross_entropy(hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean loss of the tokens that count, one number, with gradients. Arguments as those of token_losses. Given."""
    return CrossEntropy.apply(hidden, classifier, labels.contiguous())
