//! The kernels on a device, behind functions that check memory bounds.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::ffi::CString;
use std::sync::Arc;

use seatrial_sys::gpu::{
    DeviceMemory, Function, Gate, Gpu, GpuError, GpuFault, Module, PinnedMemory, Span, Stream,
};

use super::pattern::{Pattern, Wrong};
use super::ptx::{self, Hint, Op, SUMS, Shape, Walk};

/// Most time that a kernel waits at a gate, so that a host that died does not leave a GPU busy.
const LONGEST_WAIT_NS: u64 = 10_000_000_000;

/// Threads per block of kernels that are not measured.
const THREADS: u32 = 256;

/// Blocks per multiprocessor of kernels that are not measured.
const BLOCKS: u32 = 8;

/// Kernels of every benchmark, and streaming kernels of the requested shapes; clones share them.
#[derive(Clone, Debug)]
pub struct Kernels(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    gpu: Gpu,
    fill: Function,
    check: Function,
    invert: Function,
    copy_rest: Function,
    exchange: Function,
    chase: Function,
    wait: Function,
    link_copy: Function,
}

/// Shape and walk of the copy over links: enough bytes in flight to fill the link.
pub const LINK_COPY: (Shape, Walk) =
    (Shape { op: Op::Copy, threads: 512, vectors: 8, hint: Hint::Plain }, Walk::Turns(1));

/// Result of a check on the device: the number of wrong words, the first, and the bits that differ.
#[derive(Debug)]
pub struct Tally(Arc<DeviceMemory>);

impl Tally {
    pub fn take(gpu: &Gpu) -> Result<Self, GpuError> {
        DeviceMemory::take(gpu, 24).map(Self)
    }

    /// What a kernel counted that `launch` queues: it adds to the first word, keeps the least in the second, and may
    /// set bits in the third. Waits.
    pub fn count(
        &self,
        stream: &Stream,
        launch: impl FnOnce(Span<'_>) -> Result<(), GpuError>,
    ) -> Result<Option<Wrong>, GpuError> {
        launch(self.clear(stream)?)?;
        self.read(stream)
    }

    /// Starts a count at nothing.
    pub fn clear(&self, stream: &Stream) -> Result<Span<'_>, GpuError> {
        let result = Span::Device(&self.0, 0);
        let nothing: Vec<u8> = [0, u64::MAX, 0].iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        stream.copy_in(result, &nothing)?;
        Ok(result)
    }

    /// Waits for the kernels of the stream: what they counted.
    pub fn read(&self, stream: &Stream) -> Result<Option<Wrong>, GpuError> {
        let mut bytes = [0_u8; 24];
        stream.copy_out(&mut bytes, Span::Device(&self.0, 0))?;
        let [count, first, bits] =
            [0, 8, 16].map(|at| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes")));
        Ok((count > 0).then_some(Wrong { count, first, bits }))
    }
}

impl Kernels {
    pub fn load(gpu: &Gpu) -> Result<Self, GpuError> {
        let common = Module::load(gpu, &ptx::common(&[LINK_COPY.0]))?;
        let get = |name: &std::ffi::CStr| common.function(name);
        let link = CString::new(LINK_COPY.0.name()).expect("our names hold no zero byte");
        let loaded = Loaded {
            gpu: gpu.clone(),
            fill: get(c"fill")?,
            check: get(c"check")?,
            invert: get(c"invert")?,
            copy_rest: get(c"copy_rest")?,
            exchange: get(c"exchange")?,
            chase: get(c"chase")?,
            wait: get(c"wait")?,
            link_copy: get(&link)?,
        };
        Ok(Self(Arc::new(loaded)))
    }

    /// Translates one streaming kernel per shape that device and driver support.
    pub fn streaming(&self, shapes: &[Shape]) -> Result<Streaming, GpuError> {
        let capability = self.0.gpu.properties().capability;
        let (special, common) = apart(shapes);
        let mut streaming = Streaming { kernels: self.translated(&common)?, left_out: None };
        if let Some(least) = special.first().map(|shape| shape.hint.least()) {
            let why = if capability < least {
                format!("compute capability {}.{} is too low", capability.0, capability.1)
            } else {
                match self.translated(&special) {
                    Ok(kernels) => {
                        streaming.kernels.extend(kernels);
                        return Ok(streaming);
                    }
                    Err(error) if error.fault() == GpuFault::CodeRefused => error.to_string(),
                    Err(error) => return Err(error),
                }
            };
            streaming.left_out = Some(format!("kernels with an L2 evict-last policy: {why}"));
        }
        Ok(streaming)
    }

