"""Compiles loops.c and keeps what objdump shows, on x86-64:

    ./course python week1/katas/simd/record_listings.py gcc clang

A listing that no change of the kata alters is kept once, as it is.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
LOOPS = ("scale", "sum", "add_to", "until_negative", "running", "column")
CHANGES = {  # what is changed -> the flags that do it
    "as it is": (),
    "-ffast-math": ("-ffast-math",),
    "restrict": ("-DRESTRICT=restrict",),
    "restrict, -ffast-math": ("-DRESTRICT=restrict", "-ffast-math"),
    "no early exit": ("-DMAY_STOP=0",),
    "stride 1": ("-DSTRIDE=1",),
}
CHIPS = ("haswell", "x86-64", "skylake-avx512", "x86-64-v4")  # the last three for scale alone


def command(compiler: str, chip: str, change: str) -> list[str]:
    """How an object file is made of loops.c; each function begins at address 0."""
    return [compiler, "-O3", f"-march={chip}", *CHANGES[change], "-ffunction-sections", "-c", str(HERE / "loops.c")]


def disassemble(compiler: str, chip: str, change: str) -> dict[str, str]:
    """The listing of every loop, compiled now."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "loops.o")
        subprocess.run([*command(compiler, chip, change), "-o", str(made)], check=True, capture_output=True)
        shown = subprocess.run(["objdump", "-d", "-M", "intel", "--no-show-raw-insn", str(made)], check=True,
                               capture_output=True, text=True).stdout
    return {loop: _of_function(shown, loop) for loop in LOOPS}


def _of_function(shown: str, name: str) -> str:
    return shown.split(f" <{name}>:\n")[1].split("\n\n")[0].rstrip() + "\n"


def recorded(compiler: str) -> dict[tuple[str, str, str], str]:
    """(loop, chip, change) -> listing, as it was kept; for all changes, also those that alter nothing."""
    _, *entries = (HERE / f"listings_{compiler}.txt").read_text(encoding="utf-8").split("\n@ ")
    kept = {}
    for entry in entries:
        head, _, listing = entry.partition("\n")
        kept[tuple(head.split(" | "))] = listing.rstrip() + "\n"
    for loop in LOOPS:
        for change in CHANGES:
            kept.setdefault((loop, "haswell", change), kept[loop, "haswell", "as it is"])
    return kept


def record(compiler: str) -> None:
    """Write listings_COMPILER.txt."""
    versions = [subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
                for program in (compiler, "objdump")]
    shown = " ".join(command(compiler, "CHIP", "as it is")).replace(f"{HERE}/", "")
    lines = [f"# {', '.join(versions)}",
             f"# {shown}, with the flags of the change; objdump -d -M intel --no-show-raw-insn"]
    plain = disassemble(compiler, CHIPS[0], "as it is")
    lines += [f"\n@ {loop} | {CHIPS[0]} | as it is\n{listing}" for loop, listing in plain.items()]
    for change in list(CHANGES)[1:]:
        lines += [f"\n@ {loop} | {CHIPS[0]} | {change}\n{listing}"
                  for loop, listing in disassemble(compiler, CHIPS[0], change).items() if listing != plain[loop]]
    lines += [f"\n@ scale | {chip} | as it is\n{disassemble(compiler, chip, 'as it is')['scale']}"
              for chip in CHIPS[1:]]
    text = "\n".join(line.rstrip() for line in "\n".join(lines).split("\n"))
    (HERE / f"listings_{compiler}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["gcc"]:
        record(name)
