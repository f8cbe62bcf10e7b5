//! A product of two matrices on a device: its operands, its targets, and the proof that they are right.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::ffi::CString;
use std::sync::Arc;

use seatrial_sys::gpu::blas::{Blas, BlasHandle};
use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Module, Span, Stream};

use serde_json::json;

use super::element::Element;
use super::library;
use super::ptx::{self, BLOCK, Form, Layout, ROW_BYTES, SEEDS, TOGETHER};
use super::wrong::WrongSum;
use crate::pattern::Wrong;
use crate::{Checks, Device};

/// What the operands hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Zeros,
    /// Numbers from -1 to 2, whose sums are exact in any order.
    Whole,
    Random,
}

impl Fill {
    pub const NAMES: [&str; 2] = ["random", "zeros"];

    pub fn of(word: &str) -> Self {
        if word == "zeros" { Self::Zeros } else { Self::Random }
    }
}

/// How large a product is: `rows` x `columns` sums of `depth` products each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub rows: u64,
    pub columns: u64,
    pub depth: u64,
}

impl Size {
    /// About `shape` each way, in whole blocks and tiles; some more rows where that gives all processors as many blocks.
    pub fn about(shape: u64, element: Element, processors: u32) -> Self {
        let (rows, columns) = (shape.div_ceil(BLOCK.0), shape.div_ceil(BLOCK.1));
        let processors = u64::from(processors.max(1));
        let most = rows + rows / 16;
        let even = (rows..=most).find(|rows| (rows * columns).is_multiple_of(processors));
        let deep = ROW_BYTES / u64::from(element.bytes);
        Self {
            rows: even.unwrap_or(rows) * BLOCK.0,
            columns: columns * BLOCK.1,
            depth: shape.div_ceil(deep) * deep,
        }
    }

    /// Multiplications and additions.
    pub const fn operations(self) -> u64 {
        2 * self.rows * self.columns * self.depth
    }

    /// Bytes of the sums.
    pub fn sums(self, element: Element) -> u64 {
        element.sum_bytes() * self.rows * self.columns
    }

    /// Bytes that the operands, the sums of the first product and the proof take.
    fn fixed(self, element: Element) -> u64 {
        (self.rows + self.columns) * self.depth * u64::from(element.bytes)
            + self.sums(element)
            + 8 * (self.rows + self.depth)
    }

    /// Bytes of all memory of a product with so many targets.
    pub fn bytes(self, element: Element, targets: u64) -> u64 {
        self.fixed(element) + targets * self.sums(element)
    }

    /// Targets that fit into so many bytes.
    pub fn targets(self, element: Element, bytes: u64) -> u64 {
        bytes.saturating_sub(self.fixed(element)) / self.sums(element)
    }

    /// The block of threads that has the sum in this row and column, as the kernels deal them out.
    const fn block(self, blocks: u64, (row, column): (u64, u64)) -> u64 {
        let (rows, columns) = (self.rows / BLOCK.0, self.columns / BLOCK.1);
        let (row, column) = (row / BLOCK.0, column / BLOCK.1);
        let first = row / TOGETHER * TOGETHER;
        let together = if rows - first < TOGETHER { rows - first } else { TOGETHER };
        (first * columns + column * together + row - first) % blocks
    }
}

/// What multiplies.
#[derive(Debug)]
enum Engine {
    /// Our own kernel: blocks of threads, each of which computes many blocks of sums, and of every target the
    /// multiprocessor of each block of threads.
    Own { form: Form, kernel: Function, blocks: u64, processors: Arc<DeviceMemory> },
    /// NVIDIA's library.
    Blas(BlasHandle),
}

impl Engine {
    const fn layout(&self) -> Layout {
        match self {
            Self::Own { .. } => Layout::Tiles,
            Self::Blas(_) => Layout::Rows,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Own { form, .. } => form.name(),
            Self::Blas(_) => "cuBLAS",
        }
    }
}

/// What multiplies, its operands, the targets of the sums, and the kernels that prove them.
#[derive(Debug)]
pub struct Product {
    pub size: Size,
    element: Element,
    engine: Engine,
    proofs: [Function; 5],
    operands: [Arc<DeviceMemory>; 2],
    targets: Vec<Arc<DeviceMemory>>,
    /// The sums of the first product of the same operands.
    first: Arc<DeviceMemory>,
    weighed: Arc<DeviceMemory>,
    expected: Arc<DeviceMemory>,
}

/// Blocks and threads of the kernels that are not measured.
const MANY: (u32, u32) = (1024, 256);

