//! Kernels that make operands, and that prove and compare sums.

use super::{Layout, Lines, SEEDS, TILE_ROWS, line, name};
use crate::product::Element;

/// Random bits `%h` of row `%row`, place `%place` and `%seed`.
const HASH: &str =
    "mul.lo.u32 %h, %row, 0x9e3779b1; mad.lo.u32 %h, %place, 0x85ebca77, %h; add.u32 %h, %h, %seed;
shr.u32 %g, %h, 15; xor.b32 %h, %h, %g; mul.lo.u32 %h, %h, 0x2c1b3c6d; shr.u32 %g, %h, 12; xor.b32 %h, %h, %g;
mul.lo.u32 %h, %h, 0x297a2d39; shr.u32 %g, %h, 15; xor.b32 %h, %h, %g;";

/// The number of this thread among all `%d0`, and all threads `%d1`.
const THREAD: &str =
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d0, %r0, %r1; cvt.u64.u32 %d1, %r2; add.u64 %d0, %d0, %d1; mul.wide.u32 %d1, %r3, %r1;";

/// Sixteen bytes a thread and turn.
pub(super) fn operand(text: &mut String, element: Element, layout: Layout) {
    let lines = &mut Lines(text);
    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4) {{",
        name(layout.names()[0], element)
    );
    line!(
        lines,
        ".reg .pred %p, %q, %first; .reg .b32 %r<16>, %w<4>; .reg .b64 %d<8>; .reg .b32 %h, %g, %row, %place, %seed, %kind;"
    );
    line!(
        lines,
        "ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u32 %r4, [p2]; ld.param.u32 %seed, [p3];"
    );
    line!(lines, "ld.param.u32 %kind, [p4]; cvta.to.global.u64 %d4, %d4;");
    line!(lines, "{THREAD}");
    line!(lines, "again: setp.ge.u64 %p, %d0, %d5; @%p bra done; cvt.u32.u64 %r5, %d0;");
    match layout {
        // Row and 16 bytes within the tile, and where the tile lies.
        Layout::Tiles => {
            line!(
                lines,
                "shr.u32 %r6, %r5, 10; div.u32 %r7, %r6, %r4; rem.u32 %r8, %r6, %r4; bfe.u32 %r9, %r5, 3, 7;"
            );
            line!(
                lines,
                "mad.lo.u32 %row, %r7, {TILE_ROWS}, %r9; xor.b32 %r10, %r5, %r9; and.b32 %r10, %r10, 7;"
            );
            line!(lines, "mad.lo.u32 %r10, %r8, 8, %r10;");
        }
        Layout::Rows => {
            line!(lines, "shl.b32 %r6, %r4, 3; div.u32 %row, %r5, %r6; rem.u32 %r10, %r5, %r6;");
        }
    }
    line!(lines, "mul.lo.u32 %place, %r10, {};", 16 / element.bytes);
    if element.bytes == 8 {
        // The lower half of the bits is random too, or zero.
        for word in [0, 2] {
            value(lines, element);
            line!(lines, "mul.lo.u32 %w{word}, %h, 0x9e3779b1; selp.b32 %w{word}, %w{word}, 0, %first;");
            line!(lines, "mov.b32 %w{}, %r12; add.u32 %place, %place, 1;", word + 1);
        }
    }
    let (each, words) = (4 / element.bytes, if element.bytes == 8 { 0 } else { 4 });
    for word in 0..words {
        line!(lines, "mov.u32 %w{word}, 0;");
        for turn in 0..each {
            value(lines, element);
            line!(lines, "shl.b32 %r12, %r12, {};", 8 * element.bytes * turn);
            line!(lines, "or.b32 %w{word}, %w{word}, %r12; add.u32 %place, %place, 1;");
        }
    }
    line!(
        lines,
        "shl.b64 %d6, %d0, 4; add.u64 %d6, %d6, %d4; st.global.v4.b32 [%d6], {{%w0, %w1, %w2, %w3}};"
    );
    line!(lines, "add.u64 %d0, %d0, %d1; bra again; done: ret; }}");
}

/// The value of the element in row `%row` at `%place` as `%r12`; `%first` tells whether it is random.
fn value(lines: &mut Lines<'_>, element: Element) {
    line!(lines, "{HASH}");
    line!(lines, "and.b32 %r11, %h, 3;");
    // The four whole numbers, by their number.
    line!(lines, "mov.u32 %r12, {:#x};", element.whole[0]);
    for number in 1..4 {
        line!(lines, "setp.eq.u32 %q, %r11, {number}; @%q mov.u32 %r12, {:#x};", element.whole[number]);
    }
    line!(
        lines,
        "setp.eq.u32 %first, %kind, 2; shr.u32 %r13, %h, {}; and.b32 %r13, %r13, {:#x};",
        if element.bytes >= 4 { 0 } else { 7 },
        element.mask
    );
    line!(lines, "or.b32 %r13, %r13, {:#x}; selp.b32 %r12, %r13, %r12, %first;", element.base);
    line!(lines, "setp.eq.u32 %q, %kind, 0; selp.b32 %r12, 0, %r12, %q;");
}

