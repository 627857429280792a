"""PTX of a kernel by NVRTC, the compiler that the CUDA Toolkit offers as a library: nvrtc.py SOURCE OPTION..."""

import ctypes
import sys


def main(source, options):
    nvrtc = ctypes.CDLL("libnvrtc.so")
    with open(source, "rb") as file:
        text = file.read()
    program = ctypes.c_void_p()

    def call(name, *arguments):
        status = getattr(nvrtc, name)(*arguments)
        if status != 0:
            sys.exit(f"nvrtc.py: {name} of {source} failed with status {status}")

    call("nvrtcCreateProgram", ctypes.byref(program), text, source.encode(), 0, None, None)
    list_of_options = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    call("nvrtcCompileProgram", program, len(options), list_of_options)
    size = ctypes.c_size_t()
    call("nvrtcGetPTXSize", program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call("nvrtcGetPTX", program, ptx)
    sys.stdout.write(ptx.value.decode())


main(sys.argv[1], sys.argv[2:])
