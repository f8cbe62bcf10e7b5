//! Kernels of a matrix product, in PTX, for every GPU with matrix instructions: `wgmma` on compute capability 9.0,
//! `mma.sync` on all others from 8.0 on.
//!
//! Source: Parallel Thread Execution ISA, chapters on `wgmma.mma_async`, `mma`, `ldmatrix`, `cp.async.bulk`, `mbarrier`.
//!
//! Both operands lie in tiles of 128 rows of 128 bytes, 16 KiB each, one after the other along a row of tiles; both have
//! their rows along the sum. Within a tile 16 bytes number `c` of row `r` lie at place `c ^ (r % 8)`: so the tile is what
//! shared memory has to hold (128-byte swizzle), and is copied as it is. The sums lie in pieces of 16 rows of 8 columns,
//! 512 bytes each, 16 bytes a lane, along a row of pieces: what a warp holds, written at once.

mod proof;

use std::ffi::CString;
use std::fmt::Write;

use super::element::Element;

/// Rows of a tile of an operand.
pub const TILE_ROWS: u64 = 128;

/// Bytes of a row of a tile.
pub const ROW_BYTES: u64 = 128;

pub const TILE_BYTES: u64 = TILE_ROWS * ROW_BYTES;

/// Rows and columns of the sums that a block has at a time.
pub const BLOCK: (u64, u64) = (128, 256);

/// Bytes of both operands that a block has in shared memory at a time: one tile of the first, two of the second.
const STAGE_BYTES: u64 = 3 * TILE_BYTES;

/// Rows of blocks that are worked on together, so that their operands are found in the L2 cache.
pub const TOGETHER: u64 = 16;

/// Seeds of the operands and of the weights.
pub const SEEDS: [u32; 3] = [1, 2, 3];

/// Which instructions multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Groups of four warps multiply from shared memory (`wgmma`).
    Group,
    /// Warps multiply from registers (`mma.sync`).
    Warp,
}

impl Form {
    pub const fn of(capability: (u32, u32)) -> Self {
        match capability {
            (9, 0) => Self::Group,
            _ => Self::Warp,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Group => "wgmma",
            Self::Warp => "mma.sync",
        }
    }

    pub const fn threads(self) -> u32 {
        match self {
            Self::Group => 384,
            Self::Warp => 256,
        }
    }

    /// Parts of the operands in shared memory at a time: what 227 KiB hold, or the 99 KiB that every GPU has.
    const fn stages(self) -> u64 {
        match self {
            Self::Group => 4,
            Self::Warp => 2,
        }
    }

    /// Bytes of shared memory of a block: the parts and two barriers of each.
    pub const fn shared(self) -> u32 {
        (self.stages() * (STAGE_BYTES + 16)) as u32
    }
}

/// How operands and sums lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As the own kernels read and write them.
    Tiles,
    /// Row after row, as libraries have them.
    Rows,
}

impl Layout {
    /// Kernels that make operands, and that prove and compare sums, in the order of their use.
    pub const fn names(self) -> [&'static str; 5] {
        match self {
            Self::Tiles => ["operand", "weigh", "expect", "verify", "differ"],
            Self::Rows => ["operand_rows", "weigh", "expect", "verify_rows", "differ"],
        }
    }
}

/// Name of the kernel `what` for this element. The names say the element, so that nobody takes another's.
pub fn name(what: &str, element: Element) -> String {
    format!("{what}_{}", element.name)
}

/// A module with `product(a, b, sums, rows of blocks, columns of blocks, tiles along the sum, multiprocessors)`, which
/// writes the multiprocessor of each block of threads to the last; `operand(to, vectors, tiles along the sum, seed, kind)`: kind 0 is zero, 1 whole numbers, 2 random;
/// `weigh(to, elements, rows)`: of every place along the sum the sum over all rows of the second operand, each times its
/// weight; `expect(to, rows, elements, weighed)`: what each row of sums comes to when each is taken times its weight; and
/// `verify(sums, rows, columns, expected, tally)`, `differ(one, other, words, tally)`: count what differs and note the
/// first. Of each the name ends with that of the element: [`name`].
pub fn module(element: Element, form: Form) -> CString {
    let mut text = match (form, element.name) {
        (Form::Group, _) => ".version 8.0\n.target sm_90a\n.address_size 64\n".to_owned(),
        (Form::Warp, "fp8") => ".version 8.4\n.target sm_89\n.address_size 64\n".to_owned(),
        (Form::Warp, _) => ".version 7.1\n.target sm_80\n.address_size 64\n".to_owned(),
    };
    text.push_str(".extern .shared .align 1024 .b8 parts[];\n");
    match form {
        Form::Group => product_of_groups(&mut text, element),
        Form::Warp => product_of_warps(&mut text, element),
    }
    proofs(text, element, Layout::Tiles)
}