/// The weight of a column, odd, as a sign-extended number `%weight`; the same hash with a place of its own.
const WEIGHT: &str = "or.b32 %h, %h, 1; cvt.s64.s32 %weight, %h;";

/// The whole number of an element as `%value`.
const VALUE: &str = "and.b32 %h, %h, 3; sub.s32 %h, %h, 1; cvt.s64.s32 %value, %h;";

/// `weigh` and `expect`, one sum a thread.
pub(super) fn rows(text: &mut String, element: Element) {
    let [first, second, third] = SEEDS;
    let lines = &mut Lines(text);
    let registers = ".reg .pred %p, %q; .reg .b32 %r<8>; .reg .b64 %d<8>, %weight, %value, %sum;
.reg .b32 %h, %g, %row, %place, %seed, %turn, %turns;";
    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2) {{ {registers}",
        name("weigh", element)
    );
    line!(
        lines,
        "ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u32 %turns, [p2]; cvta.to.global.u64 %d4, %d4;"
    );
    line!(lines, "{THREAD}");
    line!(lines, "again: setp.ge.u64 %p, %d0, %d5; @%p bra done; mov.u64 %sum, 0; mov.u32 %turn, 0;");
    line!(lines, "next: mov.u32 %row, %turn; mov.u32 %place, 0; mov.u32 %seed, {third}; {HASH} {WEIGHT}");
    line!(lines, "cvt.u32.u64 %place, %d0; mov.u32 %seed, {second}; {HASH} {VALUE}");
    line!(lines, "mad.lo.s64 %sum, %value, %weight, %sum;");
    line!(lines, "add.u32 %turn, %turn, 1; setp.lt.u32 %q, %turn, %turns; @%q bra next;");
    line!(lines, "shl.b64 %d6, %d0, 3; add.u64 %d6, %d6, %d4; st.global.u64 [%d6], %sum;");
    line!(lines, "add.u64 %d0, %d0, %d1; bra again; done: ret; }}");

    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{ {registers}",
        name("expect", element)
    );
    line!(
        lines,
        "ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u32 %turns, [p2]; ld.param.u64 %d7, [p3];"
    );
    line!(lines, "cvta.to.global.u64 %d4, %d4; cvta.to.global.u64 %d7, %d7;");
    line!(lines, "{THREAD}");
    line!(
        lines,
        "again: setp.ge.u64 %p, %d0, %d5; @%p bra done; mov.u64 %sum, 0; mov.u32 %turn, 0; mov.u64 %d6, %d7;"
    );
    line!(
        lines,
        "next: cvt.u32.u64 %row, %d0; mov.u32 %place, %turn; mov.u32 %seed, {first}; {HASH} {VALUE}"
    );
    line!(
        lines,
        "ld.global.u64 %weight, [%d6]; mad.lo.s64 %sum, %value, %weight, %sum; add.u64 %d6, %d6, 8;"
    );
    line!(lines, "add.u32 %turn, %turn, 1; setp.lt.u32 %q, %turn, %turns; @%q bra next;");
    line!(lines, "shl.b64 %d6, %d0, 3; add.u64 %d6, %d6, %d4; st.global.u64 [%d6], %sum;");
    line!(lines, "add.u64 %d0, %d0, %d1; bra again; done: ret; }}");
}

