"""Writes down launches of a Python program's kernels, so that Tilescope can record them on any machine.

    python capture_launch.py [--out FOLDER] [--contents BYTES] [--results] [--kernel NAME]... [--every]
                             -- program.py [ARGUMENT...]        (or: -- -m module [ARGUMENT...])
    tilescope record FOLDER

or, in a program:   import capture_launch; capture_launch.start(out="launches")

Seen are kernels of Triton (triton.jit, and what torch.compile makes of PyTorch), whose launches all go through the
launcher of a CompiledKernel, and CuPy's RawKernel. Of each kernel the first launch is written down:

    FOLDER/NAME.NUMBER/launch.json    grid, block, shared bytes, arguments (schema tilescope.launch/1)
    FOLDER/NAME.NUMBER/NAME.ptx       the kernel as it was compiled
    FOLDER/NAME.NUMBER/program.py     the Python or CUDA C++ whose lines the PTX names
    FOLDER/NAME.NUMBER/x.bin          bytes of a tensor before the launch; x.after with --results

The program runs as it would have. What goes wrong here is said in a line on standard error and changes nothing.
This file needs Python 3.8 and nothing else, and may be copied.
"""

import argparse
import functools
import hashlib
import importlib.abc
import importlib.machinery
import json
import linecache
import math
import os
import re
import runpy
import sys

SCHEMA = "tilescope.launch/1"


def say(what, problem):
    print(f"capture_launch: {what}: {type(problem).__name__}: {problem}".replace("\n", " "), file=sys.stderr)


class Capture:
    """What is to be written down, and what has been."""

    def __init__(self, out="tilescope-launches", contents=1 << 20, results=False, kernels=(), every=False):
        self.out, self.contents, self.results = out, contents, results
        self.kernels, self.every = tuple(kernels), every
        self.number = 0
        self.seen = set()

    def wants(self, name, ptx):
        """Whether a launch is written down. A kernel is told from others by its PTX: products of several types share
        a name."""
        if is_in_graph():
            return False
        self.number += 1
        if self.kernels and name not in self.kernels:
            return False
        key = hashlib.sha256(ptx.encode()).digest()
        first = key not in self.seen
        self.seen.add(key)
        return first or self.every

    def write(self, name, ptx, grid, block, shared, arguments, source=None):
        """Writes a launch; returns what is to be called after it. arguments: (name, type, value), type None for
        arrays."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:100] or "kernel"
        folder = os.path.join(self.out, f"{plain}.{self.number}")
        os.makedirs(folder, exist_ok=True)
        files = Files(folder)
        launch = {
            "schema": SCHEMA,
            "number": self.number,
            "kernel": name,
            "ptx": files.text(f"{plain}.ptx", ptx),
            "grid": list(grid),
            "block": list(block),
            "shared": shared,
        }
        if source:
            launch["source"] = files.text(os.path.basename(source[0]), source[1])
        tensors = []

        def contents(memory, said):
            if 0 < memory.bytes() <= self.contents:
                said["contents"] = files.bytes(f"{said['name']}.bin", memory.read())
                tensors.append((memory, said))

        launch["arguments"] = described(arguments, contents)

        def save():
            for memory, said in tensors if self.results else ():
                said["result"] = files.bytes(f"{said['name']}.after", memory.read())
            files.document(launch)

        return save


def described(arguments, contents=lambda memory, said: None):
    """The arguments as launch.json has them. contents: adds what a tensor holds."""
    storages, written = {}, []
    for place, (argument, kind, value) in enumerate(arguments, 1):
        said = {"name": argument or f"arg{place}"}
        memory = value if isinstance(value, Scratch) else Memory.of(value)
        if memory is not None:
            said.update(memory.described(storages))
            contents(memory, said)
        elif value is None:
            said["null"] = True
        elif isinstance(value, bytes):
            said["bytes"] = value.hex()
        else:
            said.update(type=kind, value=number(value))
        written.append(said)
    return written


def is_in_graph():
    """Whether launches go into a CUDA graph instead of to the GPU: memory must not be read meanwhile."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    return hasattr(cuda, "is_current_stream_capturing") and cuda.is_current_stream_capturing()


