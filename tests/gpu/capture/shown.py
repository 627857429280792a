"""What the programs here print: the bits of their results, and the time of their loop on standard error."""
import hashlib
import sys
import time

import numpy


def bits(name, array):
    array = numpy.ascontiguousarray(array)
    print(name, array.shape, hashlib.sha256(array.tobytes()).hexdigest()[:16])


class Loop:
    def __enter__(self):
        self.start = time.perf_counter()

    def __exit__(self, *_):
        print(f"loop {time.perf_counter() - self.start:.6f}", file=sys.stderr)