/// One row of sums a thread: all of it times the weights is what `expect` said.
pub(super) fn verify(text: &mut String, element: Element, layout: Layout) {
    let third = SEEDS[2];
    let lines = &mut Lines(text);
    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4) {{",
        name(layout.names()[3], element)
    );
    line!(
        lines,
        ".reg .pred %p, %q; .reg .b32 %r<8>; .reg .b64 %d<16>, %weight, %value, %sum; .reg .f32 %f; .reg .f64 %g64;"
    );
    line!(lines, ".reg .b32 %h, %g, %row, %place, %seed, %turn, %turns;");
    line!(
        lines,
        "ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u32 %turns, [p2]; ld.param.u64 %d6, [p3];"
    );
    line!(
        lines,
        "ld.param.u64 %d7, [p4]; cvta.to.global.u64 %d4, %d4; cvta.to.global.u64 %d6, %d6; cvta.to.global.u64 %d7, %d7;"
    );
    line!(lines, "{THREAD}");
    line!(lines, "again: setp.ge.u64 %p, %d0, %d5; @%p bra done; cvt.u32.u64 %r4, %d0;");
    if layout == Layout::Tiles {
        // Pieces of 16 rows; in one, 8 rows by 4 lanes a row, and the lower 8 rows in the second half of 16 bytes.
        line!(
            lines,
            "shr.u32 %r5, %r4, 4; shr.u32 %r6, %turns, 3; mul.wide.u32 %d8, %r5, %r6; shl.b64 %d8, %d8, 9;"
        );
        line!(
            lines,
            "add.u64 %d8, %d8, %d4; and.b32 %r5, %r4, 7; mul.wide.u32 %d9, %r5, 64; add.u64 %d8, %d8, %d9;"
        );
        line!(
            lines,
            "and.b32 %r5, %r4, 8; cvt.u64.u32 %d9, %r5; add.u64 %d8, %d8, %d9; mov.u64 %sum, 0; mov.u32 %turn, 0;"
        );
    } else {
        line!(
            lines,
            "cvt.u64.u32 %d8, %turns; mul.lo.u64 %d8, %d8, %d0; mul.lo.u64 %d8, %d8, {};",
            element.sum_bytes()
        );
        line!(lines, "add.u64 %d8, %d8, %d4; mov.u64 %sum, 0; mov.u32 %turn, 0;");
    }
    line!(lines, "next: mov.u32 %row, %turn; mov.u32 %place, 0; mov.u32 %seed, {third}; {HASH} {WEIGHT}");
    if layout == Layout::Tiles {
        line!(
            lines,
            "shr.u32 %r5, %turn, 3; mul.wide.u32 %d9, %r5, 512; bfe.u32 %r5, %turn, 1, 2; mul.wide.u32 %d10, %r5, 16;"
        );
        line!(
            lines,
            "add.u64 %d9, %d9, %d10; and.b32 %r5, %turn, 1; mul.wide.u32 %d10, %r5, 4; add.u64 %d9, %d9, %d10;"
        );
        line!(lines, "add.u64 %d9, %d9, %d8;");
    } else {
        line!(lines, "mul.wide.u32 %d9, %turn, {}; add.u64 %d9, %d9, %d8;", element.sum_bytes());
    }
    line!(
        lines,
        "{}",
        match element.sum {
            "f32" => "ld.global.f32 %f, [%d9]; cvt.rni.s64.f32 %value, %f;",
            "f64" => "ld.global.f64 %g64, [%d9]; cvt.rni.s64.f64 %value, %g64;",
            _ => "ld.global.s32 %value, [%d9];",
        }
    );
    line!(lines, "mad.lo.s64 %sum, %value, %weight, %sum;");
    line!(lines, "add.u32 %turn, %turn, 1; setp.lt.u32 %q, %turn, %turns; @%q bra next;");
    line!(lines, "shl.b64 %d9, %d0, 3; add.u64 %d9, %d9, %d6; ld.global.u64 %d10, [%d9];");
    line!(lines, "setp.eq.u64 %q, %d10, %sum; @%q bra right;");
    line!(lines, "atom.global.add.u64 %d11, [%d7], 1; atom.global.min.u64 %d12, [%d7+8], %d0;");
    line!(lines, "right: add.u64 %d0, %d0, %d1; bra again; done: ret; }}");
}

pub(super) fn differ(text: &mut String, element: Element) {
    let lines = &mut Lines(text);
    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {{",
        name("differ", element)
    );
    line!(lines, ".reg .pred %p, %q; .reg .b32 %r<8>; .reg .b64 %d<16>;");
    line!(
        lines,
        "ld.param.u64 %d4, [p0]; ld.param.u64 %d5, [p1]; ld.param.u64 %d6, [p2]; ld.param.u64 %d7, [p3];"
    );
    line!(lines, "cvta.to.global.u64 %d4, %d4; cvta.to.global.u64 %d5, %d5; cvta.to.global.u64 %d7, %d7;");
    line!(lines, "{THREAD}");
    line!(
        lines,
        "again: setp.ge.u64 %p, %d0, %d6; @%p bra done; shl.b64 %d8, %d0, 3; add.u64 %d9, %d8, %d4;"
    );
    line!(lines, "add.u64 %d8, %d8, %d5; ld.global.u64 %d10, [%d9]; ld.global.u64 %d11, [%d8];");
    line!(lines, "setp.eq.u64 %q, %d10, %d11; @%q bra right;");
    line!(lines, "atom.global.add.u64 %d12, [%d7], 1; atom.global.min.u64 %d13, [%d7+8], %d0;");
    line!(lines, "right: add.u64 %d0, %d0, %d1; bra again; done: ret; }}");
}