impl Product {
    /// Translates the kernels and takes the memory, with so many targets; `blas` multiplies in place of the own kernel.
    ///
    /// # Errors
    /// When the device, its driver or the library is too old for the element, or there is too little memory.
    pub fn new(
        device: &Device,
        element: Element,
        size: Size,
        targets: u64,
        blas: Option<&Arc<Blas>>,
    ) -> Result<Self, GpuError> {
        let properties = device.gpu.properties();
        let take = |bytes: u64| DeviceMemory::take(&device.gpu, bytes as usize);
        let named = |what: &str| CString::new(ptx::name(what, element)).expect("our names hold no zero byte");
        let (engine, module) = match blas {
            Some(blas) => {
                let module = Module::load(&device.gpu, &ptx::module_of_rows(element))?;
                (Engine::Blas(BlasHandle::new(blas, &device.gpu)?), module)
            }
            None => {
                let form = Form::of(properties.capability);
                let module = Module::load(&device.gpu, &ptx::module(element, form))?;
                let kernel = module.function(&named("product"))?.with_shared(form.shared())?;
                let blocks = size.rows / BLOCK.0 * size.columns / BLOCK.1;
                let blocks = blocks.min(properties.processors.max(1).into());
                let processors = take(4 * (blocks * targets + 1))?;
                (Engine::Own { form, kernel, blocks, processors }, module)
            }
        };
        let proofs = engine.layout().names().map(|what| module.function(&named(what)));
        let [operand, weigh, expect, verify, differ] = proofs;
        let of_rows = |rows: u64| take(rows * size.depth * u64::from(element.bytes));
        Ok(Self {
            proofs: [operand?, weigh?, expect?, verify?, differ?],
            operands: [of_rows(size.rows)?, of_rows(size.columns)?],
            targets: (0..targets).map(|_| take(size.sums(element))).collect::<Result<_, _>>()?,
            first: take(size.sums(element))?,
            weighed: take(8 * size.depth)?,
            expected: take(8 * size.rows)?,
            size,
            element,
            engine,
        })
    }

    pub const fn targets(&self) -> usize {
        self.targets.len()
    }

    /// Bytes of the sums.
    pub fn sums(&self) -> u64 {
        self.size.sums(self.element)
    }

    const fn tiles_deep(&self) -> u64 {
        self.size.depth * self.element.bytes as u64 / ROW_BYTES
    }

    /// Gives both operands their values.
    fn fill(&self, stream: &Stream, fill: Fill) -> Result<(), GpuError> {
        let rows = [self.size.rows, self.size.columns];
        for ((operand, rows), seed) in self.operands.iter().zip(rows).zip(SEEDS) {
            let vectors = rows * self.size.depth * u64::from(self.element.bytes) / 16;
            let span = Span::Device(operand, 0);
            let address = span.address(vectors as usize * 16)?;
            let arguments = [address, vectors, self.tiles_deep(), seed.into(), fill as u64];
            // SAFETY: the kernel takes five numbers and writes so many vectors of 16 bytes, which the span has.
            unsafe { stream.launch(&self.proofs[0], MANY, &arguments, &[span])? };
        }
        Ok(())
    }

    /// Proves a product of whole numbers, and makes the first of those that are measured: all others have to equal it.
    pub fn begin(&self, device: &Device, fill: Fill, checks: &mut Checks) -> Result<(), GpuError> {
        let stream = &device.stream;
        self.fill(stream, Fill::Whole)?;
        self.forget(stream, 0)?;
        self.run(stream, 0)?;
        let wrong = self.prove(device)?;
        checks.note(self.sums(), wrong.map_or(0, |wrong| wrong.count), || {
            let (what, row) = (&device.address, wrong.map_or(0, |wrong| wrong.first));
            format!("GPU {what}: in a product of whole numbers row {row} is the first with a wrong sum")
        });
        self.fill(stream, fill)?;
        self.run(stream, 0)?;
        let bytes = self.sums() as usize;
        stream.copy(Span::Device(&self.first, 0), Span::Device(&self.targets[0], 0), bytes)?;
        stream.finish()
    }

    /// Queues the product, with its sums in this target.
    pub fn run(&self, stream: &Stream, target: usize) -> Result<(), GpuError> {
        let [one, other] = [0, 1].map(|number| Span::Device(&self.operands[number], 0));
        let sums = Span::Device(&self.targets[target], 0);
        let Size { rows, columns, depth } = self.size;
        let (form, kernel, blocks, processors) = match &self.engine {
            Engine::Blas(handle) => {
                let kind = library::type_of(self.element).ok_or(GpuError::Foreign { what: "the type" })?;
                return handle.multiply(stream, kind, [rows, columns, depth], (one, other, sums));
            }
            Engine::Own { form, kernel, blocks, processors } => (form, kernel, *blocks, processors),
        };
        let processors = Span::Device(processors, 4 * blocks as usize * target);
        let bytes = |rows: u64| (rows * depth * u64::from(self.element.bytes)) as usize;
        let arguments = [
            one.address(bytes(rows))?,
            other.address(bytes(columns))?,
            sums.address(self.sums() as usize)?,
            rows / BLOCK.0,
            columns / BLOCK.1,
            self.tiles_deep(),
            processors.address(4 * blocks as usize)?,
        ];
        let shape = (blocks as u32, form.threads());
        // SAFETY: the kernel takes seven numbers, reads both operands and writes the sums, all of which were checked to be
        // as long as rows, columns and tiles say, and a number for each of its blocks, for which there is place.
        unsafe { stream.launch(kernel, shape, &arguments, &[one, other, sums, processors]) }
    }

