//! The assembly text of the x86-64 loops, from macros that expand to string literals.
//!
//! Register use: `rsi`, `rdx` and `rcx` hold the ends of the arrays (of the two halves of `a` for `read`), and `rax`
//! runs from minus their size to zero, so that one addition advances every stream and sets the branch flags. Vector
//! register 15 holds the scalar in all lanes. Every vector goes through register 0, because register renaming makes
//! rotation pointless.

/// Bytes of every stream per loop turn: four cache lines.
macro_rules! turn {
    () => {
        256
    };
}

macro_rules! at {
    (a $($offset:literal)+) => { concat!("[rsi + rax", $(" + ", $offset,)+ "]") };
    (b $($offset:literal)+) => { concat!("[rdx + rax", $(" + ", $offset,)+ "]") };
    (c $($offset:literal)+) => { concat!("[rcx + rax", $(" + ", $offset,)+ "]") };
}

macro_rules! ahead {
    (plain $stream:ident) => { "" };
    (nta $stream:ident) => { ahead!("prefetchnta ", $stream 1024) };
    (l2 $stream:ident) => { ahead!("prefetcht1 ", $stream 2048) };
    ($hint:literal, $stream:ident $distance:literal) => {
        concat!(
            $hint, at!($stream 0 $distance), "\n", $hint, at!($stream 64 $distance), "\n",
            $hint, at!($stream 128 $distance), "\n", $hint, at!($stream 192 $distance),
        )
    };
}

/// The turn of a storing loop: vectors in ascending order.
macro_rules! stream {
    (xmm $kernel:ident $store:literal) => {
        stream!(xmm $kernel $store: 0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240)
    };
    (ymm $kernel:ident $store:literal) => { stream!(ymm $kernel $store: 0, 32, 64, 96, 128, 160, 192, 224) };
    (zmm $kernel:ident $store:literal) => { stream!(zmm $kernel $store: 0, 64, 128, 192) };
    ($v:ident $kernel:ident $store:literal: $($o:literal),+) => { concat!($(vector!($v $kernel $store $o), "\n",)+) };
}

/// One vector of a storing loop. Products and sums are rounded separately, not fused, like the expected values;
/// memory is slower than either.
macro_rules! vector {
    ($v:ident write $store:literal $o:literal) => { concat!($store, " ", at!(a $o), ", ", stringify!($v), "15") };
    ($v:ident copy $store:literal $o:literal) => {
        concat!(load!($v a $o), $store, " ", at!(b $o), ", ", stringify!($v), "0")
    };
    ($v:ident scale $store:literal $o:literal) => {
        concat!(scaled!($v a $o), $store, " ", at!(b $o), ", ", stringify!($v), "0")
    };
    ($v:ident add $store:literal $o:literal) => {
        concat!(load!($v a $o), plus!($v b $o), $store, " ", at!(c $o), ", ", stringify!($v), "0")
    };
    ($v:ident triad $store:literal $o:literal) => {
        concat!(scaled!($v c $o), plus!($v b $o), $store, " ", at!(a $o), ", ", stringify!($v), "0")
    };
}

macro_rules! load {
    (xmm $stream:ident $o:literal) => { concat!("movapd xmm0, ", at!($stream $o), "\n") };
    ($v:ident $stream:ident $o:literal) => { concat!("vmovapd ", stringify!($v), "0, ", at!($stream $o), "\n") };
}

macro_rules! scaled {
    (xmm $stream:ident $o:literal) => { concat!(load!(xmm $stream $o), "mulpd xmm0, xmm15\n") };
    ($v:ident $stream:ident $o:literal) => {
        concat!("vmulpd ", stringify!($v), "0, ", stringify!($v), "15, ", at!($stream $o), "\n")
    };
}

macro_rules! plus {
    (xmm $stream:ident $o:literal) => { concat!("addpd xmm0, ", at!($stream $o), "\n") };
    ($v:ident $stream:ident $o:literal) => {
        concat!("vaddpd ", stringify!($v), "0, ", stringify!($v), "0, ", at!($stream $o), "\n")
    };
}

