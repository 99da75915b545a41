"""cupy.exceptions: NumPy's."""

import numpy as np

NAMES = "AxisError ComplexWarning ModuleDeprecationWarning RankWarning TooHardError VisibleDeprecationWarning"
globals().update({name: getattr(np.exceptions, name) for name in NAMES.split()})
