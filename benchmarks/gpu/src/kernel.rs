//! Our kernels on a device, behind functions that keep them within the memory they are given.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::ffi::CString;
use std::sync::Arc;

use seatrial_sys::gpu::{
    DeviceMemory, Function, Gate, Gpu, GpuError, GpuFault, Module, PinnedMemory, Span, Stream,
};

use super::pattern::{Pattern, Wrong};
use super::ptx::{self, Hint, Op, SUMS, Shape, Walk};

/// How long a kernel waits at a gate at most. The gate is opened long before; a host that died must not leave a GPU busy.
const LONGEST_WAIT_NS: u64 = 10_000_000_000;

/// Threads of a block of the kernels that are not measured.
const THREADS: u32 = 256;

/// Blocks a processor of these.
const BLOCKS: u32 = 8;

/// The kernels that every benchmark uses, and streaming kernels of the shapes that were asked for; clones share them.
#[derive(Clone, Debug)]
pub struct Kernels(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    gpu: Gpu,
    fill: Function,
    check: Function,
    copy_rest: Function,
    exchange: Function,
    chase: Function,
    wait: Function,
    link_copy: Function,
}

/// The shape and walk of the copy over links: what is under way at any time must be more than the link holds.
pub const LINK_COPY: (Shape, Walk) =
    (Shape { op: Op::Copy, threads: 512, vectors: 8, hint: Hint::Plain }, Walk::Turns(1));

/// Where a check leaves its result: how many words were wrong, and the first of them.
#[derive(Debug)]
pub struct Tally(Arc<DeviceMemory>);

impl Tally {
    /// Takes it on the device.
    pub fn take(gpu: &Gpu) -> Result<Self, GpuError> {
        DeviceMemory::take(gpu, 16).map(Self)
    }
}

impl Kernels {
    /// Translates them.
    pub fn load(gpu: &Gpu) -> Result<Self, GpuError> {
        let common = Module::load(gpu, &ptx::common(&[LINK_COPY.0]))?;
        let get = |name: &std::ffi::CStr| common.function(name);
        let link = CString::new(LINK_COPY.0.name()).expect("our names hold no zero byte");
        let loaded = Loaded {
            gpu: gpu.clone(),
            fill: get(c"fill")?,
            check: get(c"check")?,
            copy_rest: get(c"copy_rest")?,
            exchange: get(c"exchange")?,
            chase: get(c"chase")?,
            wait: get(c"wait")?,
            link_copy: get(&link)?,
        };
        Ok(Self(Arc::new(loaded)))
    }

    /// Translates streaming kernels, one for each shape that the device and its driver can have.
    pub fn streaming(&self, shapes: &[Shape]) -> Result<Streaming, GpuError> {
        let capability = self.0.gpu.properties().capability;
        let (special, common) = apart(shapes);
        let mut streaming = Streaming { kernels: self.translated(&common)?, left_out: None };
        if let Some(least) = special.first().map(|shape| shape.hint.least()) {
            let why = if capability < least {
                format!("a GPU of capability {}.{} is too old for it", capability.0, capability.1)
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
            streaming.left_out = Some(format!("kernels that keep what they load in the cache: {why}"));
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

    /// Fills `words` words from `at` on.
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

    /// Looks at `words` words from `at` on, and waits for the result: the words that are not of `pattern`.
    pub fn check(
        &self,
        stream: &Stream,
        tally: &Tally,
        at: Span<'_>,
        words: usize,
        pattern: Pattern,
    ) -> Result<Option<Wrong>, GpuError> {
        let address = at.address(words * 8)?;
        let result = Span::Device(&tally.0, 0);
        let mut found = [0_u64, u64::MAX];
        let bytes: Vec<u8> = found.iter().flat_map(|word| word.to_ne_bytes()).collect();
        stream.copy_in(result, &bytes)?;
        let arguments = [address, words as u64, pattern.first, pattern.step, tally.0.address()];
        // SAFETY: `check` takes five numbers, reads the words, which the span has, and writes 16 bytes of the tally.
        unsafe { stream.launch(&self.0.check, self.everywhere(), &arguments, &[at, result])? };
        let mut bytes = [0_u8; 16];
        stream.copy_out(&mut bytes, result)?;
        for (word, bytes) in found.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
        }
        Ok((found[0] > 0).then_some(Wrong { count: found[0], first: found[1] }))
    }

    /// Queues a streaming kernel over the first `bytes` of its arrays, a multiple of its tile.
    ///
    /// # Errors
    /// When an array is too short, `bytes` no such multiple, or the driver refuses.
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
            return Err(GpuError::Stranger { what: "the kernel's form" });
        }
        let arguments = [a, b, c, x, y, tiles, first, step, most];
        // SAFETY: a streaming kernel takes nine numbers. It touches `tiles` tiles of the arrays of its operation, which
        // is that of `arrays`; each array was checked to have them. `Read` also adds to words of `sums`, atomically, by the
        // number of the block modulo `SUMS`, and `sums` was checked to have so many.
        unsafe { stream.launch(function, (blocks, shape.threads), &arguments, &spans) }
    }