/// A module with the kernels of [`module`] without `product`, for operands and sums that lie row after row.
pub fn module_of_rows(element: Element) -> CString {
    proofs(".version 6.0\n.target sm_50\n.address_size 64\n".to_owned(), element, Layout::Rows)
}

fn proofs(mut text: String, element: Element, layout: Layout) -> CString {
    proof::operand(&mut text, element, layout);
    proof::rows(&mut text, element);
    proof::verify(&mut text, element, layout);
    proof::differ(&mut text, element);
    CString::new(text).expect("our text holds no zero byte")
}

/// Lines of a kernel.
struct Lines<'a>(&'a mut String);

impl Lines<'_> {
    fn add(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{line}").expect("a string takes all");
    }
}

macro_rules! line {
    ($lines:ident, $($words:tt)*) => { $lines.add(format_args!($($words)*)) };
}
use line;

/// The start of both products: parameters, and the block of sums of number `%tile` as `%m` and `%n`.
fn product_head(lines: &mut Lines<'_>, element: Element, form: Form) {
    line!(
        lines,
        ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,",
        name("product", element)
    );
    line!(lines, ".param .u64 p4, .param .u64 p5, .param .u64 p6)");
    line!(lines, ".maxntid {}, 1, 1 .minnctapersm 1 {{", form.threads());
    line!(lines, ".reg .pred %p, %q, %first; .reg .b32 %r<96>; .reg .b64 %d<48>; .reg .b64 %a, %b, %c;");
    line!(lines, ".reg .b32 %rows, %columns, %deep, %tile, %tiles, %step, %m, %n, %k, %me, %lane, %warp;");
    line!(lines, ".reg .b32 %parts, %stage, %phase, %at, %full, %empty;");
    line!(lines, "ld.param.u64 %a, [p0]; ld.param.u64 %b, [p1]; ld.param.u64 %c, [p2];");
    line!(lines, "cvta.to.global.u64 %a, %a; cvta.to.global.u64 %b, %b; cvta.to.global.u64 %c, %c;");
    line!(lines, "ld.param.u32 %rows, [p3]; ld.param.u32 %columns, [p4]; ld.param.u32 %deep, [p5];");
    line!(
        lines,
        "mov.u32 %me, %tid.x; mov.u32 %step, %nctaid.x; mov.u32 %tile, %ctaid.x; mov.u32 %parts, parts;"
    );
    line!(lines, "and.b32 %lane, %me, 31; shr.u32 %warp, %me, 5; mul.lo.u32 %tiles, %rows, %columns;");
    line!(lines, "ld.param.u64 %d0, [p6]; cvta.to.global.u64 %d0, %d0; mul.wide.u32 %d1, %tile, 4;");
    line!(lines, "add.u64 %d0, %d0, %d1; mov.u32 %r0, %smid; setp.eq.u32 %p, %me, 0;");
    line!(lines, "@%p st.global.u32 [%d0], %r0;");
}

/// `%m`, `%n` of `%tile`: columns of up to [`TOGETHER`] rows, one after the other.
fn place(lines: &mut Lines<'_>) {
    line!(lines, "mul.lo.u32 %r0, %columns, {TOGETHER}; div.u32 %r1, %tile, %r0; mul.lo.u32 %r2, %r1, %r0;");
    line!(lines, "sub.u32 %r2, %tile, %r2; mul.lo.u32 %r1, %r1, {TOGETHER}; sub.u32 %r3, %rows, %r1;");
    line!(lines, "min.u32 %r3, %r3, {TOGETHER}; div.u32 %n, %r2, %r3; mul.lo.u32 %r4, %n, %r3;");
    line!(lines, "sub.u32 %r4, %r2, %r4; add.u32 %m, %r1, %r4;");
}

/// Addresses of the tiles of both operands at the start of the sum: `%d0`, and `%d1` and `%d2`.
fn operands(lines: &mut Lines<'_>) {
    line!(lines, "mul.lo.u32 %r0, %m, %deep; mul.wide.u32 %d0, %r0, {TILE_BYTES}; add.u64 %d0, %d0, %a;");
    line!(lines, "shl.b32 %r0, %n, 1; mul.lo.u32 %r0, %r0, %deep; mul.wide.u32 %d1, %r0, {TILE_BYTES};");
    line!(lines, "add.u64 %d1, %d1, %b; mul.wide.u32 %d2, %deep, {TILE_BYTES}; add.u64 %d2, %d2, %d1;");
}