class Files:
    """The files of a folder, each under a name of its own."""

    def __init__(self, folder):
        self.folder, self.names = folder, {"launch.json"}

    def bytes(self, name, data):
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".") or "file"
        stem, ending = os.path.splitext(name)
        count = 1
        while name in self.names:
            count += 1
            name = f"{stem}-{count}{ending}"
        self.names.add(name)
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(data)
        return name

    def text(self, name, text):
        return self.bytes(name, text.encode())

    def document(self, launch):
        # It comes last: a folder without it holds no launch.
        with open(os.path.join(self.folder, "launch.json"), "w", encoding="utf-8") as file:
            json.dump(launch, file, indent=1, allow_nan=False)
            file.write("\n")


def number(value):
    """A number as JSON has it; what it has none for is text."""
    if isinstance(value, bool):
        return value
    if hasattr(value, "item"):  # of NumPy
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"an argument of the type {type(value).__name__} is not known")
    return value


class Memory:
    """A tensor of PyTorch or an array of CuPy. Strides and offset are in elements."""

    @staticmethod
    def of(value):
        if hasattr(value, "data_ptr") and hasattr(value, "stride"):
            return TorchMemory(value)
        base = getattr(value, "base", None)  # Triton's TensorWrapper, which reinterprets one
        if hasattr(value, "data_ptr") and base is not None and hasattr(base, "stride"):
            return TorchMemory(base, dtype=getattr(value, "dtype", None))
        if hasattr(value, "__cuda_array_interface__") and hasattr(value, "strides"):
            return CupyMemory(value)
        return None

    def span(self):
        """Elements before the one at index 0, and from the first to behind the last."""
        reach = [(count - 1) * stride for count, stride in zip(self.shape, self.strides)]
        before = -sum(step for step in reach if step < 0)
        return before, before + sum(step for step in reach if step > 0) + 1

    def bytes(self):
        return 0 if 0 in self.shape else self.span()[1] * self.size

    def described(self, storages):
        said = {"dtype": self.dtype, "shape": list(self.shape), "strides": list(self.strides)}
        said["offset"] = self.offset
        said["storage"] = storages.setdefault(self.storage, len(storages))
        return said


class TorchMemory(Memory):
    def __init__(self, tensor, dtype=None):
        self.tensor = tensor
        self.shape, self.strides = tuple(tensor.shape), tuple(tensor.stride())
        self.offset, self.size = tensor.storage_offset(), tensor.element_size()
        self.dtype = str(dtype or tensor.dtype).replace("torch.", "")
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        self.storage = storage.data_ptr()

    def read(self):
        import torch

        _, count = self.span()
        row = torch.as_strided(self.tensor.detach(), (count,), (1,), self.offset)
        # A tensor of the host, as bytes: NumPy knows no bfloat16.
        return row.view(torch.uint8).cpu().numpy().tobytes()


