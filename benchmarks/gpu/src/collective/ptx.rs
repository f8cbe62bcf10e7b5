//! Kernels that fill and check elements.
//!
//! Element `i` of rank `r` is `(7 i + 13 r) mod m`: whole numbers, whose sums over all ranks are exact in any order where `m`
//! is small enough for the type.

use std::ffi::CString;

use super::item::ItemType;

/// How a whole number in `%r4` becomes the bits of an element.
struct Form {
    /// Instructions that make it.
    make: &'static str,
    /// The register that holds it then, and its type.
    register: &'static str,
    bits: &'static str,
    /// Another register of this type.
    found: &'static str,
}

const fn form(element: ItemType) -> Form {
    let (make, register, bits, found) = match element {
        ItemType::Fp32 => ("cvt.rn.f32.u32 %f, %r4; mov.b32 %r5, %f;", "%r5", "b32", "%r6"),
        ItemType::Int32 => ("mov.b32 %r5, %r4;", "%r5", "b32", "%r6"),
        ItemType::Fp16 => ("cvt.rn.f16.u32 %h0, %r4;", "%h0", "b16", "%h1"),
        // Small numbers lose nothing when the lower half of the bits is left out.
        ItemType::Bf16 => (
            "cvt.rn.f32.u32 %f, %r4; mov.b32 %r5, %f; shr.u32 %r5, %r5, 16; cvt.u16.u32 %h0, %r5;",
            "%h0",
            "b16",
            "%h1",
        ),
        ItemType::Fp64 => ("cvt.rn.f64.u32 %g, %r4; mov.b64 %d20, %g;", "%d20", "b64", "%d21"),
    };
    Form { make, register, bits, found }
}

/// `fill_TYPE(to, count, rank, m)` and `check_TYPE(from, count, sums, each, source, first, ranks, m, tally)`.
pub fn module(element: ItemType) -> CString {
    let Form { make, register, bits, found } = form(element);
    let (name, bytes) = (element.name(), element.bytes());
    let registers = ".reg .pred %p, %q, %s; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<24>; .reg .f32 %f; .reg .f64 %g;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d0, %r0, %r1; cvt.u64.u32 %d1, %r2; add.u64 %d0, %d0, %d1; mul.wide.u32 %d1, %r3, %r1;";
    let text = format!(
        ".version 6.0
.target sm_53
.address_size 64

.visible .entry fill_{name}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{
{registers}
ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u64 %d6, [p2]; ld.param.u64 %d7, [p3];
cvta.to.global.u64 %d4, %d4; mul.lo.u64 %d6, %d6, 13;
again: setp.ge.u64 %p, %d0, %d5; @%p bra done;
mad.lo.u64 %d2, %d0, 7, %d6; rem.u64 %d2, %d2, %d7; cvt.u32.u64 %r4, %d2; {make}
mad.lo.u64 %d3, %d0, {bytes}, %d4; st.global.{bits} [%d3], {register};
add.u64 %d0, %d0, %d1; bra again;
done: ret; }}

.visible .entry check_{name}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4,
.param .u64 p5, .param .u64 p6, .param .u64 p7, .param .u64 p8) {{
{registers}
ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u64 %d6, [p2]; ld.param.u64 %d7, [p3];
ld.param.u64 %d8, [p4]; ld.param.u64 %d9, [p5]; ld.param.u64 %d10, [p6]; ld.param.u64 %d19, [p7];
ld.param.u64 %d11, [p8]; cvta.to.global.u64 %d4, %d4; cvta.to.global.u64 %d11, %d11; setp.ne.u64 %s, %d6, 0;
again: setp.ge.u64 %p, %d0, %d5; @%p bra done;
div.u64 %d12, %d0, %d7; rem.u64 %d13, %d0, %d7; add.u64 %d13, %d13, %d9; mul.lo.u64 %d13, %d13, 7;
add.u64 %d12, %d12, %d8; mov.u64 %d14, 0; @!%s bra one; mov.u64 %d12, 0;
sum: mad.lo.u64 %d15, %d12, 13, %d13; rem.u64 %d15, %d15, %d19; add.u64 %d14, %d14, %d15;
add.u64 %d12, %d12, 1; setp.lt.u64 %q, %d12, %d10; @%q bra sum; bra compare;
one: mad.lo.u64 %d15, %d12, 13, %d13; rem.u64 %d14, %d15, %d19;
compare: cvt.u32.u64 %r4, %d14; {make}
mad.lo.u64 %d16, %d0, {bytes}, %d4; ld.global.{bits} {found}, [%d16];
setp.eq.{bits} %q, {register}, {found}; @%q bra right;
atom.global.add.u64 %d17, [%d11], 1; atom.global.min.u64 %d18, [%d11+8], %d0;
right: add.u64 %d0, %d0, %d1; bra again;
done: ret; }}
"
    );
    CString::new(text).expect("our text holds no zero byte")
}