/// Address `%d0` of the piece of sums at row `row` of pieces (a register) and the first of `columns` columns of the block.
fn sums(lines: &mut Lines<'_>, row: &str) {
    line!(lines, "shl.b32 %r0, %columns, 5; mul.wide.u32 %d0, {row}, %r0; shl.b32 %r1, %n, 5;");
    line!(lines, "cvt.u64.u32 %d1, %r1; add.u64 %d0, %d0, %d1; shl.b64 %d0, %d0, 9;");
    line!(lines, "mul.wide.u32 %d1, %lane, 16; add.u64 %d0, %d0, %d1; add.u64 %d0, %d0, %c;");
}

/// The next part of the operands in shared memory; the phase of its barriers changes with each round.
fn advance(lines: &mut Lines<'_>, stages: u64) {
    line!(lines, "add.u32 %stage, %stage, 1; setp.eq.u32 %p, %stage, {stages};");
    line!(lines, "@%p mov.u32 %stage, 0; @%p xor.b32 %phase, %phase, 1;");
}

/// One group of warps copies, two multiply 64 rows each.
fn product_of_groups(text: &mut String, element: Element) {
    let lines = &mut Lines(text);
    let (form, stages) = (Form::Group, Form::Group.stages());
    let barriers = stages * STAGE_BYTES;
    product_head(lines, element, form);
    let register = if element.sum == "f32" { ".f32" } else { ".b32" };
    line!(lines, ".reg {register} %s<128>; .reg .b32 %group, %last;");
    line!(lines, "shr.u32 %group, %me, 7; setp.ne.u32 %p, %me, 0; @%p bra ready;");
    for stage in 0..stages {
        let at = barriers + 16 * stage;
        line!(lines, "mbarrier.init.shared::cta.b64 [parts+{at}], 1;");
        line!(lines, "mbarrier.init.shared::cta.b64 [parts+{}], 2;", at + 8);
    }
    line!(lines, "fence.mbarrier_init.release.cluster; fence.proxy.async;");
    line!(lines, "ready: bar.sync 0; mov.u32 %stage, 0; mov.u32 %phase, 0;");
    line!(lines, "setp.ne.u32 %p, %group, 0; @%p bra multiply;");

    line!(lines, "setmaxnreg.dec.sync.aligned.u32 40; setp.ne.u32 %p, %me, 0; @%p bra done;");
    line!(lines, "copy_tile: setp.ge.u32 %p, %tile, %tiles; @%p bra done;");
    place(lines);
    operands(lines);
    line!(lines, "mov.u32 %k, 0;");
    line!(lines, "copy_part: mad.lo.u32 %full, %stage, 16, %parts; add.u32 %full, %full, {barriers};");
    line!(lines, "add.u32 %empty, %full, 8; xor.b32 %r5, %phase, 1;");
    line!(lines, "emptied: mbarrier.try_wait.parity.shared::cta.b64 %p, [%empty], %r5; @!%p bra emptied;");
    line!(lines, "mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%full], {STAGE_BYTES};");
    line!(lines, "mad.lo.u32 %at, %stage, {STAGE_BYTES}, %parts;");
    for (turn, from) in ["%d0", "%d1", "%d2"].into_iter().enumerate() {
        line!(lines, "add.u32 %r{}, %at, {};", 6 + turn, turn as u64 * TILE_BYTES);
        line!(
            lines,
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r{}], [{from}], {TILE_BYTES}, [%full];",
            6 + turn
        );
        line!(lines, "add.u64 {from}, {from}, {TILE_BYTES};");
    }
    advance(lines, stages);
    line!(lines, "add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %deep; @%p bra copy_part;");
    line!(lines, "add.u32 %tile, %tile, %step; bra copy_tile;");

    line!(lines, "multiply: setmaxnreg.inc.sync.aligned.u32 232; sub.u32 %group, %group, 1;");
    line!(lines, "and.b32 %r20, %me, 127; setp.eq.u32 %first, %r20, 0;");
    line!(lines, "tile: setp.ge.u32 %p, %tile, %tiles; @%p bra done;");
    place(lines);
    line!(lines, "mov.u32 %k, 0; mov.u32 %last, 0;");
    line!(lines, "part: mad.lo.u32 %full, %stage, 16, %parts; add.u32 %full, %full, {barriers};");
    line!(lines, "filled: mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], %phase; @!%p bra filled;");
    // What describes 128-byte rows with their swizzle in shared memory: start, 1024 bytes from 8 rows to the next 8.
    line!(
        lines,
        "mad.lo.u32 %at, %stage, {STAGE_BYTES}, %parts; mad.lo.u32 %r10, %group, {}, %at;",
        TILE_BYTES / 2
    );
    line!(lines, "add.u32 %r11, %at, {TILE_BYTES};");
    for (address, descriptor) in [("%r10", "%d4"), ("%r11", "%d5")] {
        line!(lines, "shr.u32 {address}, {address}, 4; cvt.u64.u32 {descriptor}, {address};");
        line!(lines, "or.b64 {descriptor}, {descriptor}, {:#x};", 1_u64 << 62 | 64 << 32 | 1 << 16);
    }
    line!(lines, "setp.ne.u32 %q, %k, 0; wgmma.fence.sync.aligned;");
    let all: Vec<String> = (0..128).map(|number| format!("%s{number}")).collect();
    let shape = format!("m64n256k{}.{}.{2}.{2}", element.depth(), element.sum, element.ptx);
    let signs = match element.ptx {
        "bf16" | "f16" => ", 1, 1, 0, 0",
        "s8" => "",
        _ => ", 1, 1",
    };
    for step in 0..4 {
        if step > 0 {
            line!(lines, "setp.eq.u32 %q, %k, %k; add.u64 %d4, %d4, 2; add.u64 %d5, %d5, 2;");
        }
        line!(lines, "wgmma.mma_async.sync.aligned.{shape} {{{}}}, %d4, %d5, %q{signs};", all.join(", "));
    }
    line!(lines, "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;");
    // The products of the part before are done: its place is free.
    line!(lines, "setp.ne.u32 %q, %k, 0; and.pred %q, %q, %first; add.u32 %full, %full, 8;");
    line!(lines, "@%q mbarrier.arrive.shared::cta.b64 %d3, [%last]; mov.u32 %last, %full;");
    advance(lines, stages);
    line!(lines, "add.u32 %k, %k, 1; setp.lt.u32 %p, %k, %deep; @%p bra part;");
    line!(lines, "wgmma.wait_group.sync.aligned 0; @%first mbarrier.arrive.shared::cta.b64 %d3, [%last];");
    line!(lines, "and.b32 %r20, %warp, 3; mad.lo.u32 %r20, %group, 4, %r20; mad.lo.u32 %r20, %m, 8, %r20;");
    sums(lines, "%r20");
    let kind = if element.sum == "f32" { "f32" } else { "b32" };
    for piece in 0..32 {
        let words: Vec<&str> = all[4 * piece..4 * piece + 4].iter().map(String::as_str).collect();
        line!(lines, "st.global.v4.{kind} [%d0+{}], {{{}}};", 512 * piece, words.join(", "));
    }
    line!(lines, "add.u32 %tile, %tile, %step; bra tile;");
    line!(lines, "done: ret; }}");
}

