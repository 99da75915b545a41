"""Week 3, kata: a paper read for its technique

Challenge
    "Cut Your Losses in Large-Vocabulary Language Models" (Wijmans et al., 2024) claims that a loss which took 24000 MB
    takes 1 MB (a MiB). What is stored, kept, computed again? The loss first; gradients in a second sitting. A
    token has a hidden state, d numbers, and each word of the vocabulary a row of the classifier (the paper's E and C).
    Their dot product is the *logit* of the word. *Cross-entropy*, the loss, is small if that of the label is large.

        hidden = (1, 2, 0, 1)       tile 0: words 0, 1      tile 1: words 2, 3          label: 2, the word that came
        classifier, row by row      (2,1,5,0) (-2,1,3,0)    (1,0,0,1) (1,2,1,1)
        logits                        4         0             2         6
        m                             4                       6                     alpha = exp(4 - 6) = .135
        l                             1 + .018                .135 * 1.018 + .018 + 1 = 1.156
        picked                        0, not here             2                     the logit of the label
        lse = 6 + log(1.156) = 6.145                          loss = lse - picked = 4.145
        exp(logits - lse)            .117      .002          .016      .865         the softmax
        d_logits                     .117      .002         -.984      .865         1 less at the label

Explore
    ./course python -c "print(8192 * 256000 * 4 / 2**20)"
    MiB of float32 logits of 8192 tokens and 256000 words. How many such matrices are the paper's 24000?

Concept
    Four answers. Stored before: float32 logits, as many matrices as Explore finds. Made now: loss and lse, two float32
    a token, 64 KiB of the 1 MB. Kept for the backward: lse, beside the arguments. Computed again there: the logits.
    With d = 2304 columns of 16 bits both gradients take (8192 + 256000) * 2304 * 2 bytes = 1161 MiB; the authors
    measured 1163. Our backward also stores one chunk of float32 logits: 8192 * 4096 * 4 bytes are 128 MiB more.
    Forward: over tiles of words, and in each over tiles of columns. logits begin as tl.zeros((TILE_M, TILE_V), dtype);
    logits = tl.dot(h, w.T, logits, input_precision=PRECISION, out_dtype=dtype) adds the products of TILE_D columns.
    Then m and l of day 5, one number a token: m_new = tl.maximum(m, tl.max(logits, 1)), l is multiplied by
    exp(m - m_new), and the sum of exp(logits - m_new) is added. After all words lse = m + tl.log(l).
    Padding: a place past the last word has a logit of 0, and exp(0) counts. Make it -float("inf") before the maximum.
    m begins at LOWEST: from -inf, a first tile of logits of -inf gives -inf - -inf, NaN; from 0, exp(-200) is 0.
    Picked: one tile has the label, where word[None, :] == label[:, None]. tl.where(a, x, 0.0) is 0 elsewhere:
    add up the tiles.
    Ignored: a label of IGNORED says that a token does not count. Its loss and gradients are 0, whatever its hidden
    state holds. 0 times NaN is NaN: choose with tl.where. The mean is over the others; over none it is 0, since
    x.sum().clamp(min=1) is at least 1.
    Gradients: d_logits = (exp(logits - lse) - one_hot) * d_loss / counted; one_hot is 1 at the label, else 0,
    and is taken off before the factor comes.
    d_hidden = d_logits @ classifier is a sum over all chunks of words; of d_classifier = d_logits.T @ hidden each chunk
    has its own rows. Ignored tokens get an lse of inf, by lse.masked_fill(ignored, torch.inf), and a hidden state of 0,
    likewise with ignored[:, None]: exp(0 - inf) is 0.
    One chunk: x - y is a second one. x.sub_(y), x.exp_() and x.mul_(y) write into x. del x forgets it: in a loop the
    old x is alive until the new one has been computed.
    16 bits: .to(lse.dtype) of hidden, and of the classifier's rows of one chunk; all of its rows would take 2250 MiB.
    In float32 .to copies nothing: a write into it is one into hidden. Products and d_hidden are of lse.dtype, and each
    gradient is rounded once.

Code it
    Task 1  bytes_of_logits, bytes_of_forward, bytes_of_backward: the claim, as formulas    (three lines)
    Task 2  loss_kernel: loss and lse, one store each                                    (nineteen lines)
    Task 3  cross_entropy_backward: both gradients, chunk after chunk                      (twelve lines)
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
    return 4 * matrices * tokens * vocabulary


def bytes_of_forward(tokens: int) -> int:
    """Bytes that token_losses allocates: lse and loss of each token, float32."""
    return 2 * 4 * tokens


def bytes_of_backward(tokens: int, vocabulary: int, d: int, chunk: int, size: int) -> int:
    """Bytes of d_hidden and d_classifier, `size` bytes a number, and of the logits of one chunk in float32.

    chunk: words of a chunk; there are never more of them than the vocabulary has.
    """
    return size * (tokens + vocabulary) * d + 4 * tokens * min(chunk, vocabulary)


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
    label = tl.load(labels_ptr + token, mask=token < tokens)  # anything past the last token: nothing is stored there
    m = tl.full((TILE_M,), LOWEST, dtype)
    l = tl.zeros((TILE_M,), dtype)
    picked = tl.zeros((TILE_M,), dtype)
    for first in range(0, vocabulary, TILE_V):
        word = first + tl.arange(0, TILE_V)
        logits = tl.zeros((TILE_M, TILE_V), dtype)
        for start in range(0, d, TILE_D):
            col = start + tl.arange(0, TILE_D)
            h = load_tile(hidden_ptr, token, col, tokens, d, hidden_row, hidden_col)
            w = load_tile(classifier_ptr, word, col, vocabulary, d, classifier_row, classifier_col)
            logits = tl.dot(h, w.T, logits, input_precision=PRECISION, out_dtype=dtype)
        logits = tl.where(word[None, :] < vocabulary, logits, -float("inf"))
        picked += tl.sum(tl.where(word[None, :] == label[:, None], logits, 0.0), 1)
        m_new = tl.maximum(m, tl.max(logits, 1))
        l = l * tl.exp(m - m_new) + tl.sum(tl.exp(logits - m_new[:, None]), 1)
        m = m_new
    lse = m + tl.log(l)
    tl.store(lse_ptr + token, lse, mask=token < tokens)
    tl.store(loss_ptr + token, tl.where(label == IGNORED, 0.0, lse - picked), mask=token < tokens)


def token_losses(hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor, *,
                 tiles: tuple[int, int, int] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """(loss, lse) of each token, (tokens,), by loss_kernel, a program for each TILE_M tokens. Given.

    hidden: (tokens, d), classifier: (vocabulary, d), floats of one dtype and any strides; neither is copied. tokens may
    be 0; vocabulary and d are 1 or more. labels: (tokens,) int64, contiguous, a word or IGNORED. loss, lse: float64 if
    hidden is, else float32. A label of IGNORED: loss 0. A hidden state with NaN or inf spoils no other token.
    tiles: (TILE_M, TILE_V, TILE_D), each 16 or more, if not those of CONFIG or WIDE.
    """
    (tokens, d), vocabulary = hidden.shape, len(classifier)
    config = CONFIG if hidden.element_size() == 2 else WIDE
    config = config | (dict(zip(("TILE_M", "TILE_V", "TILE_D"), tiles)) if tiles else {})
    dtype = torch.promote_types(hidden.dtype, torch.float32)
    loss, lse = (torch.empty(tokens, dtype=dtype, device=hidden.device) for _ in range(2))
    grid = (triton.cdiv(tokens, config["TILE_M"]),)
    loss_kernel[grid](hidden, classifier, labels, loss, lse, tokens, vocabulary, d, *hidden.stride(),
                      *classifier.stride(), IGNORED=IGNORED, **config)
    return loss, lse


# Task 3
def subtract_one_hot(d_logits: torch.Tensor, labels: torch.Tensor, start: int) -> None:
    """1 less at each token's label, in place, if it is one of this chunk's words. Given.

    d_logits: (tokens, words of the chunk), the first of them word `start`. labels: those of token_losses.
    """
    here = (labels >= start) & (labels < start + d_logits.shape[1])
    place = torch.where(here, labels - start, 0)
    d_logits.scatter_add_(1, place[:, None], -here[:, None].to(d_logits.dtype))


def cross_entropy_backward(d_loss: torch.Tensor, hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor,
                           lse: torch.Tensor, chunk: int = CHUNK) -> tuple[torch.Tensor, torch.Tensor]:
    """(d_hidden, d_classifier), of the shapes and dtype of hidden and classifier, `chunk` words at a time.

    d_loss: the gradient of the mean loss, one number. Others as those of token_losses; lse: what it returned.
    An ignored token has a d_hidden of 0 and adds nothing to d_classifier, even if its hidden state is NaN.
    At no time is more than one tensor of (tokens, chunk) alive, nor in 16 bits a float32 copy of the whole classifier
    or of its gradient; one of the hidden state and one of its gradient may be.
    """
    ignored = labels == IGNORED
    scale = d_loss / (~ignored).sum().clamp(min=1)
    d_classifier = torch.empty(classifier.shape, dtype=classifier.dtype, device=classifier.device)
    lse = lse.masked_fill(ignored, torch.inf)[:, None]
    h = hidden.to(lse.dtype).masked_fill(ignored[:, None], 0.0)
    d_h = torch.zeros_like(h)
    for start in range(0, len(classifier), chunk):
        w = classifier[start:start + chunk].to(lse.dtype)
        d_logits = (h @ w.T).sub_(lse).exp_()
        subtract_one_hot(d_logits, labels, start)
        d_logits.mul_(scale)
        d_h += d_logits @ w
        d_classifier[start:start + chunk] = d_logits.T @ h
        del d_logits  # else it is alive until the next one has been computed
    return d_h.to(hidden.dtype), d_classifier


# Task 4
class CrossEntropy(torch.autograd.Function):
    """cross_entropy for autograd: the mean loss of the tokens that count, 0 if there are none.

    Its arguments and lse are saved for the backward, and no other tensor. The backward returns a gradient for each
    argument, None for labels.
    """

    @staticmethod
    def forward(ctx, hidden, classifier, labels):
        loss, lse = token_losses(hidden, classifier, labels)
        ctx.save_for_backward(hidden, classifier, labels, lse)
        return loss.sum() / (labels != IGNORED).sum().clamp(min=1)

    @staticmethod
    def backward(ctx, d_loss):
        return *cross_entropy_backward(d_loss, *ctx.saved_tensors), None


def cross_entropy(hidden: torch.Tensor, classifier: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean loss of the tokens that count, one number, with gradients. Arguments as those of token_losses. Given."""
    return CrossEntropy.apply(hidden, classifier, labels.contiguous())
