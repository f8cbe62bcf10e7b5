//! Kernels that fill and check elements of 32-bit floating point.
//!
//! Element `i` of rank `r` is `(7 i + 13 r) mod 61`: whole numbers, whose sums over up to 2^18 ranks are exact in any order.

use std::ffi::CString;

/// `fill_floats(to, count, rank)` and `check_floats(from, count, sums, each, source, first, ranks, tally)`.
pub fn module() -> CString {
    CString::new(TEXT).expect("our text holds no zero byte")
}

const TEXT: &str = r".version 6.0
.target sm_50
.address_size 64

.visible .entry fill_floats(.param .u64 p0, .param .u64 p1, .param .u64 p2) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<8>; .reg .f32 %f;
ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u64 %d6, [p2]; cvta.to.global.u64 %d4, %d4;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d0, %r0, %r1; cvt.u64.u32 %d1, %r2; add.u64 %d0, %d0, %d1; mul.wide.u32 %d1, %r3, %r1;
mul.lo.u64 %d6, %d6, 13;
again: setp.ge.u64 %p, %d0, %d5; @%p bra done;
mad.lo.u64 %d2, %d0, 7, %d6; rem.u64 %d2, %d2, 61; cvt.u32.u64 %r0, %d2; cvt.rn.f32.u32 %f, %r0;
shl.b64 %d3, %d0, 2; add.u64 %d3, %d3, %d4; st.global.f32 [%d3], %f;
add.u64 %d0, %d0, %d1; bra again;
done: ret; }

.visible .entry check_floats(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4,
.param .u64 p5, .param .u64 p6, .param .u64 p7) {
.reg .pred %p, %q, %s; .reg .b32 %r<6>; .reg .b64 %d<24>; .reg .f32 %f, %g;
ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u64 %d6, [p2]; ld.param.u64 %d7, [p3];
ld.param.u64 %d8, [p4]; ld.param.u64 %d9, [p5]; ld.param.u64 %d10, [p6]; ld.param.u64 %d11, [p7];
cvta.to.global.u64 %d4, %d4; cvta.to.global.u64 %d11, %d11; setp.ne.u64 %s, %d6, 0;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d0, %r0, %r1; cvt.u64.u32 %d1, %r2; add.u64 %d0, %d0, %d1; mul.wide.u32 %d1, %r3, %r1;
again: setp.ge.u64 %p, %d0, %d5; @%p bra done;
div.u64 %d12, %d0, %d7; rem.u64 %d13, %d0, %d7; add.u64 %d13, %d13, %d9; mul.lo.u64 %d13, %d13, 7;
add.u64 %d12, %d12, %d8; mov.u64 %d14, 0; @!%s bra one; mov.u64 %d12, 0;
sum: mad.lo.u64 %d15, %d12, 13, %d13; rem.u64 %d15, %d15, 61; add.u64 %d14, %d14, %d15;
add.u64 %d12, %d12, 1; setp.lt.u64 %q, %d12, %d10; @%q bra sum; bra compare;
one: mad.lo.u64 %d15, %d12, 13, %d13; rem.u64 %d14, %d15, 61;
compare: cvt.u32.u64 %r4, %d14; cvt.rn.f32.u32 %f, %r4;
shl.b64 %d16, %d0, 2; add.u64 %d16, %d16, %d4; ld.global.f32 %g, [%d16];
setp.eq.f32 %q, %f, %g; @%q bra right;
atom.global.add.u64 %d17, [%d11], 1; atom.global.min.u64 %d18, [%d11+8], %d0;
right: add.u64 %d0, %d0, %d1; bra again;
done: ret; }
";
