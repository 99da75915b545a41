"""Ask Numba for the types of all functions, and write the record."""

import json

from numba import cuda

from tools.tests.sim.cuda import inferred
from tools.tests.sim.cuda.inferred.numbas import no_gpu_needed, of_numba

with no_gpu_needed():
    found = {each.__name__: of_numba(each, inferred.arguments(each)) for each in inferred.load(cuda)}
lines = [
    f" {json.dumps(name)}: {json.dumps({variable: sorted(types) for variable, types in of.items()})}"
    for name, of in found.items()
]
inferred.RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
