"""PyTorch's compiler and kernels of the simulator: a launch is opaque to it, an operator of torch.library whole.

Dynamo breaks its graph at a launch, and runs it as it is. A launch with tensors that hold no numbers, by which
PyTorch finds out shapes, does nothing. An operator of torch.library.triton_op is not taken apart into its launches,
as it is on a GPU: they would leave nothing in a graph that is made of such tensors. The graph calls the operator.
"""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

DECIDER = "torch.export._trace"  # module in which PyTorch looks whether to take operators apart; see install.py
WHY = "Without a GPU a kernel runs in Triton's interpreter, which no graph can hold. torch.library.triton_op hides it."
WITHOUT_NUMBERS = ("FakeTensor", "FunctionalTensor")


def patch(interpreter: ModuleType) -> None:
    """Replace how kernels are launched. After all others, whose replacements are left alone by Dynamo, too."""
    function = interpreter.InterpretedFunction
    function.run = _opaque(function.run)
    function.__init__ = _preparing(function.__init__, function.run)
    if DECIDER in sys.modules:
        keep_whole(sys.modules[DECIDER])


def _opaque(plain: Callable) -> Callable:
    def run(self: Any, *args: Any, **named: Any) -> Any:
        if any(type(each).__name__ in WITHOUT_NUMBERS for each in (*args, *named.values())):
            return None
        return plain(self, *args, **named)

    setattr(run, "_torchdynamo_disable", True)
    setattr(run, "_torchdynamo_disable_msg", WHY)
    return run


def _preparing(define: Callable, run: Callable) -> Callable:
    """When a kernel is defined, PyTorch is usually there; for Triton alone it need not be imported."""
    prepared = False

    def prepare_and_define(self: Any, *args: Any, **named: Any) -> None:
        nonlocal prepared
        if not prepared and "torch" in sys.modules:
            leave_alone(run)
            prepared = True
        define(self, *args, **named)

    return prepare_and_define


def leave_alone(function: Any) -> None:
    """Let torch.compile compile neither this function nor what it calls. Needs PyTorch, and not its compiler."""
    frames: Any = sys.modules["torch"]._C._dynamo.eval_frame
    skip = frames._FrameAction.SKIP
    frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


def keep_whole(module: ModuleType) -> None:
    """Let operators be nodes of a graph. module: the imported DECIDER."""
    setattr(module, "custom_triton_ops_decomposition_disabled", lambda: True)
