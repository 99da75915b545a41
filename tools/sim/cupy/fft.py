"""cupy.fft: NumPy's functions as a library's work (cuFFT)."""

from typing import Any

import numpy as np

from tools.sim.cupy.dispatch.calls import call

NAMES = """
    fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft fftshift ifftshift fftfreq
    rfftfreq
""".split()


def _function(name: str) -> Any:
    function = getattr(np.fft, name)

    def transform(*args: Any, **named: Any) -> Any:
        return call(f"fft.{name}", *args, function=function, **named)

    transform.__name__ = name
    return transform


globals().update({name: _function(name) for name in NAMES})
