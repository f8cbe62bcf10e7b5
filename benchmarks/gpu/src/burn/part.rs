//! The only cell: the same product on all GPUs at once, one target after the other.

use std::path::Path;
use std::time::Duration;

use seatrial_model::{Case, Nanos, Params, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{GpuError, Stream};
use serde_json::{Value, json};

use super::plan::SLICE;
use crate::copy::{
    CopyCells, CopyError, Flow, MOST_QUEUED, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream,
};
use crate::product::{self, Fill, Product};
use crate::{Checks, Device, End, GpuGroup, address_of};
use seatrial_bench::Sink;

/// Bytes that are compared at a time between two GPUs, on the host.
const BLOCK: usize = 16 << 20;

pub struct BurnCells {
    /// How the proofs and the comparison of all GPUs ended, until they are told.
    begun: Checks,
    /// The first target of the next slice.
    next: usize,
    /// Nanoseconds of the last slice.
    took: f64,
    indices: Vec<u64>,
    starter: Starter,
    group: GpuGroup<Loaded>,
}

struct Loaded {
    timed: TimedStream,
    product: Product,
    about: Value,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<BurnCells, Reason> {
    let addresses = address_of(case)?;
    let indices = case.planned.text("indices")?.split(' ').filter_map(|word| word.parse().ok()).collect();
    let share = case.params.count("memory")?;
    // A GPU that is left out would pass as sound.
    let group = GpuGroup::gather(library, &addresses, addresses.len(), |driver, _, address| {
        let device = Device::at(driver, address)?;
        let (free, _) = device.gpu.memory().map_err(device.refused("reading its memory size"))?;
        let product = product::ready(&device, &case.params, library, |size, element| {
            Ok(size.targets(element, free / 100 * share))
        })?;
        let mut about = json!({ "targets": product.targets() });
        product.describe(&mut about);
        let loaded = Loaded { timed: device.timed_stream()?, product, about };
        Ok((device, loaded))
    })?;
    let starter = group.ends[0].device.starter()?;
    let mut cells = BurnCells { begun: Checks::default(), next: 0, took: 0.0, indices, starter, group };
    cells.begun = cells.begin(Fill::of(case.params.text(product::DATA.name)?))?;
    Ok(cells)
}

impl BurnCells {
    /// Targets that every GPU has.
    fn targets(&self) -> usize {
        self.group.ends.iter().map(|end| end.memory.product.targets()).min().unwrap_or(1)
    }

    /// Proves the product of every GPU, and compares the first sums of all with those of the first GPU.
    fn begin(&self, fill: Fill) -> Result<Checks, Reason> {
        let mut checks = Checks::default();
        for End { memory, device, .. } in &self.group.ends {
            let proved = memory.product.begin(device, fill, &mut checks);
            proved.map_err(crate::during(&device.address, "proving the product"))?;
        }
        let Some((first, others)) = self.group.ends.split_first() else { return Ok(checks) };
        for other in others.iter().filter(|other| other.memory.product.is_like(&first.memory.product)) {
            let compared = compare(first, other, &mut checks);
            compared.map_err(crate::during(&other.device.address, "comparing the first product"))?;
        }
        Ok(checks)
    }

    /// On every GPU, with errors of its number.
    fn each(&self, act: impl Fn(&Product, &Device) -> Result<(), GpuError>) -> Result<(), CopyError> {
        let each =
            |end: &End<Loaded>| act(&end.memory.product, &end.device).map_err(CopyError::of(end.number));
        self.group.ends.iter().try_for_each(each)
    }
}

/// Compares the first products of two GPUs, which have the same operands.
fn compare(one: &End<Loaded>, other: &End<Loaded>, checks: &mut Checks) -> Result<(), GpuError> {
    let bytes = one.memory.product.sums() as usize;
    let mut blocks = [vec![0; BLOCK.min(bytes)], vec![0; BLOCK.min(bytes)]];
    for from in (0..bytes).step_by(BLOCK) {
        let length = BLOCK.min(bytes - from);
        for (end, block) in [one, other].into_iter().zip(&mut blocks) {
            end.memory.product.first_sums(&end.device.stream, from, &mut block[..length])?;
        }
        checks.note(length as u64, 0, String::new);
        if blocks[0][..length] == blocks[1][..length] {
            continue;
        }
        let pairs = blocks[0][..length].chunks_exact(8).zip(blocks[1][..length].chunks_exact(8));
        let wrong = pairs.enumerate().filter(|(_, (one, other))| one != other);
        let first = wrong.clone().next().map_or(0, |(word, _)| word);
        checks.note(0, wrong.count() as u64, || {
            let word = (from / 8 + first) as u64;
            let (row, column) = one.memory.product.place(word);
            format!(
                "GPU {}: of the first product the sum in row {row}, column {column} or {} is not that of GPU {}",
                other.device.address,
                column + 1,
                one.device.address
            )
        });
    }
    Ok(())
}

impl CopyCells for BurnCells {
    fn count(&self) -> usize {
        1
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    fn copy(&mut self, _: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        run.checks.add(std::mem::take(&mut self.begun));
        let all = self.targets();
        let count = run.copies.min(all).min(MOST_QUEUED);
        let targets: Vec<usize> = (self.next..self.next + count).map(|target| target % all).collect();
        self.next = (self.next + count) % all;
        // Queued on all GPUs before any is waited for, so that none rests longer than it has to.
        self.each(|product, device| {
            targets.iter().try_for_each(|target| product.forget(&device.stream, *target))
        })?;
        self.each(|_, device| device.stream.finish())?;
        let flows = self.group.ends.iter_mut().map(
            |End { number, memory: Loaded { timed, product, .. }, .. }| {
                let operations = product.size.operations() as usize;
                let each = |stream: &Stream, turn: usize| product.run(stream, targets[turn]);
                Flow { lanes: vec![*number as u64], ..Flow::new(*number, timed, (count, operations), each) }
            },
        );
        // Late in the slice: what the library tells as power is a mean of the time before.
        let wait = Duration::from_nanos((self.took * 0.9) as u64);
        let times = self.starter.run(flows.collect(), Split::of(count, 1), || {
            std::thread::sleep(wait);
            (run.meanwhile)();
        })?;
        self.took = times.took;
        self.each(|product, device| product.check(device, &targets))?;
        for End { number, memory, device } in &self.group.ends {
            memory.product.checked(device, &targets, run.checks).map_err(CopyError::of(*number))?;
        }
        Ok(times)
    }

    fn sample(&self, _: usize, slice: u64, piece: &Piece) -> Sample {
        let index = self.indices.get(piece.lane as usize).copied().unwrap_or(piece.lane);
        let mut at = Params::default();
        at.set("gpu", index);
        at.set("slice", slice);
        Sample::new("product", at, piece.span, Quantity::count(piece.bytes))
    }

    fn lose(&mut self, _: usize, failed: CopyError) -> Result<(), Reason> {
        self.group.lose(failed, "multiplying matrices")
    }

    fn evidence(&self, out: &mut dyn Sink) {
        self.group.evidence(out);
        let products =
            self.group.ends.iter().map(|end| (end.device.address.clone(), end.memory.about.clone()));
        out.evidence("products", Value::Object(products.collect()));
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
