//! Kernels in PTX, NVIDIA's portable assembly, which the driver translates for its device.
//!
//! Source: Parallel Thread Execution ISA. Only PTX 6.0 and `sm_50` are used, which every driver since 2017 accepts;
//! [`Hint::Keep`] needs more. All arguments are 64-bit numbers.
//!
//! Streaming kernels work on tiles: every thread of a block moves `vectors` vectors of 16 bytes, and loads all of
//! them before the first store, so that many loads are in flight. Neighbouring threads take neighbouring vectors.

use std::ffi::CString;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Adds up `a`; each block adds its sum to one of [`SUMS`] words at `x`.
    Read,
    /// `a[i] = x + i * y`.
    Write,
    /// `a[i] = b[i]`.
    Copy,
    /// `a[i] = b[i] + x * c[i]`.
    Triad,
}

impl Op {
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Copy, Self::Triad];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Triad => "triad",
        }
    }

    /// Arrays read or written, each byte of which counts once.
    pub const fn arrays(self) -> u64 {
        match self {
            Self::Read | Self::Write => 1,
            Self::Copy => 2,
            Self::Triad => 3,
        }
    }
}

/// Words for the sums of [`Op::Read`], a power of two. More words cause fewer collisions of neighbouring blocks,
/// which end together; but all words must stay in the L2 cache beside the data. With 128 threads of 4 vectors an H200
/// reads 29 % slower with 1 word, 2 % slower with 65536.
pub const SUMS: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    Plain,
    /// No word is used again (`.cs`, evict first).
    Stream,
    /// Loaded lines are kept (evict last). No line is loaded twice; the policy lets stores leave the cache in larger
    /// pieces.
    Keep,
}

