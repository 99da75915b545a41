"""The whole machine, examined: every finding of the doctor, in groups, within a limited time and without fail."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from tools import gpu
from tools.doctor import checks, isolated, machine, packages, programs, self_tests, subprocesses, surroundings
from tools.doctor.findings import REINSTALL, Finding
from tools.doctor.machine import Facts
from tools.doctor.programs import PROGRAMS, Program
from tools.doctor.surroundings import Surroundings

PATIENCE = 15.0  # seconds for the GPU's driver to say what there is
QUERY = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits"]
SIMULATORS = {  # self-test -> the simulator's name
    "interpreter": "Triton interpreter", "cuda simulator": "CUDA simulator", "cupy stand-in": "CuPy stand-in",
    "raw kernel": "CUDA C++ by g++",
}  # fmt: skip

OF_PACKAGE = {"torch": "torch", "triton": "triton", "interpreter": "triton", "compilers": "numba-cuda"}

Step = Callable[[], Finding | list[Finding]]


@dataclass(frozen=True)
class Group:
    """Findings that belong together."""

    title: str
    findings: tuple[Finding, ...]


def examine(here: Surroundings) -> Iterator[Group]:
    """Ask all there is to ask, side by side, and give each group when its turn has come.

    What fails to answer is a finding too; only Ctrl-C is an exception.
    """
    subprocesses.begin()
    facts, driver = _facts()
    with ThreadPoolExecutor(max_workers=16) as pool:
        answers = [pool.submit(isolated.answers, names, environment) for names, environment in self_tests_of(facts)]
        steps = _steps(here, facts, answers, driver)  # some wait for the answers, which have workers by now
        asked = {title: [pool.submit(_safely, step) for step in several] for title, several in steps.items()}
        try:
            for title, several in asked.items():
                yield Group(title, tuple(found for each in several for found in each.result()))
        except BaseException:  # Ctrl-C, or nobody wants the rest: then nobody waits for it
            subprocesses.stop()
            raise


def problems(groups: Iterable[Group]) -> list[Finding]:
    """The findings that stop lessons."""
    return [finding for group in groups for finding in group.findings if finding.state == "problem"]


def _steps(here: Surroundings, facts: Facts, answers: list[Future], driver: Finding | None) -> dict[str, list[Step]]:
    def around(check: Callable[[Surroundings], Finding]) -> Step:
        return lambda: check(here)

    def judged(check: Callable[[Facts], Finding]) -> Step:
        return lambda: check(facts)

    def tested(check: Callable[[Facts], Finding]) -> Step:
        return lambda: check(_told(facts, answers))

    return {
        "Python": [judged(checks.check_python), lambda: of_packages(here, facts),
                   around(surroundings.check_environment)],
        "Computer": [*map(around, (surroundings.check_system, surroundings.check_terminal, surroundings.check_clock,
                                   surroundings.check_git)), judged(checks.check_disk)],
        "Programs": [*(_look(here, facts, program) for program in PROGRAMS if not program.gpu),
                     lambda: programs.check_openmp(here.place)],
        "GPU": [(lambda: driver) if driver else judged(checks.check_card), lambda: check_cards(here, facts),
                judged(checks.check_driver), tested(checks.check_cupy), judged(checks.check_numba),
                lambda: of_gpu(here, facts)],
        "Self-tests: add 1 to each of 0 to 7": [
            *map(tested, (checks.check_numpy, checks.check_torch, checks.check_triton)),
            lambda: list(check_simulators(_told(facts, answers))), tested(checks.check_cuda_compilers)],
    }  # fmt: skip


def _look(here: Surroundings, facts: Facts, program: Program) -> Step:
    return lambda: programs.examine(program, here.place, bool(facts.card))


def _safely(step: Step) -> list[Finding]:
    try:
        found = step()
    except Exception as error:  # a doctor that faints is of no use: what could not be asked is said
        return [Finding("(not asked)", "missing", f"{type(error).__name__}: {error}"[:200])]
    return found if isinstance(found, list) else [found]


# Facts, and who answers what ---------------------------------------------------------------------


def _facts() -> tuple[Facts, Finding | None]:
    """This machine's; where its driver is silent, those of a machine without a GPU, and that finding."""
    found: list[Facts] = []
    asked = threading.Thread(target=lambda: found.append(machine.facts()), daemon=True)
    asked.start()
    asked.join(PATIENCE)
    if found:
        return found[0], None
    remedy = "A restart often cures that. Until then, --sim works without the GPU."
    silent = Finding("GPU", "problem", f"its driver said nothing for {PATIENCE:.0f} s", remedy)
    return machine.gather(simulated=True), silent


