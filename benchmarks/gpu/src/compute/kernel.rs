//! A product of two matrices on a device: its operands, its sums, and the proof that they are right.
#![expect(unsafe_code, reason = "kernels work on addresses")]

use std::ffi::CString;
use std::sync::Arc;

use seatrial_sys::gpu::{DeviceMemory, Function, GpuError, Module, Span, Stream};

use super::element::Element;
use super::ptx::{self, BLOCK, Form, ROW_BYTES, SEEDS, TILE_BYTES, TILE_ROWS};
use crate::Device;
use crate::pattern::Wrong;

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

    const fn sums(self) -> u64 {
        4 * self.rows * self.columns
    }

    /// Bytes that the operands, two sets of sums and the proof take.
    pub const fn bytes(self, element: Element) -> u64 {
        (self.rows + self.columns) * self.depth * element.bytes as u64
            + 2 * self.sums()
            + 8 * (self.rows + self.depth)
    }
}

/// The kernels of a product, its operands and its sums.
#[derive(Debug)]
pub struct Product {
    pub size: Size,
    pub form: Form,
    element: Element,
    kernels: [Function; 6],
    operands: [Arc<DeviceMemory>; 2],
    sums: Arc<DeviceMemory>,
    /// The sums of the first product of the same operands.
    first: Arc<DeviceMemory>,
    weighed: Arc<DeviceMemory>,
    expected: Arc<DeviceMemory>,
}

const NAMES: [&str; 6] = ["product", "operand", "weigh", "expect", "verify", "differ"];

/// Blocks and threads of the kernels that are not measured.
const MANY: (u32, u32) = (1024, 256);

impl Product {
    /// Translates the kernels and takes the memory.
    ///
    /// # Errors
    /// When the device or its driver is too old for the element, or has too little memory.
    pub fn new(device: &Device, element: Element, size: Size) -> Result<Self, GpuError> {
        let form = Form::of(device.gpu.properties().capability);
        let module = Module::load(&device.gpu, &ptx::module(element, form))?;
        let mut kernels = Vec::new();
        for what in NAMES {
            let name = CString::new(ptx::name(what, element)).expect("our names hold no zero byte");
            kernels.push(module.function(&name)?);
        }
        let mut kernels: [Function; 6] = kernels.try_into().expect("one for each name");
        kernels[0] = kernels[0].clone().with_shared(form.shared())?;
        let take = |bytes: u64| DeviceMemory::take(&device.gpu, bytes as usize);
        let operand = |rows: u64| take(rows * size.depth * u64::from(element.bytes));
        Ok(Self {
            operands: [operand(size.rows)?, operand(size.columns)?],
            sums: take(size.sums())?,
            first: take(size.sums())?,
            weighed: take(8 * size.depth)?,
            expected: take(8 * size.rows)?,
            size,
            form,
            element,
            kernels,
        })
    }

    const fn tiles_deep(&self) -> u64 {
        self.size.depth * self.element.bytes as u64 / ROW_BYTES
    }

    /// Gives both operands their values.
    pub fn fill(&self, stream: &Stream, fill: Fill) -> Result<(), GpuError> {
        let rows = [self.size.rows, self.size.columns];
        for ((operand, rows), seed) in self.operands.iter().zip(rows).zip(SEEDS) {
            let vectors = rows / TILE_ROWS * self.tiles_deep() * TILE_BYTES / 16;
            let span = Span::Device(operand, 0);
            let address = span.address(vectors as usize * 16)?;
            let arguments = [address, vectors, self.tiles_deep(), seed.into(), fill as u64];
            // SAFETY: the kernel takes five numbers and writes so many vectors of 16 bytes, which the span has.
            unsafe { stream.launch(&self.kernels[1], MANY, &arguments, &[span])? };
        }
        Ok(())
    }

    /// Queues the product.
    pub fn run(&self, stream: &Stream, processors: u32) -> Result<(), GpuError> {
        let [one, other] = [0, 1].map(|number| Span::Device(&self.operands[number], 0));
        let sums = Span::Device(&self.sums, 0);
        let Size { rows, columns, depth } = self.size;
        let bytes = |rows: u64| (rows * depth * u64::from(self.element.bytes)) as usize;
        let arguments = [
            one.address(bytes(rows))?,
            other.address(bytes(columns))?,
            sums.address(self.size.sums() as usize)?,
            rows / BLOCK.0,
            columns / BLOCK.1,
            self.tiles_deep(),
        ];
        let blocks = (rows / BLOCK.0 * columns / BLOCK.1).min(processors.max(1).into()) as u32;
        // SAFETY: the kernel takes six numbers, reads both operands and writes the sums, all of which were checked to be
        // as long as rows, columns and tiles say.
        unsafe {
            stream.launch(&self.kernels[0], (blocks, self.form.threads()), &arguments, &[one, other, sums])
        }
    }

    /// Proves the sums of [`Fill::Whole`] operands: each row of sums, times odd weights, is what both operands give, as
    /// numbers of 64 bits. One wrong sum changes its row, whatever it is. The first wrong one is a row.
    pub fn prove(&self, device: &Device) -> Result<Option<Wrong>, GpuError> {
        let (stream, [.., weigh, expect, verify, _]) = (&device.stream, &self.kernels);
        let Size { rows, columns, depth } = self.size;
        let [weighed, expected, sums] =
            [&self.weighed, &self.expected, &self.sums].map(|memory| Span::Device(memory, 0));
        let at = [
            weighed.address(8 * depth as usize)?,
            expected.address(8 * rows as usize)?,
            sums.address(self.size.sums() as usize)?,
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

    /// Keeps the sums as those of the first product.
    pub fn keep(&self, stream: &Stream) -> Result<(), GpuError> {
        let bytes = self.size.sums() as usize;
        stream.copy(Span::Device(&self.first, 0), Span::Device(&self.sums, 0), bytes)
    }

    /// Overwrites the sums and waits, so that a product that did nothing is found.
    pub fn forget(&self, device: &Device) -> Result<(), GpuError> {
        device.overwrite(&self.sums, self.size.sums() as usize)
    }

    /// Words of 8 bytes in which the sums differ from those of the first product.
    pub fn differs(&self, device: &Device) -> Result<Option<Wrong>, GpuError> {
        let (stream, [.., differ]) = (&device.stream, &self.kernels);
        let words = self.size.sums() / 8;
        let [sums, first] = [&self.sums, &self.first].map(|memory| Span::Device(memory, 0));
        let at = [sums.address(8 * words as usize)?, first.address(8 * words as usize)?];
        device.tally.count(stream, |tally| {
            let arguments = [at[0], at[1], words, tally.address(16)?];
            // SAFETY: four numbers; reads both sets of sums, which have so many words, and writes 16 bytes of the tally.
            unsafe { stream.launch(differ, MANY, &arguments, &[sums, first, tally]) }
        })
    }

    /// Row and column of the first of the two sums in word number `word` of 8 bytes.
    pub const fn place(&self, word: u64) -> (u64, u64) {
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
        assert_eq!(size.bytes(element("bf16")), (128 + 256) * 64 * 2 + 2 * 4 * 128 * 256 + 8 * (128 + 64));
    }
}
