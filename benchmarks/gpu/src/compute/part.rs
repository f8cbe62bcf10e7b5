//! The only cell: products one after the other, every sum looked at after each slice.

use std::path::Path;

use seatrial_model::{Case, Cause, Nanos, Params, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::Stream;
use serde_json::json;

use super::plan::SLICE;
use super::reduce::PRODUCT;
use crate::Device;
use crate::copy::{CopyCells, CopyError, Flow, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream};
use crate::product::{self, Fill, Product};
use seatrial_bench::Sink;

pub struct ComputeCells {
    fill: Fill,
    /// Whether products of whole numbers were proved, and the operands have their values.
    is_proved: bool,
    product: Product,
    timed: TimedStream,
    starter: Starter,
    about: serde_json::Value,
    device: Device,
}

pub fn ready(case: &Case, _: &PartPlacement, library: Option<&Path>) -> Result<ComputeCells, Reason> {
    let missing = || Reason::new(Cause::Protocol, "the case names no GPU");
    let address = crate::address_of(case)?.into_iter().next().ok_or_else(missing)?;
    let driver = Device::driver(library)?;
    let device = Device::at(&driver, &address)?;
    let product = product::ready(&device, &case.params, library, |_, _| Ok(1))?;
    let mut about = device.evidence(&driver);
    product.describe(&mut about);
    let (timed, starter) = (device.timed_stream()?, device.starter()?);
    let fill = Fill::of(case.params.text(product::DATA.name)?);
    Ok(ComputeCells { fill, is_proved: false, product, timed, starter, about, device })
}

impl CopyCells for ComputeCells {
    fn count(&self) -> usize {
        1
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    fn copy(&mut self, _: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        let Self { product, timed, starter, device, is_proved, fill, .. } = self;
        if !std::mem::replace(is_proved, true) {
            product.begin(device, *fill, run.checks)?;
        }
        product.forget(&device.stream, 0)?;
        device.stream.finish()?;
        let each = |stream: &Stream, _: usize| product.run(stream, 0);
        let flow = Flow::new(0, timed, (run.copies, product.size.operations() as usize), each);
        let times = starter.run(vec![flow], Split::of(run.copies, 1), run.meanwhile)?;
        product.check(device, &[0])?;
        product.checked(device, &[0], run.checks)?;
        Ok(times)
    }

    fn sample(&self, _: usize, _: u64, piece: &Piece) -> Sample {
        Sample::new(PRODUCT, Params::default(), piece.span, Quantity::count(piece.bytes))
    }

    fn lose(&mut self, _: usize, failed: CopyError) -> Result<(), Reason> {
        Err(crate::during(&self.device.address, "multiplying matrices")(failed.error))
    }

    fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpu", self.about.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