    fn translated(&self, shapes: &[Shape]) -> Result<Vec<(Shape, Function)>, GpuError> {
        let module = Module::load(&self.0.gpu, &ptx::streaming(shapes))?;
        let get = |shape: &Shape| {
            let name = CString::new(shape.name()).expect("our names hold no zero byte");
            Ok((*shape, module.function(&name)?))
        };
        shapes.iter().map(get).collect()
    }

    fn everywhere(&self) -> (u32, u32) {
        (self.0.gpu.properties().processors.max(1) * BLOCKS, THREADS)
    }

    pub fn fill(
        &self,
        stream: &Stream,
        at: Span<'_>,
        words: usize,
        pattern: Pattern,
    ) -> Result<(), GpuError> {
        let address = at.address(words * 8)?;
        let arguments = [address, words as u64, pattern.first, pattern.step];
        // SAFETY: `fill` takes four numbers and writes `words` words from the address on, which the span has.
        unsafe { stream.launch(&self.0.fill, self.everywhere(), &arguments, &[at]) }
    }

    /// Counts the words from `at` that differ from `pattern`, and waits for the result.
    pub fn check(
        &self,
        stream: &Stream,
        tally: &Tally,
        at: Span<'_>,
        words: usize,
        pattern: Pattern,
    ) -> Result<Option<Wrong>, GpuError> {
        tally.count(stream, |tally| self.compare(stream, tally, at, words, pattern, false))
    }

    /// Queues a count of the words that differ from `pattern`; with `inverts` every word is then written with all bits of
    /// the pattern the other way.
    pub fn compare(
        &self,
        stream: &Stream,
        tally: Span<'_>,
        at: Span<'_>,
        words: usize,
        pattern: Pattern,
        inverts: bool,
    ) -> Result<(), GpuError> {
        let arguments =
            [at.address(words * 8)?, words as u64, pattern.first, pattern.step, tally.address(24)?];
        let kernel = if inverts { &self.0.invert } else { &self.0.check };
        // SAFETY: both kernels take five numbers, read, and `invert` writes, the words, which the span has, and write 24
        // bytes of the tally.
        unsafe { stream.launch(kernel, self.everywhere(), &arguments, &[at, tally]) }
    }

    /// Queues a streaming kernel over the first `bytes` of its arrays, a multiple of its tile. Fails when an array is
    /// too short, or `bytes` is no multiple.
    pub fn stream(
        &self,
        stream: &Stream,
        function: &Function,
        (shape, walk): (Shape, Walk),
        arrays: &Arrays<'_>,
        bytes: usize,
    ) -> Result<(), GpuError> {
        let tiles = bytes as u64 / shape.tile();
        if tiles * shape.tile() != bytes as u64 || tiles == 0 {
            return Err(GpuError::Beyond { offset: 0, bytes, size: (tiles * shape.tile()) as usize });
        }
        let processors = self.0.gpu.properties().processors;
        let (blocks, [first, step, most]) = walk.split(tiles, processors);
        let (spans, [a, b, c, x, y]) = match arrays {
            Arrays::Read { from, sums } => {
                (vec![*from, *sums], [from.address(bytes)?, 0, 0, sums.address(SUMS as usize * 8)?, 0])
            }
            Arrays::Write { to, pattern } => {
                (vec![*to], [to.address(bytes)?, 0, 0, pattern.first, pattern.step])
            }
            Arrays::Copy { to, from } => {
                (vec![*to, *from], [to.address(bytes)?, from.address(bytes)?, 0, 0, 0])
            }
            Arrays::Triad { to, from, and, factor } => {
                let addresses = [to.address(bytes)?, from.address(bytes)?, and.address(bytes)?, *factor, 0];
                (vec![*to, *from, *and], addresses)
            }
        };
        if shape.op != arrays.op() {
            return Err(GpuError::Foreign { what: "the kernel's form" });
        }
        let arguments = [a, b, c, x, y, tiles, first, step, most];
        // SAFETY: a streaming kernel takes nine numbers. It touches `tiles` tiles of the arrays of its operation, which
        // is that of `arrays`; each array was checked to have them. `Read` also adds to words of `sums`, atomically, by the
        // number of the block modulo `SUMS`, and `sums` was checked to have so many.
        unsafe { stream.launch(function, (blocks, shape.threads), &arguments, &spans) }
    }