    /// Proves the sums of [`Fill::Whole`] operands: each row of sums, times odd weights, is what both operands give, as
    /// numbers of 64 bits. One wrong sum changes its row, whatever it is. The first wrong one is a row.
    fn prove(&self, device: &Device) -> Result<Option<Wrong>, GpuError> {
        let (stream, [_, weigh, expect, verify, _]) = (&device.stream, &self.proofs);
        let Size { rows, columns, depth } = self.size;
        let [weighed, expected, sums] =
            [&self.weighed, &self.expected, &self.targets[0]].map(|memory| Span::Device(memory, 0));
        let at = [
            weighed.address(8 * depth as usize)?,
            expected.address(8 * rows as usize)?,
            sums.address(self.sums() as usize)?,
        ];
        // SAFETY: three numbers; writes `depth` words.
        unsafe { stream.launch(weigh, MANY, &[at[0], depth, columns], &[weighed])? };
        // SAFETY: four numbers; reads `depth` words and writes `rows` words.
        unsafe { stream.launch(expect, MANY, &[at[1], rows, depth, at[0]], &[weighed, expected])? };
        device.tally.count(stream, |tally| {
            let arguments = [at[2], rows, columns, at[1], tally.address(16)?];
            // SAFETY: five numbers; reads all sums and `rows` words, and writes 16 bytes of the tally.
            unsafe { stream.launch(verify, MANY, &arguments, &[sums, expected, tally]) }
        })
    }

    /// Queues that the sums in a target are overwritten, so that a product that did nothing is found.
    pub fn forget(&self, stream: &Stream, target: usize) -> Result<(), GpuError> {
        stream.set(Span::Device(&self.targets[target], 0), 0x5a, self.sums() as usize)
    }

    /// Queues a comparison of a target with the first product, which counts words of 8 bytes in the device's tally.
    fn compare(&self, device: &Device, target: usize, tally: Span<'_>) -> Result<(), GpuError> {
        let [.., differ] = &self.proofs;
        let words = self.sums() / 8;
        let [sums, first] = [&self.targets[target], &self.first].map(|memory| Span::Device(memory, 0));
        let at = [sums.address(8 * words as usize)?, first.address(8 * words as usize)?];
        let arguments = [at[0], at[1], words, tally.address(16)?];
        // SAFETY: four numbers; reads both sets of sums, which have so many words, and writes 16 bytes of the tally.
        unsafe { device.stream.launch(differ, MANY, &arguments, &[sums, first, tally]) }
    }

    /// Queues the comparison of these targets with the first product. [`Self::checked`] waits for it.
    pub fn check(&self, device: &Device, targets: &[usize]) -> Result<(), GpuError> {
        let tally = device.tally.clear(&device.stream)?;
        targets.iter().try_for_each(|target| self.compare(device, *target, tally))
    }

    /// Notes how the comparison of these targets ended.
    pub fn checked(&self, device: &Device, targets: &[usize], checks: &mut Checks) -> Result<(), GpuError> {
        let found = device.tally.read(&device.stream)?;
        let first = found.map(|_| self.first_wrong(device, targets)).transpose()?;
        checks.note(self.sums() * targets.len() as u64, found.map_or(0, |it| it.count), || {
            let what = first.flatten().map_or_else(|| "a sum was wrong".to_owned(), |it| it.to_string());
            format!("GPU {}: {what}", device.address)
        });
        Ok(())
    }

    /// The first wrong sum of these targets, and what the same product gives once more.
    fn first_wrong(&self, device: &Device, targets: &[usize]) -> Result<Option<WrongSum>, GpuError> {
        let stream = &device.stream;
        let count = |target: usize| device.tally.count(stream, |tally| self.compare(device, target, tally));
        for target in targets {
            let Some(wrong) = count(*target)? else { continue };
            let word = |memory: &Arc<DeviceMemory>| device.word(memory, 8 * wrong.first as usize);
            let (found, expected) = (word(&self.targets[*target])?, word(&self.first)?);
            let mut place = self.place(wrong.first);
            // The lower half of the word is the first of two sums.
            let is_second = self.element.sum_bytes() == 4 && (found ^ expected) as u32 == 0;
            place.1 += u64::from(is_second);
            let processor = self.processor(device, place, *target)?;
            self.forget(stream, *target)?;
            self.run(stream, *target)?;
            let again = count(*target)?.map(|_| word(&self.targets[*target])).transpose()?;
            return Ok(Some(WrongSum {
                place,
                found,
                expected,
                is_long: self.element.sum_bytes() == 8,
                processor,
                again,
            }));
        }
        Ok(None)
    }

