"""Products of matrices by PyTorch: TYPE SECONDS prints TFLOP/s; `library` prints the file of cuBLAS that is loaded."""
import sys
import time

import torch

M, N, K = 8448, 8192, 8192
# Type of the elements; integers of their size; `base | (random & mask)` are bits of numbers between 0.5 and 2 in magnitude.
TYPES = {
    "bf16": (torch.bfloat16, torch.int16, 0x3F00, 0x80FF),
    "fp16": (torch.float16, torch.int16, 0x3800, 0x87FF),
    "tf32": (torch.float32, torch.int32, 0x3F000000, 0x80FFE000),
    "fp8": (torch.float8_e4m3fn, torch.uint8, 0x30, 0x8F),
    "fp64": (torch.float64, torch.int64, 0x3FE0000000000000, 0x801FFFFFFFFFFFFF),
}


def matrix(rows, columns, kind):
    element, whole, base, mask = TYPES[kind]
    size = torch.empty((), dtype=element).element_size()
    bits = torch.randint(0, 256, (rows, columns * size), dtype=torch.uint8, device="cuda").view(whole)
    wrap = 1 << (8 * size)
    signed = [value - wrap if whole != torch.uint8 and value >= wrap // 2 else value for value in (base, mask)]
    return (bits.bitwise_and_(signed[1]).bitwise_or_(signed[0])).view(element)


def product(kind):
    one = torch.ones((), device="cuda")
    a, b = matrix(M, K, kind), matrix(N, K, kind).t()
    if kind == "fp8":
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.float32, use_fast_accum=True)
    if kind in ("bf16", "fp16"):
        return lambda: torch.mm(a, b, out_dtype=torch.float32)
    return lambda: torch.mm(a, b)


def seconds(work, count):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def main():
    torch.backends.cuda.matmul.allow_tf32 = True
    if sys.argv[1] == "library":
        torch.mm(*(torch.ones(64, 64, device="cuda") for _ in range(2)))
        maps = open("/proc/self/maps").read().split()
        print(next(word for word in maps if "libcublas.so" in word))
        return
    work = product(sys.argv[1])
    work()
    one = seconds(work, 10) / 10
    begun = time.monotonic()
    while time.monotonic() - begun < 1:
        seconds(work, max(1, int(0.1 / one)))
    one = seconds(work, 10) / 10
    count = max(1, int(float(sys.argv[2]) / one))
    print(2 * M * N * K * count / seconds(work, count) / 1e12)


main()
