"""Week 1, kata: embedding lookup

Challenge
    A language model begins with a table: each word has a number, its *id*, and a row of the table. To look a text
    up is to copy the rows of its ids. There is no arithmetic, and three things still go wrong: an id without a
    row, rows that do not fill a block, and a table so large that 32 bits cannot count its elements.

        ids       table, 4 rows of 3        out
         2         0:    1   2   3          7  8  9
         0         1:    4   5   6          1  2  3
         2         2:    7   8   9          7  8  9      the same row again
         9         3:   10  11  12          0  0  0      no such row: zeros, and one fault

Explore
    ./course python -c "import torch; print(torch.ones(4, 3)[torch.tensor([-1])])"
    Which row is that? The same with torch.nn.functional.embedding(torch.tensor([-1]), torch.ones(4, 3)).
    On a GPU that is an assertion inside the kernel, and the process cannot use its GPU again.

Concept
    Gather: a load whose address was itself loaded. A program first loads an id, then the row at id * WIDTH. The
    compiler cannot know that address, so the kernel has to check the id. Here an id without a row gives a row of
    zeros and is counted; nothing is ever read from elsewhere.
    Padding: ids that mean "no word here" fill up the texts of a batch, whose lengths differ. They give zeros as
    well, and are no fault.
    Two axes: a grid (a, b) has a * b programs. tl.program_id(0) is below a, tl.program_id(1) below b; here an id,
    and one of the blocks of columns.
    64-bit index: a product has the type of its factors, and id * WIDTH leaves 32 bits at 2**31 elements, which
    is 2 million rows of 1024. ids of int16 leave 16 bits far sooner. id.to(tl.int64) converts, before the
    product; so do program ids, which are int32.
    Atomic: tl.atomic_add(out_ptr, number) adds to an element in memory as one step, so that programs that run at
    the same time lose nothing; tl.sum(faults) counts what is True in a block of the program. It adds to what is
    there, so out starts at zero: out.zero_().
    Sectors: memory sends 32 bytes at a time. A row of 1024 float32 is 128 whole sectors. A row of 3 is 12 bytes
    of one sector, or of two where it lies across a boundary.

Code it
    Task 1  lookup_kernel, lookup: the row of each id, or zeros                            (nine lines)
    Task 2  faults_kernel, count_faults: how many ids have no row; one atomic a block       (ten lines)
    Task 3  row_sectors, predict_traffic: what a row costs, before you count               (five lines)

Verify
    pytest week1/katas/embedding_lookup        then: ./course quiz week1/katas/embedding_lookup
    Reflect: training adds gradients to rows of the table. What happens there to a word that occurs twice?

Simulated without a GPU: results, bounds, bytes, sectors and integers that overflow are exact. Caches and time are
not simulated: a row that is read twice counts twice.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

BLOCK = 1024  # columns of one program; ids of one program in count_faults
NO_WORD = -1  # the usual padding
SECTOR = 32   # bytes


# Task 1
@triton.jit
def lookup_kernel(table_ptr, ids_ptr, out_ptr, n_rows, padding, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    pass  # the id and the columns of this program; whether the id has a row; load that row, or zeros; store


def lookup(table: torch.Tensor, ids: torch.Tensor, *, padding: int = NO_WORD, block: int = BLOCK,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """table[id] for each id by lookup_kernel: one program for each id and each block of `block` columns.

    An id that is not a row of the table, or is `padding`, gives a row of zeros; nothing is read for it.
    table: (n_rows, width) of any dtype, ids: (n,) of any signed integer type; contiguous, on one device.
    block: a power of two. out: (n, width) of the table's dtype, contiguous, allocated if not given.
    """
    n_rows, width = table.shape
    out = torch.empty((len(ids), width), dtype=table.dtype, device=table.device) if out is None else out
    raise NotImplementedError("week1/katas/embedding_lookup task 1: lookup")


# Task 2
@triton.jit
def faults_kernel(ids_ptr, out_ptr, n, n_rows, padding, BLOCK: tl.constexpr):
    pass  # the ids of this program, which of them are faults; add their number to what out holds


def count_faults(ids: torch.Tensor, n_rows: int, *, padding: int = NO_WORD, block: int = BLOCK,
                 out: torch.Tensor | None = None) -> torch.Tensor:
    """The number of ids that are neither a row of a table with n_rows rows nor `padding`, by faults_kernel.

    ids: (n,) of any signed integer type, contiguous. block: ids of one program, a power of two.
    out: (1,) int32, allocated if not given; what it held before does not count.
    """
    out = torch.empty(1, dtype=torch.int32, device=ids.device) if out is None else out
    raise NotImplementedError("week1/katas/embedding_lookup task 2: count_faults")


# Task 3
def row_sectors(row: int, width: int, itemsize: int) -> int:
    """The number of sectors that a row of a contiguous table lies in; row 0 begins at the start of a sector.

    width: elements of a row. itemsize: bytes of an element.
    """
    raise NotImplementedError("week1/katas/embedding_lookup task 3: row_sectors")


def predict_traffic(ids: list[int], n_rows: int, width: int, *, padding: int = NO_WORD) -> int:
    """Bytes that lookup loads and stores for ids of int64 and a table of float32 whose rows fit into one block.

    ids: any numbers, `padding` among them. n_rows, width: the shape of the table.
    """
    raise NotImplementedError("week1/katas/embedding_lookup task 3: predict_traffic")
