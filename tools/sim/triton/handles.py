"""The compiled kernel, as far as a program asks it: a launch and kernel.warmup give it back."""

import sys
from collections.abc import Callable
from typing import Any

from tools.models.launch import MOST_THREADS
from tools.models.units import WARP

UNKNOWN = "Registers and shared memory are not known here: nothing in this process can compile the kernel."
LOADED = "{} is known once the kernel is on the GPU: after a launch, or handle._init_handles()."
DIVISIBLE = "D"  # Triton's sign for a number, or an address, that is divisible by 16
SHAPE = "A compiled kernel is launched with a grid of three numbers: handle[(n, 1, 1)](...)."


class Handle:
    """A kernel as Triton's compiler makes it for one kind of arguments, compiled when something of it is asked for.

    signature: a tools.compiler.front_end.Signature, None where there is no compiler; sign(kernel, args, kwargs) gives
    that of other arguments. options: of the launch, num_warps for one. loaded: would it be on the GPU by now?
    What is asked for raises CompileError, and NoCompiler where Triton comes without the programs that it takes.
    """

    def __init__(self, kernel: Any, sign: Callable[..., Any], signature: Any, options: dict, loaded: bool) -> None:
        self._kernel, self._options, self._loaded = kernel, options, loaded
        self._sign, self._signature = sign, signature
        self.name = kernel.__name__

    def __repr__(self) -> str:
        return f"<compiled kernel {self.name}>"

    def _compiled(self) -> Any:
        if self._signature is None:
            raise RuntimeError(UNKNOWN)
        return self._signature.compiled

    def _known_when_loaded(self, what: str) -> Any:
        if not self._loaded:
            raise AttributeError(LOADED.format(what))
        return self._compiled()

    @property
    def n_regs(self) -> int:
        """Registers of a thread."""
        return self._known_when_loaded("n_regs").registers

    @property
    def n_spills(self) -> int:
        """Words of 32 bits that a thread keeps in local memory."""
        return self._known_when_loaded("n_spills").spills

    @property
    def metadata(self) -> Any:
        """shared (bytes of a block), num_warps, num_stages, name, target and more."""
        return self._compiled().metadata

    @property
    def asm(self) -> dict[str, Any]:
        """The compiler's texts by stage: asm["ttir"], "ttgir", "llir", "ptx", "sass"; and "cubin", which is bytes."""
        return self._compiled().asm

    @property
    def hash(self) -> str:
        """The same for the same kernel."""
        return self._compiled().metadata.hash

    def _init_handles(self) -> None:
        """Load it, as Triton's own does at the first launch. Raises OutOfResources, for shared memory and threads."""
        _must_fit(self.metadata.shared, _most_shared_memory(), "shared memory")
        refuse_too_many_threads(self.metadata.num_warps)
        self._loaded = True

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        if callable(grid) or len(grid) < 3:
            raise IndexError(SHAPE)

        def launch(*args: Any, stream: Any = None) -> None:
            self._init_handles()
            self._check(args)
            self._kernel.run(*args, grid=tuple(grid[:3]), warmup=False, **self._options)

        return launch

    def _check(self, args: tuple) -> None:
        """Raise TypeError or ValueError for arguments that it was not compiled for: nothing would say so on a GPU."""
        if len(args) != len(self._kernel.arg_names):
            wanted = len(self._kernel.arg_names)
            raise TypeError(
                f"A compiled {self.name} takes all of its {wanted} arguments in their order, constants too, and was "
                f"given {len(args)}."
            )
        now, refused = self._sign(self._kernel, args, self._options)
        if refused:
            raise refused
        if now is None or self._signature is None or now is self._signature:
            return
        for name, then in self._signature.known.items():
            if not _fits(then, now.known[name]):
                raise ValueError(
                    f"{name} of {self.name} is {_shown(now.known[name])}; when it was compiled, it was "
                    f"{_shown(then)}.\nA GPU would not notice, and compute with that. warmup compiles it anew."
                )


def _fits(then: tuple, now: tuple) -> bool:
    """Is code for an argument known as `then` right for one known as `now`? Whole numbers of 1 are constants."""
    if then == now or then[0] == "constexpr" or not isinstance(then[0], str):
        return then == now
    if now[0] == "constexpr":
        return then[0] in ("i32", "i64") and then[1] != DIVISIBLE
    return (then[0] == now[0] or (then[0], now[0]) == ("i64", "i32")) and then[1] in (now[1], None, "")


def _shown(known: tuple) -> str:
    kind, more = known
    if kind == "constexpr" or not isinstance(kind, str):
        return repr(more)
    article = "an" if kind[0] == "i" else "a"
    return f"{article} {kind}" + (" divisible by 16" if more == DIVISIBLE else "")


def _most_shared_memory() -> int:
    utils = sys.modules["triton"].runtime.driver.active.utils
    return utils.get_device_properties(0)["max_shared_mem"]


def refuse_too_many_threads(warps: int) -> None:
    """Raises OutOfResources where a block has none so large; autotune passes over such a configuration."""
    _must_fit(WARP * warps, MOST_THREADS, "threads")


def _must_fit(needs: int, has: int, what: str) -> None:
    if needs > has:
        raise sys.modules["triton"].runtime.errors.OutOfResources(needs, has, what)
