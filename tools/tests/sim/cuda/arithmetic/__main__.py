"""Compile the kernels, and write the record."""

import json

from tools.tests.sim.cuda.arithmetic import FILE
from tools.tests.sim.cuda.arithmetic.kernels import KERNELS
from tools.tests.sim.cuda.arithmetic.machine_code import figures

FILE.write_text(json.dumps({name: figures(*each) for name, each in KERNELS.items()}, indent=1) + "\n")