impl Hint {
    pub const ALL: [Self; 3] = [Self::Plain, Self::Stream, Self::Keep];

    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Stream => Some("cs"),
            Self::Keep => Some("keep"),
        }
    }

    pub const fn least(self) -> (u32, u32) {
        match self {
            Self::Plain | Self::Stream => (5, 0),
            Self::Keep => (8, 0),
        }
    }

    /// PTX header of a module: L2 cache policies need PTX 7.4 and `sm_80`.
    const fn header(self) -> &'static str {
        match self {
            Self::Plain | Self::Stream => HEADER,
            Self::Keep => ".version 7.4\n.target sm_80\n.address_size 64\n",
        }
    }

    const fn policy(self) -> &'static str {
        match self {
            Self::Plain | Self::Stream => "",
            Self::Keep => ".reg .b64 %keep; createpolicy.fractional.L2::evict_last.b64 %keep, 1.0;",
        }
    }

    fn load(self, [low, high]: [&str; 2], address: &str) -> String {
        match self {
            Self::Plain => format!("ld.global.v2.u64 {{{low}, {high}}}, [{address}];"),
            Self::Stream => format!("ld.global.cs.v2.u64 {{{low}, {high}}}, [{address}];"),
            Self::Keep => format!("ld.global.L2::cache_hint.v2.u64 {{{low}, {high}}}, [{address}], %keep;"),
        }
    }

    fn store(self, address: &str, [low, high]: [&str; 2]) -> String {
        match self {
            Self::Plain | Self::Keep => format!("st.global.v2.u64 [{address}], {{{low}, {high}}};"),
            Self::Stream => format!("st.global.cs.v2.u64 [{address}], {{{low}, {high}}};"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub op: Op,
    pub threads: u32,
    /// Vectors of 16 bytes per thread and tile.
    pub vectors: u32,
    pub hint: Hint,
}

impl Shape {
    pub const fn tile(self) -> u64 {
        self.threads as u64 * self.vectors as u64 * 16
    }

    pub fn name(self) -> String {
        let hint = self.hint.name().map(|hint| format!("_{hint}")).unwrap_or_default();
        format!("{}_{}x{}{hint}", self.op.name(), self.threads, self.vectors)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// One tile per block; the device starts a block when another ends.
    Once,
    /// This many blocks per multiprocessor, which take the tiles in turn.
    Turns(u32),
    /// This many blocks per multiprocessor, each with its own range of tiles.
    Ranges(u32),
}

impl Walk {
    /// Name: `once`, `turns2`, `ranges1`.
    pub fn name(self) -> String {
        match self {
            Self::Once => "once".to_owned(),
            Self::Turns(blocks) => format!("turns{blocks}"),
            Self::Ranges(blocks) => format!("ranges{blocks}"),
        }
    }

    /// Number of blocks for `tiles` tiles, and per block: factor from its number to its first tile, step between its
    /// tiles, most tiles.
    pub fn split(self, tiles: u64, processors: u32) -> (u32, [u64; 3]) {
        let blocks = |a_processor: u32| u64::from(a_processor.max(1)) * u64::from(processors.max(1));
        match self {
            Self::Once => (u32::try_from(tiles).unwrap_or(u32::MAX), [1, 1, 1]),
            Self::Turns(count) => {
                let blocks = blocks(count).min(tiles).max(1);
                (blocks as u32, [1, blocks, tiles.div_ceil(blocks)])
            }
            Self::Ranges(count) => {
                let each = tiles.div_ceil(blocks(count)).max(1);
                (tiles.div_ceil(each).max(1) as u32, [each, 1, each])
            }
        }
    }
}

const HEADER: &str = ".version 6.0\n.target sm_50\n.address_size 64\n";

/// PTX of a module with streaming kernels of these shapes, whose hints need the same [capability](Hint::least).
pub fn streaming(shapes: &[Shape]) -> CString {
    let mut text = shapes.first().map_or(Hint::Plain, |shape| shape.hint).header().to_owned();
    shapes.iter().for_each(|shape| kernel(&mut text, *shape));
    finished(text)
}

/// PTX of the module that every benchmark loads: `fill`, `check`, `copy_rest`, `exchange`, `chase`, `wait`, and
/// streaming copies of the given shapes.
pub fn common(shapes: &[Shape]) -> CString {
    let mut text = format!("{HEADER}{COMMON}");
    comparing(&mut text, "check", false);
    comparing(&mut text, "invert", true);
    shapes.iter().for_each(|shape| kernel(&mut text, *shape));
    finished(text)
}

fn finished(text: String) -> CString {
    CString::new(text).expect("our text holds no zero byte")
}

/// Words that a thread of [`comparing`] has under way at a time: as many bytes as fill the memory's latency.
const UNDER_WAY: usize = 4;

/// A kernel `(at, words, first, step, tally)` that compares words with a pattern, and may write them with all bits of the
/// pattern the other way: it counts words that differ, keeps the least number of one, and the bits that differ.
fn comparing(text: &mut String, name: &str, inverts: bool) {
    let mut line =
        |what: std::fmt::Arguments<'_>| writeln!(text, "{what}").expect("writing to a string works");
    let params: Vec<String> = (0..5).map(|number| format!(".param .u64 p{number}")).collect();
    line(format_args!(".visible .entry {name}({}) {{", params.join(", ")));
    line(format_args!(
        ".reg .pred %p<{UNDER_WAY}>, %q; .reg .b32 %r<4>; .reg .b64 %d<16>, %i<{UNDER_WAY}>, %a<{UNDER_WAY}>, \
         %e<{UNDER_WAY}>, %v<{UNDER_WAY}>;"
    ));
    line(format_args!("ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];"));
    line(format_args!("ld.param.u64 %d3, [p3]; ld.param.u64 %d8, [p4];"));
    line(format_args!("cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d8, %d8;"));
    line(format_args!(
        "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;"
    ));
    line(format_args!("mul.wide.u32 %d4, %r0, %r1; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5;"));
    line(format_args!("mul.wide.u32 %d5, %r3, %r1;"));
    line(format_args!("again: setp.ge.u64 %p0, %d4, %d1; @%p0 bra done;"));
    for word in 0..UNDER_WAY {
        line(format_args!(
            "mov.u64 %i{word}, %d4; add.u64 %d4, %d4, %d5; setp.lt.u64 %p{word}, %i{word}, %d1;"
        ));
        line(format_args!("shl.b64 %a{word}, %i{word}, 3; add.u64 %a{word}, %a{word}, %d0;"));
        line(format_args!("mad.lo.u64 %e{word}, %i{word}, %d3, %d2; mov.u64 %v{word}, %e{word};"));
        line(format_args!("@%p{word} ld.volatile.global.u64 %v{word}, [%a{word}];"));
    }
    for word in 0..UNDER_WAY {
        if inverts {
            line(format_args!("not.b64 %d6, %e{word}; @%p{word} st.global.u64 [%a{word}], %d6;"));
        }
        line(format_args!("setp.eq.u64 %q, %v{word}, %e{word}; @%q bra right{word};"));
        line(format_args!("atom.global.add.u64 %d9, [%d8], 1; atom.global.min.u64 %d10, [%d8+8], %i{word};"));
        line(format_args!(
            "xor.b64 %d11, %v{word}, %e{word}; atom.global.or.b64 %d12, [%d8+16], %d11; right{word}:"
        ));
    }
    line(format_args!("bra again; done: ret; }}"));
}

/// One streaming kernel: `(a, b, c, x, y, tiles, first, step, most)`.
fn kernel(text: &mut String, shape: Shape) {
    let mut line =
        |what: std::fmt::Arguments<'_>| writeln!(text, "{what}").expect("writing to a string works");
    let Shape { op, threads, vectors, hint } = shape;
    let params: Vec<String> = (0..9).map(|number| format!(".param .u64 p{number}")).collect();
    line(format_args!(".visible .entry {}({}) .maxntid {threads}, 1, 1 {{", shape.name(), params.join(", ")));
    line(format_args!(
        ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %a, %b, %c, %x, %y, %tiles, %tile, %step, %left, %lane, %at, %to, \
         %from, %and, %sum, %more, %w, %t<2>; .reg .b64 %v<{}>; .reg .b64 %k<{}>;",
        2 * vectors,
        2 * vectors
    ));
    for (number, name) in
        ["%a", "%b", "%c", "%x", "%y", "%tiles", "%tile", "%step", "%left"].iter().enumerate()
    {
        line(format_args!("ld.param.u64 {name}, [p{number}];"));
    }
    for pointer in ["%a", "%b", "%c"] {
        line(format_args!("cvta.to.global.u64 {pointer}, {pointer};"));
    }
    line(format_args!("mov.u32 %r0, %ctaid.x; cvt.u64.u32 %t0, %r0; mul.lo.u64 %tile, %tile, %t0;"));
    line(format_args!("mov.u32 %r1, %tid.x; mul.wide.u32 %lane, %r1, 16; mov.u64 %sum, 0;"));
    line(format_args!("{}", hint.policy()));
    // Words from a thread's vector to its next vector in the tile.
    line(format_args!("mul.lo.u64 %more, %y, {};", u64::from(threads) * 2));
    line(format_args!(
        "next: setp.eq.u64 %p0, %left, 0; @%p0 bra done; setp.ge.u64 %p1, %tile, %tiles; @%p1 bra done;"
    ));
    line(format_args!("mul.lo.u64 %at, %tile, {}; add.u64 %at, %at, %lane;", shape.tile()));
    line(format_args!("add.u64 %to, %a, %at; add.u64 %from, %b, %at; add.u64 %and, %c, %at;"));
    let each = |vector: u32| (2 * vector, 2 * vector + 1, u64::from(vector) * u64::from(threads) * 16);
    let load = |array: &str, register: &str, vector: u32| {
        let (low, high, offset) = each(vector);
        let [low, high] = [low, high].map(|number| format!("%{register}{number}"));
        hint.load([&low, &high], &format!("{array}+{offset}"))
    };
    match op {
        Op::Read => (0..vectors).for_each(|vector| line(format_args!("{}", load("%to", "v", vector)))),
        Op::Write => line(format_args!("shr.u64 %t1, %at, 3; mad.lo.u64 %w, %t1, %y, %x;")),
        Op::Copy => (0..vectors).for_each(|vector| line(format_args!("{}", load("%from", "v", vector)))),
        Op::Triad => (0..vectors).for_each(|vector| {
            line(format_args!("{} {}", load("%from", "v", vector), load("%and", "k", vector)));
        }),
    }
    for vector in 0..vectors {
        let (low, high, offset) = each(vector);
        match op {
            Op::Read => line(format_args!("add.u64 %sum, %sum, %v{low}; add.u64 %sum, %sum, %v{high};")),
            Op::Write => {
                line(format_args!("mov.u64 %v{low}, %w; add.u64 %v{high}, %w, %y; add.u64 %w, %w, %more;"));
            }
            Op::Copy => {}
            Op::Triad => line(format_args!(
                "mad.lo.u64 %v{low}, %k{low}, %x, %v{low}; mad.lo.u64 %v{high}, %k{high}, %x, %v{high};"
            )),
        }
        if op != Op::Read {
            let [low, high] = [low, high].map(|number| format!("%v{number}"));
            line(format_args!("{}", hint.store(&format!("%to+{offset}"), [&low, &high])));
        }
    }
    line(format_args!("add.u64 %tile, %tile, %step; sub.u64 %left, %left, 1; bra next; done:"));
    if op == Op::Read {
        add_up(&mut line, threads);
    }
    line(format_args!("ret; }}"));
}

/// Adds up the sums of a block's threads and adds the result to one of the words at `x`, with one atomic addition.
/// One per warp would be 2 % slower on an H200, with 128 threads of 4 vectors. All threads of a block take the same
/// path through the loop, so all lanes of every warp reach this code.
fn add_up(line: &mut impl FnMut(std::fmt::Arguments<'_>), threads: u32) {
    for far in [16, 8, 4, 2, 1] {
        line(format_args!(
            "mov.b64 {{%r2, %r3}}, %sum; shfl.sync.bfly.b32 %r2, %r2, {far}, 31, -1; \
             shfl.sync.bfly.b32 %r3, %r3, {far}, 31, -1; mov.b64 %t1, {{%r2, %r3}}; add.u64 %sum, %sum, %t1;"
        ));
    }
    let warps = threads / 32;
    line(format_args!(".shared .align 8 .b64 sums[{warps}];"));
    line(format_args!("mov.u32 %r2, sums; shr.u32 %r3, %r1, 5; mad.lo.u32 %r2, %r3, 8, %r2;"));
    line(format_args!("and.b32 %r3, %r1, 31; setp.ne.u32 %p0, %r3, 0; @!%p0 st.shared.u64 [%r2], %sum;"));
    line(format_args!("bar.sync 0; setp.ne.u32 %p0, %r1, 0; @%p0 bra out;"));
    for warp in 1..warps {
        line(format_args!("ld.shared.u64 %t1, [sums+{}]; add.u64 %sum, %sum, %t1;", 8 * warp));
    }
    line(format_args!(
        "cvta.to.global.u64 %x, %x; and.b32 %r0, %r0, {}; mul.wide.u32 %t0, %r0, 8;",
        SUMS - 1
    ));
    line(format_args!("add.u64 %x, %x, %t0; red.global.add.u64 [%x], %sum; out:"));
}

/// `fill(to, words, first, step)`, `check(from, words, first, step, tally)`, `copy_rest(to, from, vectors)`:
/// grid-stride loops. `exchange(to, from, other to, other from, vectors)`: even blocks copy one way, odd blocks the
/// other, one vector per thread. `chase(start, steps of 8, end, block)`: one thread of one block, so that any
/// multiprocessor can chase; with start 0 it continues at `end`. `wait(word, value, nanoseconds at most)`: one
/// thread.
const COMMON: &str = r"
.visible .entry fill(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<8>;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; ld.param.u64 %d3, [p3];
cvta.to.global.u64 %d0, %d0;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d4, %r0, %r1; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5; mul.wide.u32 %d5, %r3, %r1;
again: setp.ge.u64 %p, %d4, %d1; @%p bra done;
mad.lo.u64 %d6, %d4, %d3, %d2; shl.b64 %d7, %d4, 3; add.u64 %d7, %d7, %d0; st.global.u64 [%d7], %d6;
add.u64 %d4, %d4, %d5; bra again;
done: ret; }

.visible .entry copy_rest(.param .u64 p0, .param .u64 p1, .param .u64 p2) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<10>;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];
cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
mul.wide.u32 %d4, %r0, %r1; cvt.u64.u32 %d5, %r2; add.u64 %d4, %d4, %d5; mul.wide.u32 %d5, %r3, %r1;
again: setp.ge.u64 %p, %d4, %d2; @%p bra done;
shl.b64 %d6, %d4, 4; add.u64 %d7, %d1, %d6; ld.global.v2.u64 {%d8, %d9}, [%d7];
add.u64 %d7, %d0, %d6; st.global.v2.u64 [%d7], {%d8, %d9};
add.u64 %d4, %d4, %d5; bra again;
done: ret; }

.visible .entry exchange(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4) {
.reg .pred %p, %q; .reg .b32 %r<4>; .reg .b64 %d<10>;
ld.param.u64 %d4, [p4]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
and.b32 %r3, %r0, 1; setp.eq.u32 %q, %r3, 1; shr.u32 %r0, %r0, 1;
mul.wide.u32 %d5, %r0, %r1; cvt.u64.u32 %d6, %r2; add.u64 %d5, %d5, %d6; setp.ge.u64 %p, %d5, %d4; @%p bra done;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; ld.param.u64 %d3, [p3];
selp.b64 %d0, %d2, %d0, %q; selp.b64 %d1, %d3, %d1, %q;
cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1; shl.b64 %d5, %d5, 4;
add.u64 %d0, %d0, %d5; add.u64 %d1, %d1, %d5;
ld.global.cg.v2.u64 {%d7, %d8}, [%d1]; st.global.cg.v2.u64 [%d0], {%d7, %d8};
done: ret; }

.visible .entry chase(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {
.reg .pred %p; .reg .b32 %r<2>; .reg .b64 %d<3>;
ld.param.u64 %d2, [p3]; cvt.u32.u64 %r0, %d2; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r0, %r1; @%p bra out;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; cvta.to.global.u64 %d2, %d2;
setp.eq.u64 %p, %d0, 0; @%p ld.global.u64 %d0, [%d2];
again: setp.eq.u64 %p, %d1, 0; @%p bra done;
ld.global.u64 %d0, [%d0]; ld.global.u64 %d0, [%d0];
ld.global.u64 %d0, [%d0]; ld.global.u64 %d0, [%d0];
ld.global.u64 %d0, [%d0]; ld.global.u64 %d0, [%d0];
ld.global.u64 %d0, [%d0]; ld.global.u64 %d0, [%d0];
sub.u64 %d1, %d1, 1; bra again;
done: st.global.u64 [%d2], %d0;
out: ret; }

.visible .entry wait(.param .u64 p0, .param .u64 p1, .param .u64 p2) {
.reg .pred %p, %q; .reg .b32 %r<3>; .reg .b64 %d<5>;
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2]; cvt.u32.u64 %r0, %d1;
mov.u64 %d3, %globaltimer; add.u64 %d2, %d2, %d3;
again: ld.volatile.u32 %r1, [%d0]; sub.u32 %r2, %r1, %r0; setp.ge.s32 %p, %r2, 0; @%p bra done;
mov.u64 %d4, %globaltimer; setp.lt.u64 %q, %d4, %d2; @%q bra again;
done: ret; }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_is_taken_once_whatever_the_walk() {
        for walk in [Walk::Once, Walk::Turns(2), Walk::Ranges(3), Walk::Turns(16)] {
            for tiles in [1_u64, 7, 132, 1000, 4097] {
                let (blocks, [first, step, most]) = walk.split(tiles, 132);
                let mut taken = vec![0; tiles as usize];
                for block in 0..u64::from(blocks) {
                    let each =
                        (0..most).map(|turn| block * first + turn * step).take_while(|tile| *tile < tiles);
                    each.for_each(|tile| taken[tile as usize] += 1);
                }
                assert!(taken.iter().all(|count| *count == 1), "{walk:?} of {tiles}");
            }
        }
    }

    #[test]
    fn a_thread_loads_all_its_vectors_before_it_stores_one() {
        let shape = Shape { op: Op::Triad, threads: 256, vectors: 4, hint: Hint::Stream };
        let text = streaming(&[shape]).into_string().expect("text");
        assert!(text.contains(".entry triad_256x4_cs("));
        let last_load = text.rfind("ld.global.cs.v2.u64").expect("loads");
        let first_store = text.find("st.global.cs.v2.u64").expect("stores");
        assert!(last_load < first_store);
        assert_eq!(text.matches("ld.global.cs.v2.u64").count(), 8);
        assert_eq!(text.matches("st.global.cs.v2.u64").count(), 4);
    }

    #[test]
    fn each_hint_has_its_instructions_and_a_module_that_asks_for_no_more_than_it_needs() {
        let all = |hint| {
            let shapes = Op::ALL.map(|op| Shape { op, threads: 128, vectors: 2, hint });
            streaming(&shapes).into_string().expect("text")
        };
        let count = |hint, what| all(hint).matches(what).count();
        // Arrays loaded: one by read, one by copy, two by triad; three operations store.
        for (hint, load, store, version, target) in [
            (Hint::Plain, "ld.global.v2.u64", "st.global.v2.u64", ".version 6.0\n", ".target sm_50\n"),
            (Hint::Stream, "ld.global.cs.v2.u64", "st.global.cs.v2.u64", ".version 6.0\n", ".target sm_50\n"),
            (
                Hint::Keep,
                "ld.global.L2::cache_hint.v2.u64",
                "st.global.v2.u64",
                ".version 7.4\n",
                ".target sm_80\n",
            ),
        ] {
            assert_eq!((count(hint, load), count(hint, "ld.global.")), (8, 8), "{hint:?}");
            assert_eq!((count(hint, store), count(hint, "st.global.")), (6, 6), "{hint:?}");
            assert!(all(hint).starts_with(&format!("{version}{target}")), "{hint:?}");
            let policies = if hint == Hint::Keep { 4 } else { 0 };
            assert_eq!(count(hint, "createpolicy.fractional.L2::evict_last.b64 %keep, 1.0;"), policies);
            assert_eq!(count(hint, ", %keep;"), 2 * policies);
        }
        assert!(all(Hint::Keep).contains(".entry copy_128x2_keep("));
    }

    #[test]
    fn a_block_that_reads_adds_one_sum_to_a_word_by_its_number() {
        for threads in [128, 1024] {
            let shape = Shape { op: Op::Read, threads, vectors: 4, hint: Hint::Plain };
            let text = streaming(&[shape]).into_string().expect("text");
            assert_eq!(text.matches("red.global.add.u64").count(), 1);
            assert_eq!(text.matches("ld.shared.u64").count() as u32, threads / 32 - 1);
            assert!(text.contains("and.b32 %r0, %r0, 1023;") && !text.contains("st.global"));
        }
    }
}