    /// The multiprocessor that computed the sum in this row and column; a library does not tell.
    fn processor(&self, device: &Device, place: (u64, u64), target: usize) -> Result<Option<u32>, GpuError> {
        let Engine::Own { blocks, processors, .. } = &self.engine else { return Ok(None) };
        let block = self.size.block(*blocks, place) + blocks * target as u64;
        let word = device.word(processors, 4 * (block / 2 * 2) as usize)?;
        Ok(Some((word >> (32 * (block % 2))) as u32))
    }

    /// Adds to the evidence of a device what is multiplied, and how.
    pub fn describe(&self, evidence: &mut serde_json::Value) {
        evidence["instructions"] = json!(self.engine.name());
        if let Engine::Blas(handle) = &self.engine {
            evidence["blas"] = library::describe(handle.blas());
        }
        evidence["product"] = json!([self.size.rows, self.size.columns, self.size.depth]);
    }

    /// Whether another product has the same operands and the same order of sums, so that its results are the same bits.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.size, self.engine.name(), self.element) == (other.size, other.engine.name(), other.element)
    }

    /// Copies bytes of the first product's sums to the host.
    pub fn first_sums(&self, stream: &Stream, from: usize, to: &mut [u8]) -> Result<(), GpuError> {
        stream.copy_out(to, Span::Device(&self.first, from))
    }

    /// Row and column of the first sum in word number `word` of 8 bytes.
    pub fn place(&self, word: u64) -> (u64, u64) {
        if self.engine.layout() == Layout::Rows {
            let sum = word * 8 / self.element.sum_bytes();
            return (sum / self.size.columns, sum % self.size.columns);
        }
        let (piece, within) = (word / 64, word % 64);
        let (row, column) = (piece / (self.size.columns / 8), piece % (self.size.columns / 8));
        let (lane, half) = (within / 2, within % 2);
        (16 * row + lane / 4 + 8 * half, 8 * column + 2 * (lane % 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str) -> Element {
        Element::of(name).expect("a type")
    }

    #[test]
    fn a_size_has_whole_blocks_and_as_many_for_each_processor_where_a_few_rows_more_do() {
        let bf16 = element("bf16");
        assert_eq!(Size::about(8192, bf16, 132), Size { rows: 8448, columns: 8192, depth: 8192 });
        assert_eq!(Size::about(8192, bf16, 128), Size { rows: 8192, columns: 8192, depth: 8192 });
        // 131 is a prime: nothing near is even.
        assert_eq!(Size::about(8192, bf16, 131).rows, 8192);
        assert_eq!(Size::about(1, element("int8"), 4), Size { rows: 128, columns: 256, depth: 128 });
    }

    #[test]
    fn operations_and_bytes_are_those_of_the_whole_product() {
        let size = Size { rows: 128, columns: 256, depth: 64 };
        assert_eq!(size.operations(), 2 * 128 * 256 * 64);
        let fixed = (128 + 256) * 64 * 2 + 4 * 128 * 256 + 8 * (128 + 64);
        assert_eq!(size.bytes(element("bf16"), 3), fixed + 3 * 4 * 128 * 256);
        for (spare, targets) in [(0, 3), (4 * 128 * 256 - 1, 3), (4 * 128 * 256, 4)] {
            assert_eq!(size.targets(element("bf16"), size.bytes(element("bf16"), 3) + spare), targets);
        }
        assert_eq!(size.targets(element("bf16"), 0), 0);
    }

    #[test]
    fn a_sum_is_of_the_block_that_the_kernels_give_it_to() {
        let size = Size { rows: 20 * 128, columns: 3 * 256, depth: 64 };
        let mut seen = Vec::new();
        // As in the kernels: columns of up to 16 rows of blocks, one after the other.
        for (first, rows) in [(0, 16), (16, 4)] {
            for column in 0..3 {
                seen.extend((0..rows).map(|row| (128 * (first + row), 256 * column)));
            }
        }
        for (tile, place) in seen.into_iter().enumerate() {
            assert_eq!(size.block(7, place), tile as u64 % 7);
            assert_eq!(size.block(7, (place.0 + 127, place.1 + 255)), tile as u64 % 7);
        }
    }
}