    /// Queues a copy of `bytes`, a multiple of 16, by the multiprocessors.
    pub fn copy(&self, stream: &Stream, to: Span<'_>, from: Span<'_>, bytes: usize) -> Result<(), GpuError> {
        let (shape, walk) = LINK_COPY;
        let whole = bytes as u64 / shape.tile() * shape.tile();
        if whole > 0 {
            let arrays = Arrays::Copy { to, from };
            self.stream(stream, &self.0.link_copy, (shape, walk), &arrays, whole as usize)?;
        }
        let rest = bytes as u64 - whole;
        if rest == 0 {
            return Ok(());
        }
        if !bytes.is_multiple_of(16) {
            return Err(GpuError::Beyond { offset: 0, bytes, size: bytes / 16 * 16 });
        }
        let arguments = [to.address(bytes)? + whole, from.address(bytes)? + whole, rest / 16];
        // SAFETY: `copy_rest` takes three numbers and copies so many vectors, which both spans were checked to have.
        unsafe { stream.launch(&self.0.copy_rest, self.everywhere(), &arguments, &[to, from]) }
    }

    /// Queues one kernel that makes two copies of `bytes`, a multiple of 16, at once. Blocks alternate between the
    /// copies, and each block ends with its part, so that the device hands out both copies evenly. Two kernels of one
    /// copy each, or a strided one, leave a tenth of a host link unused when both directions are loaded.
    pub fn exchange(
        &self,
        stream: &Stream,
        one: (Span<'_>, Span<'_>),
        other: (Span<'_>, Span<'_>),
        bytes: usize,
    ) -> Result<(), GpuError> {
        let vectors = bytes as u64 / 16;
        let blocks = u32::try_from(2 * vectors.div_ceil(u64::from(THREADS)));
        let (true, Ok(blocks @ 1..)) = (bytes.is_multiple_of(16), blocks) else {
            return Err(GpuError::Beyond { offset: 0, bytes, size: bytes / 16 * 16 });
        };
        let at = |span: Span<'_>| span.address(bytes);
        let arguments = [at(one.0)?, at(one.1)?, at(other.0)?, at(other.1)?, vectors];
        let spans = [one.0, one.1, other.0, other.1];
        // SAFETY: `exchange` takes five numbers and copies so many vectors twice, which all four spans were checked to
        // have.
        unsafe { stream.launch(&self.0.exchange, (blocks, THREADS), &arguments, &spans) }
    }

    /// Queues a chase round the ring: `processors` multiprocessors, spread evenly and rotated by `turn`, each follow
    /// it for `loads` dependent loads, a multiple of 8, continuing where the previous one ended. Multiprocessors
    /// differ in their distance to a link, and neighbours share a path: on an H200 sixteen neighbours see 803 or 855
    /// ns, all of them together 829 ns.
    pub fn chase(
        &self,
        stream: &Stream,
        ring: &Ring,
        loads: u64,
        tally: &Tally,
        (turn, processors): (u32, u32),
    ) -> Result<(), GpuError> {
        let there_are = self.0.gpu.properties().processors.max(1);
        let (start, end) = (ring.memory.span(), Span::Device(&tally.0, 0));
        for leg in 0..processors {
            let from = if leg == 0 { start.address(8)? } else { 0 };
            let processor = spread(turn, leg, processors, there_are);
            let arguments = [from, loads / 8, tally.0.address(), u64::from(processor)];
            // SAFETY: `chase` takes four numbers, follows the ring's pointers, which lead to its own memory that nobody
            // else writes, and writes one word, which is where the next one begins.
            unsafe { stream.launch(&self.0.chase, (there_are, 1), &arguments, &[start, end])? };
        }
        Ok(())
    }