def self_tests_of(facts: Facts) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The self-tests that tell something here and were not run, by process: names, and its environment."""
    real = ["torch", "triton", *(["cupy"] if facts.card else [])]
    simulated = ["numpy", *(name for name in SIMULATORS if name != "interpreter" or facts.card)]
    for names, environment in ((real, {}), (simulated, {gpu.SIMULATE: "1"}), (["compilers"], {gpu.SIMULATE: "1"})):
        left = [name for name in names if name not in facts.answers and OF_PACKAGE.get(name, "numpy") in facts.packages]
        if left:
            yield left, environment


def _told(facts: Facts, answers: list[Future]) -> Facts:
    """The facts, with what the self-tests answered."""
    said = {name: answer for each in answers for name, answer in each.result().items()}
    return replace(facts, answers=dict(facts.answers) | said)


# Packages, simulators and cards -------------------------------------------------------------------


def of_packages(here: Surroundings, facts: Facts) -> list[Finding]:
    """All that pyproject.toml names; what facts tells of comes from there."""
    return packages.check_packages(packages.of_project(here.root), packages.versions_in(facts))


def check_simulators(facts: Facts) -> Iterator[Finding]:
    """Each counts on a GPU machine too, where it is not what runs the lessons."""
    for test, name in SIMULATORS.items():
        if test == "interpreter" and not (facts.card and "triton" in facts.packages):
            continue  # it is what checks.check_triton asks where there is no GPU
        says = machine.answer(facts, test)
        if says == self_tests.RIGHT:
            yield Finding(name, "simulated", "adds right")
        elif says.startswith("NoCompiler"):
            yield Finding(name, "missing", "no C++ compiler here", "The line of g++ above says how to get one.")
        else:
            yield Finding(name, "problem", f"it answered {says}", REINSTALL)


def check_cards(here: Surroundings, facts: Facts) -> list[Finding]:
    """Memory and driver of every card, as nvidia-smi tells them."""
    if not facts.card:
        return []
    reply = here.place.ask(QUERY, programs.SECONDS)
    rows = [line.split(", ") for line in reply.text.splitlines() if line.count(", ") == 2]
    if reply.code != 0 or not rows:
        return [Finding("nvidia-smi", "missing", "it tells no memory and no driver's version", "nvidia-smi")]
    return [
        Finding(f"card {number}", "real", ", ".join([name, *_gib(memory), f"driver {driver}"]))
        for number, (name, memory, driver) in enumerate(rows)
    ]


def _gib(mebibytes: str) -> list[str]:
    """Not every card has memory of its own."""
    return [f"{int(mebibytes) / 1024:.1f} GiB"] if mebibytes.isdecimal() else []


def of_gpu(here: Surroundings, facts: Facts) -> list[Finding]:
    """Its programs; without a GPU those that are not here are not missed, and take one line."""
    found = [programs.examine(program, here.place, bool(facts.card)) for program in PROGRAMS if program.gpu]
    absent = [finding.name for finding in found if finding.state != "ok"]
    if facts.card or not absent:
        return found
    words = f"{', '.join(absent)}: of use with a GPU only"
    return [*(finding for finding in found if finding.state == "ok"), Finding("GPU programs", "simulated", words)]