class CupyMemory(Memory):
    def __init__(self, array):
        self.array, self.shape, self.size = array, tuple(array.shape), array.itemsize
        self.strides = tuple(stride // self.size for stride in array.strides)
        self.dtype = str(array.dtype)
        memory = array.data.mem
        self.storage = memory.ptr
        self.offset = (array.data.ptr - memory.ptr) // self.size

    def read(self):
        import cupy

        before, count = self.span()
        pointer = self.array.data - before * self.size
        return cupy.ndarray((count * self.size,), cupy.uint8, pointer).get().tobytes()


# --- Triton

# Of the arguments of a launcher in front of the kernel's own: grid, stream, function, then metadata and hooks.
GRID, HIDDEN = 3, 4


class Launcher:
    """Takes the place of a kernel's launcher, and is in all other respects the launcher."""

    def __init__(self, capture, kernel, launcher):
        self._capture, self._kernel, self._launcher = capture, kernel, launcher

    def __getattr__(self, name):
        return getattr(self._launcher, name)

    def __call__(self, *arguments, **named):
        save = None
        try:
            save = captured(self._capture, self._kernel, arguments)
        except Exception as problem:
            say("a launch of Triton is not written down", problem)
        result = self._launcher(*arguments, **named)
        if save:
            try:
                save()
            except Exception as problem:
                say("a launch of Triton is not written down", problem)
        return result


def captured(capture, kernel, arguments):
    ptx = kernel.asm["ptx"]
    metadata = kernel.metadata
    name = getattr(metadata, "name", None) or kernel.name
    if not capture.wants(name, ptx):
        return None
    clusters = getattr(metadata, "num_ctas", 1)
    if clusters != 1:
        raise ValueError(f"{name} has clusters of {clusters} blocks, which are not written down")
    own = arguments[GRID + 2 + HIDDEN :]
    source = kernel.src
    given = [one for said in parameters(source, own) for one in flat(*said)]
    given += scratch(metadata, arguments[:GRID])
    text = source_of(getattr(source, "fn", None))
    return capture.write(name, ptx, arguments[:GRID], [32 * metadata.num_warps], metadata.shared, given, text)


def parameters(source, own):
    """Name, type and value of each of a launcher's arguments."""
    signature = dict(source.signature)
    if all(isinstance(place, int) for place in signature):  # Triton 3.0 and 3.1: by place
        names = getattr(getattr(source, "fn", None), "arg_names", None) or []
        name_of = dict(enumerate(names))
        signature = {name_of.get(place, f"arg{place + 1}"): signature[place] for place in sorted(signature)}
    if len(own) != len(signature):  # without those that are compiled in
        signature = {name: kind for name, kind in signature.items() if kind != "constexpr"}
    if len(own) != len(signature):
        raise ValueError(f"the launcher has {len(own)} arguments, and the kernel {len(signature)}")
    return [(str(name), kind, value) for (name, kind), value in zip(signature.items(), own)]


def flat(name, kind, value):
    """The parameters that an argument is: none where it is compiled in, several for a tuple."""
    if isinstance(kind, (tuple, list)):
        return [one for i, part in enumerate(kind) for one in flat(f"{name}_{i}", part, value[i])]
    if kind == "constexpr":
        return []
    if str(kind).startswith(("tensordesc", "nvTmaDesc")):
        raise ValueError(f"{name} is a tensor descriptor, which is not written down")
    return [(name, str(kind), value)]


class Scratch(Memory):
    """Memory that the launcher takes for the kernel's own use."""

    storage = "scratch"

    def __init__(self, count):
        self.shape, self.strides, self.offset, self.size, self.dtype = (count,), (1,), 0, 1, "uint8"

    def bytes(self):
        return 0  # nobody has filled it


def scratch(metadata, grid):
    """Of the pointers to scratch memory behind a kernel's arguments, the one that a kernel may need."""
    size = getattr(metadata, "global_scratch_size", 0) or 0
    return [("global_scratch", "*u8", Scratch(size * math.prod(grid)))] if size else []


def source_of(fn):
    """Name and text of the file that a kernel's function stands in, whose lines the PTX has."""
    code = getattr(getattr(fn, "fn", None), "__code__", None)
    if code is None:
        return None
    text = "".join(linecache.getlines(code.co_filename))  # a notebook's cells too
    return (code.co_filename, text) if text else None


def hook_triton(module, capture):
    """Wraps the launcher of each CompiledKernel when it is made: for all of Triton 3."""
    kernel_class = module.CompiledKernel
    make = kernel_class._init_handles

    @functools.wraps(make)
    def made(kernel, *arguments, **named):
        result = make(kernel, *arguments, **named)
        fields = vars(kernel)
        for field in ("_run", "run"):  # as it is called since 3.2, and before
            launcher = fields.get(field)
            if callable(launcher) and not isinstance(launcher, Launcher):
                setattr(kernel, field, Launcher(capture, kernel, launcher))
                break
        return result

    kernel_class._init_handles = made


# --- CuPy


def hook_cupy(module, capture):
    raw = module.RawKernel

    class RawKernel(raw):
        def __init__(self, code, name, *arguments, **named):
            super().__init__(code, name, *arguments, **named)
            self._said = (code, name, tuple(named.get("options", arguments[0] if arguments else ())))

        def __call__(self, grid, block, arguments, *more, **named):
            save = None
            try:
                save = self._captured(grid, block, arguments, more, named)
            except Exception as problem:
                say("a launch of CuPy is not written down", problem)
            result = super().__call__(grid, block, arguments, *more, **named)
            if save:
                try:
                    save()
                except Exception as problem:
                    say("a launch of CuPy is not written down", problem)
            return result

        def _captured(self, grid, block, arguments, more, named):
            code, name, options = self._said
            ptx, entry = compiled_by_nvrtc(code, name, options)
            if not capture.wants(name, ptx):
                return None
            shared = named.get("shared_mem", more[0] if more else 0)
            given = [(None, numpy_type(value), passed(value)) for value in arguments]
            return capture.write(entry, ptx, three(grid), three(block), shared, given, (name + ".cu", code))

    RawKernel.__name__ = raw.__name__
    RawKernel.__doc__ = raw.__doc__
    module.RawKernel = RawKernel


def three(size):
    return list(size) if isinstance(size, (tuple, list)) else [size]


def numpy_type(value):
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float64"
    return str(getattr(value, "dtype", "")) or None


def passed(value):
    """What a launch passes by value: a number, or the bytes of a struct or of a complex number."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    return value.tobytes() if kind in "cV" and kind and Memory.of(value) is None else value


@functools.lru_cache(maxsize=None)
def compiled_by_nvrtc(code, name, options):
    """PTX with line numbers, and the kernel's name in it: CuPy keeps machine code alone."""
    from cupy.cuda import device
    from cupy_backends.cuda.libs import nvrtc

    program = nvrtc.createProgram(code, name + ".cu", (), ())
    if "<" in name or "::" in name:
        nvrtc.addNameExpression(program, name)
    architecture = f"--gpu-architecture=compute_{device.Device().compute_capability}"
    nvrtc.compileProgram(program, (architecture, "-lineinfo", *options))
    entry = nvrtc.getLoweredName(program, name) if "<" in name or "::" in name else name
    ptx = nvrtc.getPTX(program)
    return (ptx.decode() if isinstance(ptx, bytes) else ptx).rstrip("\0"), entry


# --- both

HOOKS = {"triton.compiler.compiler": hook_triton, "cupy": hook_cupy}


class AfterImport(importlib.abc.MetaPathFinder):
    """Hooks a module when the program imports it, so that none is imported for nothing."""

    def __init__(self, capture):
        self.capture = capture

    def find_spec(self, name, path, target=None):
        if name not in HOOKS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            hook(name, module, self.capture)

        spec.loader.exec_module = exec_module
        return spec


def hook(name, module, capture):
    try:
        HOOKS[name](module, capture)
    except Exception as problem:
        say(f"launches of this version of {name.split('.')[0]} are not seen", problem)


def start(capture=None, **options):
    """Writes down launches from now on. Options: those of Capture."""
    capture = capture or Capture(**options)
    rank = os.environ.get("RANK", "0")  # of a process among several, as torchrun numbers them
    if rank != "0":
        capture.out += f"-rank{rank}"
    # torch.compile has a launcher of its own beside Triton's, which does without Python.
    os.environ.setdefault("TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER", "0")
    sys.meta_path.insert(0, AfterImport(capture))
    for name in HOOKS:
        if name in sys.modules:
            hook(name, sys.modules[name], capture)
    return capture


class Telling(Capture):
    """Tells the library of `tilescope capture --python`, which sees the launches itself, what their arguments are.

    orders: the document that TILESCOPE_CAPTURE names."""

    def __init__(self, library, orders):
        super().__init__(kernels=orders["kernels"], every=orders["every"] or orders["numbers"])
        self.library = library

    @functools.cached_property
    def tell(self):
        import ctypes

        tell = ctypes.PyDLL(self.library).tilescope_capture_tell  # the driver has loaded it by now
        tell.argtypes, tell.restype = [ctypes.c_char_p], None
        return tell

    def write(self, name, ptx, grid, block, shared, arguments, source=None):
        launch = {"schema": SCHEMA, "kernel": name, "ptx": "kernel.ptx", "grid": list(grid), "block": list(block)}
        launch.update(shared=shared, arguments=described(arguments))
        self.tell(json.dumps(launch, allow_nan=False).encode())
        return lambda: self.tell(None)


def main():
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        description="Writes down launches of a Python program's kernels for 'tilescope record FOLDER'.",
        usage="%(prog)s [OPTION...] -- program.py [ARGUMENT...]",
    )
    parser.add_argument("--out", default="tilescope-launches", metavar="FOLDER", help="where launches go (%(default)s)")
    parser.add_argument(
        "--contents", type=int, default=1 << 20, metavar="BYTES",
        help="keep the contents of tensors of at most so many bytes (%(default)s); others get small whole numbers",
    )
    parser.add_argument("--results", action="store_true", help="keep what these tensors hold after the launch, too")
    parser.add_argument(
        "--kernel", action="append", default=[], metavar="NAME", help="this kernel alone; may be repeated"
    )
    parser.add_argument("--every", action="store_true", help="all launches, not only the first one of each kernel")
    options = parser.parse_args(words[:split])
    program = words[split + 1 :]
    if not program or program == ["-m"]:
        parser.error("names no program; give it behind --")
    start(
        out=options.out,
        contents=options.contents,
        results=options.results,
        kernels=options.kernel,
        every=options.every,
    )
    if program[0] == "-m":
        sys.argv = program[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(program[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = program
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")


if __name__ == "__main__":
    main()