    /// Queues a kernel of one thread that waits for the gate, for at most `LONGEST_WAIT_NS`.
    pub fn wait(&self, stream: &Stream, gate: &Arc<Gate>) -> Result<(), GpuError> {
        stream.keep_gate(gate);
        let arguments = [gate.address(), u64::from(gate.wanted()), LONGEST_WAIT_NS];
        // SAFETY: `wait` takes three numbers and reads the gate's word, which the stream keeps.
        unsafe { stream.launch(&self.0.wait, (1, 1), &arguments, &[]) }
    }
}

#[derive(Debug)]
pub struct Streaming {
    kernels: Vec<(Shape, Function)>,
    /// The shapes without a kernel, and why.
    pub left_out: Option<String>,
}

impl Streaming {
    pub fn of(&self, shape: Shape) -> Option<Function> {
        self.kernels.iter().find(|(other, _)| *other == shape).map(|(_, function)| function.clone())
    }
}

/// Splits off the shapes that need more than the least compute capability.
fn apart(shapes: &[Shape]) -> (Vec<Shape>, Vec<Shape>) {
    shapes.iter().partition(|shape| shape.hint.least() > Hint::Plain.least())
}

/// Multiprocessor number `leg` of `wanted` in this turn: evenly spaced over `there_are`, rotating every turn until
/// all had one.
fn spread(turn: u32, leg: u32, wanted: u32, there_are: u32) -> u32 {
    let apart = (there_are / wanted.max(1)).max(1);
    (turn % there_are + leg * apart) % there_are
}

/// Words that point to each other in random order and back to the first, one per cache line.
#[derive(Debug)]
pub struct Ring {
    memory: Home,
}

#[derive(Debug)]
enum Home {
    Device(Arc<DeviceMemory>),
    Pinned(Arc<PinnedMemory>),
}

impl Home {
    const fn span(&self) -> Span<'_> {
        match self {
            Self::Device(memory) => Span::Device(memory, 0),
            Self::Pinned(memory) => Span::Pinned(memory, 0),
        }
    }
}

/// Distance of two words of a ring: the longest cache line of any GPU or CPU.
const LINE: usize = 128;

impl Ring {
    pub const fn lap(bytes: usize) -> u64 {
        (bytes / LINE) as u64
    }

    pub fn on_device(gpu: &Gpu, bytes: usize) -> Result<Self, GpuError> {
        let memory = DeviceMemory::take(gpu, bytes)?;
        let mut words = vec![0; bytes / 8];
        link(&mut words, memory.address());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Stream::new(gpu)?.copy_in(Span::Device(&memory, 0), &bytes)?;
        Ok(Self { memory: Home::Device(memory) })
    }

    /// A ring in pinned memory; `None` if the memory is shared.
    pub fn on_host(mut memory: Arc<PinnedMemory>) -> Option<Self> {
        let start = memory.address();
        link(PinnedMemory::words_mut(&mut memory)?, start);
        Some(Self { memory: Home::Pinned(memory) })
    }
}

/// Writes the ring's pointers into `words`, which devices address from `start`. Sattolo's algorithm (Information
/// Processing Letters 22, 1986) makes one ring of all lines; the generator is Marsaglia's xorshift with a fixed seed,
/// so every trial has the same ring.
fn link(words: &mut [u64], start: u64) {
    let step = LINE / size_of::<u64>();
    let mut order: Vec<usize> = (0..words.len() / step).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..order.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, (state % last as u64) as usize);
    }
    for (line, next) in order.iter().enumerate() {
        words[line * step] = start + (next * LINE) as u64;
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Arrays<'a> {
    Read {
        from: Span<'a>,
        sums: Span<'a>,
    },
    Write {
        to: Span<'a>,
        pattern: Pattern,
    },
    Copy {
        to: Span<'a>,
        from: Span<'a>,
    },
    /// `to = from + factor * and`.
    Triad {
        to: Span<'a>,
        from: Span<'a>,
        and: Span<'a>,
        factor: u64,
    },
}

impl Arrays<'_> {
    pub const fn op(&self) -> Op {
        match self {
            Self::Read { .. } => Op::Read,
            Self::Write { .. } => Op::Write,
            Self::Copy { .. } => Op::Copy,
            Self::Triad { .. } => Op::Triad,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_a_turn_stand_apart_and_soon_all_had_theirs() {
        let of = |turn: u32| (0..16).map(move |leg| spread(turn, leg, 16, 132));
        assert_eq!(of(3).take(3).collect::<Vec<_>>(), [3, 11, 19]);
        let all: std::collections::BTreeSet<u32> = (0..12).flat_map(of).collect();
        assert_eq!(all.len(), 132);
        // With fewer processors than wanted, each has several turns.
        assert_eq!((0..4).map(|leg| spread(5, leg, 4, 2)).collect::<Vec<_>>(), [1, 0, 1, 0]);
    }

    #[test]
    fn a_ring_leads_through_every_line_before_it_comes_back() {
        let mut words = vec![0_u64; 1000 * LINE / 8];
        link(&mut words, 1 << 40);
        let mut at = 1_u64 << 40;
        let mut seen = std::collections::BTreeSet::new();
        while seen.insert(at) {
            at = words[((at - (1 << 40)) / 8) as usize];
        }
        assert_eq!((seen.len(), at), (1000, 1 << 40));
    }
}