/// Eight warps copy and multiply, 64 rows and 64 columns each.
fn product_of_warps(text: &mut String, element: Element) {
    let lines = &mut Lines(text);
    let (form, stages) = (Form::Warp, Form::Warp.stages());
    product_head(lines, element, form);
    let kind = if element.sum == "f32" { "f32" } else { "s32" };
    line!(
        lines,
        ".reg .{} %s<128>; .reg .b32 %x<16>, %y<16>, %u<4>, %v<4>;",
        if kind == "f32" { "f32" } else { "b32" }
    );
    // Lanes of a warp name the rows that it loads: two times 8 rows of 16 bytes, and the 16 bytes beside them.
    line!(lines, "and.b32 %r20, %warp, 1; shr.u32 %r21, %warp, 1; and.b32 %r22, %lane, 7;");
    line!(
        lines,
        "and.b32 %r23, %lane, 8; add.u32 %r23, %r23, %r22; mad.lo.u32 %r23, %r20, 64, %r23; shl.b32 %r23, %r23, 7;"
    );
    line!(lines, "shr.u32 %r24, %lane, 4; mad.lo.u32 %r25, %r24, 8, %r22; mad.lo.u32 %r25, %r21, 64, %r25;");
    line!(
        lines,
        "shl.b32 %r25, %r25, 7; add.u32 %r25, %r25, {TILE_BYTES}; shr.u32 %r26, %lane, 3; and.b32 %r26, %r26, 1;"
    );
    for step in 0..4 {
        for (near, row, name) in [("%r24", "%r23", "u"), ("%r26", "%r25", "v")] {
            line!(
                lines,
                "add.u32 %r27, {near}, {}; xor.b32 %r27, %r27, %r22; shl.b32 %r27, %r27, 4;",
                2 * step
            );
            line!(lines, "add.u32 %{name}{step}, %r27, {row};");
        }
    }
    line!(lines, "shl.b32 %r30, %me, 4; cvt.u64.u32 %d6, %r30;");
    line!(lines, "tile: setp.ge.u32 %p, %tile, %tiles; @%p bra done;");
    place(lines);
    operands(lines);
    for base in 0..3 {
        line!(lines, "add.u64 %d{base}, %d{base}, %d6;");
    }
    for number in 0..128 {
        let zero = if kind == "f32" { "mov.f32" } else { "mov.b32" };
        line!(lines, "{zero} %s{number}, {};", if kind == "f32" { "0f00000000" } else { "0" });
    }
    let load = |lines: &mut Lines<'_>, stage: &str| {
        line!(lines, "mad.lo.u32 %r31, {stage}, {STAGE_BYTES}, %parts; add.u32 %r31, %r31, %r30;");
        for (operand, from) in ["%d0", "%d1", "%d2"].into_iter().enumerate() {
            for turn in 0..4 {
                let to = operand as u64 * TILE_BYTES + turn * 4096;
                line!(lines, "cp.async.cg.shared.global [%r31+{to}], [{from}+{}], 16;", turn * 4096);
            }
            line!(lines, "add.u64 {from}, {from}, {TILE_BYTES};");
        }
    };
    line!(lines, "mov.u32 %stage, 0; mov.u32 %k, 0;");
    load(lines, "%stage");
    line!(lines, "cp.async.commit_group;");
    // The next part is on its way while this one is multiplied.
    line!(lines, "part: add.u32 %r32, %k, 1; setp.ge.u32 %p, %r32, %deep; xor.b32 %r33, %stage, 1;");
    line!(lines, "@%p bra loaded;");
    load(lines, "%r33");
    line!(lines, "loaded: cp.async.commit_group; cp.async.wait_group 1; bar.sync 0;");
    line!(lines, "mad.lo.u32 %at, %stage, {STAGE_BYTES}, %parts;");
    let shape = format!("m16n8k{}.row.col.{2}.{1}.{1}.{2}", element.depth(), element.ptx, element.sum);
    for step in 0..4 {
        line!(lines, "add.u32 %r34, %at, %u{step}; add.u32 %r35, %at, %v{step};");
        for (rows, address, name) in [(4, "%r34", "x"), (4, "%r35", "y")] {
            for row in 0..rows {
                let to: Vec<String> = (0..4).map(|word| format!("%{name}{}", 4 * row + word)).collect();
                line!(
                    lines,
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{}}}, [{address}+{}];",
                    to.join(", "),
                    2048 * row
                );
            }
        }
        for row in 0..4 {
            for column in 0..8 {
                let at = 4 * (8 * row + column);
                let own = format!("{{%s{at}, %s{}, %s{}, %s{}}}", at + 1, at + 2, at + 3);
                let x = 4 * row;
                line!(
                    lines,
                    "mma.sync.aligned.{shape} {own}, {{%x{x}, %x{}, %x{}, %x{}}}, {{%y{}, %y{}}}, {own};",
                    x + 1,
                    x + 2,
                    x + 3,
                    2 * column,
                    2 * column + 1
                );
            }
        }
    }
    // Nobody may overwrite what another warp still multiplies.
    line!(
        lines,
        "bar.sync 0; mov.u32 %stage, %r33; mov.u32 %k, %r32; setp.lt.u32 %p, %k, %deep; @%p bra part;"
    );
    line!(lines, "cp.async.wait_group 0; mad.lo.u32 %r40, %m, 8, 0; mad.lo.u32 %r40, %r20, 4, %r40;");
    line!(lines, "mul.lo.u32 %r42, %r21, 4096; cvt.u64.u32 %d7, %r42;");
    let store = if kind == "f32" { "f32" } else { "b32" };
    for row in 0..4 {
        line!(lines, "add.u32 %r41, %r40, {row};");
        sums(lines, "%r41");
        line!(lines, "add.u64 %d0, %d0, %d7;");
        for column in 0..8 {
            let at = 4 * (8 * row + column);
            line!(
                lines,
                "st.global.v4.{store} [%d0+{}], {{%s{at}, %s{}, %s{}, %s{}}};",
                512 * column,
                at + 1,
                at + 2,
                at + 3
            );
        }
    }
    line!(lines, "add.u32 %tile, %tile, %step; bra tile;");
    line!(lines, "done: ret; }}");
    debug_assert!(stages == 2, "the stages alternate");
}