    /// Queues a copy of `bytes`, a multiple of 16, that the processors make.
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

    /// Queues one kernel that makes two copies of `bytes`, a multiple of 16, at once: each a target and a source.
    ///
    /// Every other block is the one copy's, and a block ends with its part, so that the device hands out both evenly
    /// from the front to the back. Two kernels of the same kind, or one that goes in strides, leave a tenth of the link
    /// unused where both directions of a link to the host are loaded.
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

    /// Queues a chase round the ring: so many processors, spread over all of them and begun with number `turn`, follow it
    /// for `loads` loads each, a multiple of 8, one after the other, from where the one before came to.
    ///
    /// Processors differ in how far they are from a link, and neighbours have the same way: on an H200 sixteen in a row
    /// see 803 or 855 ns where all of them together see 829.
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

    /// Queues a kernel of one thread that waits until the gate is open, or for ten seconds.
    pub fn wait(&self, stream: &Stream, gate: &Arc<Gate>) -> Result<(), GpuError> {
        stream.keep_gate(gate);
        let arguments = [gate.address(), u64::from(gate.wanted()), LONGEST_WAIT_NS];
        // SAFETY: `wait` takes three numbers and reads the gate's word, which the stream keeps.
        unsafe { stream.launch(&self.0.wait, (1, 1), &arguments, &[]) }
    }

    pub fn gpu(&self) -> &Gpu {
        &self.0.gpu
    }
}

/// Streaming kernels that are ready to run on a device.
#[derive(Debug)]
pub struct Streaming {
    kernels: Vec<(Shape, Function)>,
    /// Which of the shapes are not there, and why.
    pub left_out: Option<String>,
}

impl Streaming {
    /// The kernel of a shape; none where it was left out.
    pub fn of(&self, shape: Shape) -> Option<Function> {
        self.kernels.iter().find(|(other, _)| *other == shape).map(|(_, function)| function.clone())
    }
}

/// Shapes that need more than every device has, and the others.
fn apart(shapes: &[Shape]) -> (Vec<Shape>, Vec<Shape>) {
    shapes.iter().partition(|shape| shape.hint.least() > Hint::Plain.least())
}

/// Which of `there_are` processors is number `leg` of `wanted` in this turn: as far apart as there is room for, and each turn
/// the next ones, until all had theirs.
fn spread(turn: u32, leg: u32, wanted: u32, there_are: u32) -> u32 {
    let apart = (there_are / wanted.max(1)).max(1);
    (turn % there_are + leg * apart) % there_are
}

/// Words that lead from one to the next in random order and back to the first, each in a line of its own.
#[derive(Debug)]
pub struct Ring {
    memory: Home,
}

/// Where a ring lies.
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

/// Bytes from a word of a ring to its nearest neighbour: a line of every GPU and processor.
const LINE: usize = 128;

impl Ring {
    /// Loads that go once round a ring of `bytes`.
    pub const fn lap(bytes: usize) -> u64 {
        (bytes / LINE) as u64
    }

    /// A ring of `bytes` in memory of `gpu`.
    pub fn on_device(gpu: &Gpu, bytes: usize) -> Result<Self, GpuError> {
        let memory = DeviceMemory::take(gpu, bytes)?;
        let mut words = vec![0; bytes / 8];
        link(&mut words, memory.address());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Stream::new(gpu)?.copy_in(Span::Device(&memory, 0), &bytes)?;
        Ok(Self { memory: Home::Device(memory) })
    }

    /// A ring in pinned memory that nobody else uses; `None` when somebody does.
    pub fn on_host(mut memory: Arc<PinnedMemory>) -> Option<Self> {
        let start = memory.address();
        link(PinnedMemory::words_mut(&mut memory)?, start);
        Some(Self { memory: Home::Pinned(memory) })
    }
}

/// Puts the ring's pointers into `words`, which devices see from `start` on. Sattolo's algorithm (Information Processing
/// Letters 22, 1986) makes one ring of all lines; the generator is Marsaglia's xorshift with a fixed seed, so that every
/// trial chases the same way.
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

/// The arrays of a streaming kernel.
#[derive(Clone, Copy, Debug)]
pub enum Arrays<'a> {
    /// Adds up `from`, each block to one of [`SUMS`] words of `sums`.
    Read {
        from: Span<'a>,
        /// Where the sums are added to.
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
    /// The operation they are of.
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
        // Fewer than are wanted have several turns each.
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
