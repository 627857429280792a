"""What `tilescope report` says of a whole grid, also where recording all of it would take too long.

A block costs what any other of its class costs. In these kernels a class is the pair (last column of blocks or
not, last row of blocks or not):

- Two blocks of a class take the same branches. The tests are row < m, col < n, m_col < k and n_row < k; the last
  two do not depend on the block, and the first two hold everywhere but in the last row and column of blocks, which
  are classes of their own.
- So their addresses differ by a constant an array: T*k*4, T*n*4 or T*4 bytes for every block further. With T a
  multiple of 8 that is a multiple of 32 bytes, a sector, and every request needs as many sectors as its twin.
  Shared addresses do not depend on the block at all.

So the grid's sums are those of one block a class times its blocks. It is not only argued: a second block of every
class, far from the first, must have the very same sums, and where the grid is small enough it is recorded whole
and must agree.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

MOST_WHOLE_STEPS = 6_000_000


def record(program, launch, window, folder):
    """The report of a CPU recording; window (x0, x1, y0, y1) or None for the whole grid."""
    where = "all" if window is None else "_".join(map(str, window))
    path = folder / f"{launch.name}-{where}.tsc"
    command = [program, "record", *launch.arguments(), "--backend", "cpu", "--threads", "1", "-o", str(path)]
    if window is not None:
        command += ["--blocks", "{}:{},{}:{}".format(*window)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    report = subprocess.run([program, "report", str(path), "--json"], check=True, capture_output=True, text=True)
    path.unlink()
    answer = json.loads(report.stdout)
    if not answer["complete"]:
        raise SystemExit(f"counters.py: the recording of {launch.name} is not complete")
    return answer


def flat(report):
    """Totals as one dictionary: "global_load.requests" -> count."""
    return {f"{part}.{what}": count for part, sums in report["totals"].items() for what, count in sums.items()}


def classes(grid_x, grid_y):
    """(first block, a far block of the same class, blocks of the class) for every class of a grid."""

    def parts(size):  # (first, far, count) of the blocks that are not last, and of the last
        inner = [(0, size - 2, size - 1)] if size > 1 else []
        return inner + [(size - 1, size - 1, 1)]

    return [
        ((x[0], y[0]), (x[1], y[1]), x[2] * y[2]) for y in parts(grid_y) for x in parts(grid_x)
    ]


def grid_sums(program, launch, folder):
    """(sums of the whole grid, phases, how they were found)."""
    grid_x, grid_y = launch.grid()
    if launch.tile % 8:
        report = record(program, launch, None, folder)
        return flat(report), report["phases"], "all blocks recorded"

    def one(block):
        return record(program, launch, (block[0], block[0] + 1, block[1], block[1] + 1), folder)

    kinds = classes(grid_x, grid_y)
    blocks = sorted({block for first, far, _ in kinds for block in (first, far)})
    with ThreadPoolExecutor() as pool:
        reports = dict(zip(blocks, pool.map(one, blocks)))
    total, steps = {}, 0
    for first, far, count in kinds:
        sums = flat(reports[first])
        if sums != flat(reports[far]):
            raise SystemExit(f"counters.py: blocks {first} and {far} of {launch.name} are of one class and differ")
        steps += count * reports[first]["steps"]
        for what, value in sums.items():
            total[what] = total.get(what, 0) + count * value
    how = f"{len(kinds)} classes of blocks"
    if steps <= MOST_WHOLE_STEPS:
        if flat(record(program, launch, None, folder)) != total:
            raise SystemExit(f"counters.py: the whole grid of {launch.name} does not add up to its classes")
        how += " and all blocks"
    return total, reports[blocks[0]]["phases"], how