/// The turn of `read`: four lines of each half of `a`, folded by exclusive or, whose result does not depend on order.
/// Two streams keep more lines in flight than one.
macro_rules! read {
    (xmm) => {
        read!(xmm: 0 0, 1 16, 2 32, 3 48, 4 64, 5 80, 6 96, 7 112,
                   0 128, 1 144, 2 160, 3 176, 4 192, 5 208, 6 224, 7 240)
    };
    (ymm) => { read!(ymm: 0 0, 1 32, 2 64, 3 96, 4 128, 5 160, 6 192, 7 224) };
    (zmm) => { read!(zmm: 0 0, 1 64, 2 128, 3 192) };
    ($v:ident: $($to:literal $o:literal),+) => { concat!($(folded!($v $to $o), "\n",)+) };
}

/// One vector of each half, folded into an accumulator. A core's waiting operations limit how far it runs ahead of
/// memory before its loads do; the three-way exclusive or of AVX-512 (truth table 0x96) waits once for two loads.
macro_rules! folded {
    (xmm $to:literal $o:literal) => {
        concat!("pxor xmm", $to, ", ", at!(a $o), "\n pxor xmm", $to, ", ", at!(b $o))
    };
    (ymm $to:literal $o:literal) => {
        concat!(
            "vpxor ymm", $to, ", ymm", $to, ", ", at!(a $o), "\n",
            "vpxor ymm", $to, ", ymm", $to, ", ", at!(b $o),
        )
    };
    (zmm $to:literal $o:literal) => {
        concat!("vmovdqa64 zmm15, ", at!(a $o), "\n vpternlogq zmm", $to, ", zmm15, ", at!(b $o), ", 0x96")
    };
}

/// Before a storing loop: spreads the scalar from lane 0 of register 0.
macro_rules! spread {
    (xmm) => {
        "movapd xmm15, xmm0\n unpcklpd xmm15, xmm15"
    };
    ($v:ident) => {
        concat!("vbroadcastsd ", stringify!($v), "15, xmm0")
    };
}

/// After a storing loop: clears the upper register halves, which would slow down SSE code. `rax` is zero by then.
macro_rules! leave {
    (xmm) => {
        ""
    };
    ($v:ident) => {
        "vzeroupper"
    };
}

/// Before `read`: clears the accumulators in all their lanes.
macro_rules! clear {
    (xmm) => {
        "pxor xmm0, xmm0\n pxor xmm1, xmm1\n pxor xmm2, xmm2\n pxor xmm3, xmm3
         pxor xmm4, xmm4\n pxor xmm5, xmm5\n pxor xmm6, xmm6\n pxor xmm7, xmm7"
    };
    ($v:ident) => {
        "vpxor xmm0, xmm0, xmm0\n vpxor xmm1, xmm1, xmm1\n vpxor xmm2, xmm2, xmm2\n vpxor xmm3, xmm3, xmm3
         vpxor xmm4, xmm4, xmm4\n vpxor xmm5, xmm5, xmm5\n vpxor xmm6, xmm6, xmm6\n vpxor xmm7, xmm7, xmm7"
    };
}

/// After `read`: combines all accumulators in `rax`.
macro_rules! fold {
    (xmm) => {
        "pxor xmm0, xmm1\n pxor xmm2, xmm3\n pxor xmm4, xmm5\n pxor xmm6, xmm7
         pxor xmm0, xmm2\n pxor xmm4, xmm6\n pxor xmm0, xmm4
         movhlps xmm1, xmm0\n pxor xmm0, xmm1\n movq rax, xmm0"
    };
    (ymm) => {
        "vpxor ymm0, ymm0, ymm1\n vpxor ymm2, ymm2, ymm3\n vpxor ymm4, ymm4, ymm5\n vpxor ymm6, ymm6, ymm7
         vpxor ymm0, ymm0, ymm2\n vpxor ymm4, ymm4, ymm6\n vpxor ymm0, ymm0, ymm4
         vextracti128 xmm1, ymm0, 1\n vpxor xmm0, xmm0, xmm1
         vpunpckhqdq xmm1, xmm0, xmm0\n vpxor xmm0, xmm0, xmm1\n vmovq rax, xmm0\n vzeroupper"
    };
    (zmm) => {
        "vpxorq zmm0, zmm0, zmm1\n vpternlogq zmm0, zmm2, zmm3, 0x96
         vextracti64x4 ymm1, zmm0, 1\n vpxor ymm0, ymm0, ymm1
         vextracti128 xmm1, ymm0, 1\n vpxor xmm0, xmm0, xmm1
         vpunpckhqdq xmm1, xmm0, xmm0\n vpxor xmm0, xmm0, xmm1\n vmovq rax, xmm0\n vzeroupper"
    };
}
