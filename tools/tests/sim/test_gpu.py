"""tools.gpu makes the choice between real and simulated kernels, and loads nothing for it."""

import os
import subprocess
import sys

import pytest

from tools import ROOT

LOADED = "print({'torch', 'triton', 'numpy'} & {*sys.modules}, os.environ.get('TRITON_INTERPRET'))"
CHOSEN = "import triton; print(triton.knobs.runtime.interpret)"


def printed(code: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_it_loads_nothing_heavy_and_asks_no_driver():
    code = f"import os, sys, tools.gpu; {LOADED}; print(tools.gpu.installed_card.cache_info().misses)"
    assert printed(code).split("\n") == ["set() None", "0"]


@pytest.mark.parametrize(
    "environment, interprets", [({"COURSE_SIM": "1"}, "True"), ({"COURSE_SIM": "1", "COURSE_COMPILE": "1"}, "False")]
)
def test_kernels_are_simulated_where_there_is_no_gpu_and_not_where_they_are_compiled(environment, interprets):
    assert printed(f"import tools.gpu; {CHOSEN}", **environment) == interprets


def test_the_choice_to_simulate_may_come_later_than_the_import():
    code = f"import os, tools.gpu; os.environ['COURSE_SIM'] = '1'; {CHOSEN}; print(tools.gpu.device)"
    assert printed(code).split() == ["True", "cpu"]
