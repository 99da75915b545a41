"""The front end of Triton's compiler in a process that simulates: a kernel that it refuses is refused at its launch.

There `triton.jit` makes functions for the interpreter, which takes any Python. Here each is wrapped as for the
compiler, specialized to the launch's arguments, and translated into Triton's intermediate representation (TTIR):
25 ms for a kernel of ten lines, once for each signature (taken.py). No pass of the compiler is run.
"""

import functools
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from typing import Any

from triton import language
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, code_generator, make_backend
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction, compute_cache_key, create_function_from_signature

from tools.compiler import diagnostics, taken
from tools.models.chips import chip

CHIP = "h100"
InPlace = Callable[[], AbstractContextManager[Mapping[int, Any]]]

UNKNOWN = re.compile(r"Keyword argument (\w+) was specified but unrecognised")

_taken: dict[tuple[str, str], "Signature"] = {}  # by kernel and key: what the front end has taken


class Signature:
    """A kernel for one kind of arguments.

    known: of each parameter by name, its type and what the compiler makes use of ("D": divisible by 16), or
    "constexpr" and its value.
    """

    def __init__(self, function: JITFunction, packed: tuple, known: dict[str, tuple], in_place: InPlace) -> None:
        self.function, self.known = function, known
        self._packed, self._in_place = packed, in_place

    @functools.cached_property
    def compiled(self) -> Any:
        """The kernel as the whole compiler makes it: see `whole.compiled`. Raises CompileError, NoCompiler."""
        from tools.compiler import whole

        target, backend = _target()
        whole.need_programs()
        with self._in_place() as Generator.functions, _told(self.function, others=True):
            context, module = _translated(self.function, *self._packed)
            return whole.compiled(context, module, target, backend, self._packed[0])


def check(kernel: InterpretedFunction, args: tuple, kwargs: Mapping[str, Any], in_place: InPlace) -> Signature | None:
    """Translate a launch's kernel for CHIP, unless one of its signature has been. None: its arguments do not fit.

    args, kwargs: of the launch, options such as num_warps included. in_place: within, triton.language is what
    the compiler knows it as; gives what its functions were, by the id of what stands for them in a kernel's names.
    Raises CompileError; TypeError and ValueError for an option that a launch does not take.
    """
    function = for_compiler(kernel)
    kwargs = {"debug": False, "instrumentation_mode": ""} | dict(kwargs)
    try:
        bound, specialization, options = _binder(kernel)(*args, **kwargs)
    except Exception:
        return None  # which the launch itself will say
    key = function.hash, compute_cache_key({}, specialization, options)
    if key not in _taken:
        packed = _packed(function, kwargs, bound, specialization, options)
        _translate_once(function, packed, in_place)
        known = dict(zip((each.name for each in function.params), specialization))
        _taken[key] = Signature(function, packed, known, in_place)
    return _taken[key]


def _translate_once(function: JITFunction, packed: tuple, in_place: InPlace) -> None:
    """Raise CompileError where the translation fails. It reads no fact of an argument: the passes do."""
    options, signature, constants, _ = packed
    key = taken.key(function, (str(options), signature, constants), _for_compiler)
    if not taken.is_known(key):
        with in_place() as Generator.functions, _told(function, others=False), taken.remembered(key):
            _translated(function, *packed)


@functools.cache
def for_compiler(function: InterpretedFunction) -> JITFunction:
    """The same function as triton.jit would have made it for a GPU."""
    made = JITFunction(function.fn, **function.kwargs)
    made.hash = f"{made._fn_name}-{id(made)}"  # or Triton looks at all that it uses, and knows no interpreted function
    return made


class Generator(code_generator.CodeGenerator):
    """Triton's, for code whose functions were made for the interpreter, Triton's own included.

    functions: of the language, by the id of what a kernel has in their place.
    """

    functions: Mapping[int, Any] = {}

    def __init__(self, context: Any, prototype: Any, gscope: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
        names = {name: _for_compiler(self.functions.get(id(value), value)) for name, value in dict(gscope).items()}
        super().__init__(context, prototype, names, *args, **kwargs)

    def get_Attribute(self, lhs: Any, attr: str) -> Any:
        method = getattr(language, attr, None)
        if isinstance(lhs, language.tensor) and isinstance(method, InterpretedFunction):
            return code_generator.BoundJITMethod(lhs, for_compiler(method))
        return _for_compiler(super().get_Attribute(lhs, attr))


def _for_compiler(value: Any) -> Any:
    # isinstance would ask lazy modules for their __class__
    return for_compiler(value) if type(value) is InterpretedFunction else value


@functools.cache
def _target() -> tuple[GPUTarget, Any]:
    target = GPUTarget("cuda", chip(CHIP).capability, 32)
    return target, make_backend(target)


@functools.cache
def _binder(kernel: InterpretedFunction) -> Callable:
    function = for_compiler(kernel)
    return create_function_from_signature(function.signature, function.params, _target()[1])


def _packed(function: JITFunction, kwargs: dict, bound: dict, specialization: list, options: dict) -> tuple:
    """Options, signature, constants and what is known of arguments. Raises TypeError, ValueError for the options."""
    try:
        return function._pack_args(_target()[1], kwargs, bound, specialization, options)
    except KeyError as error:
        unknown = UNKNOWN.search(str(error))
        if unknown is None:
            raise
        name, kernel = unknown[1], function.__name__
        raise TypeError(f"{name} is neither an argument of {kernel} nor an option of a launch.") from None
    except AssertionError as error:
        raise ValueError(f"{function.__name__} cannot be launched like this: {error}.") from None


def _translated(function: JITFunction, options: Any, signature: dict, constants: dict, facts: dict) -> tuple:
    """The context of the compiler, and the module of TTIR in it, which lives no longer than it."""
    target, backend = _target()
    kept, code_generator.CodeGenerator = code_generator.CodeGenerator, Generator
    try:
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        constants = {path: _for_compiler(value) for path, value in constants.items()}
        source = ASTSource(function, signature, constants, facts)
        codegen = backend.get_codegen_implementation(options)
        return context, source.make_ir(target, options, codegen, backend.get_module_map(), context)
    finally:
        code_generator.CodeGenerator = kept


@contextmanager
def _told(function: JITFunction, others: bool) -> Iterator[None]:
    """Inside, what the compiler refuses becomes a CompileError. others: are errors of other kinds raised, too?"""
    said: list[str] = []
    try:
        with diagnostics.complaints() as said, redirect_stdout(io.StringIO()):  # Triton prints what it cannot verify
            yield
    except Exception as error:
        rejected = diagnostics.rejected(error, function, chip(CHIP), said)
        if rejected:
            raise rejected from None
        if others:
            raise
