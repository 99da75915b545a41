"""What `./course bench week3/katas/paper_technique` measures: losses of tokens, against logits that are stored."""

from tools.course.content.workload import Compiled, Workload, tensors

D = 2048
WORDS = 32768


def sizes(n):
    return (WORDS, D) if n >= 1024 else (4 * n, n)


def operands(n, rng):
    import torch

    words, d = sizes(n)
    hidden, classifier = (x.half() for x in tensors(rng, (n, d), (words, d)))
    hidden /= d**0.5  # logits with a variance of 1
    labels = torch.from_numpy(rng.integers(0, words, n)).to(hidden.device)
    return hidden, classifier, labels


def by_all_logits(hidden, classifier, labels):
    import torch

    logits = (hidden @ classifier.T).float()
    return torch.nn.functional.cross_entropy(logits, labels, reduction="none"), logits.logsumexp(1)


def moved(n):
    words, d = sizes(n)
    return 2 * d * (n + words) + 16 * n  # both matrices in 16 bits; labels, loss and lse


def flops(n):
    words, d = sizes(n)
    return 2 * n * words * d


WORKLOADS = (
    Workload(
        function="token_losses", arguments=operands, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(64,), small=160,
        shape=lambda n: f"{n} tokens, {sizes(n)[0]} words, d = {sizes(n)[1]}, float16", moved=moved, flops=flops,
        terms=lambda n: sum(sizes(n)), dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(by_all_logits), "PyTorch": by_all_logits}),
)
