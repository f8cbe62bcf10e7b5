//! The only cell: products one after the other, every sum looked at after each slice.

use std::path::Path;

use seatrial_model::{Case, Cause, Nanos, Params, PartPlacement, Quantity, Reason, Sample};
use seatrial_sys::gpu::{GpuError, Stream};
use serde_json::json;

use super::element::Element;
use super::kernel::{Fill, Product, Size};
use super::plan::SLICE;
use crate::copy::{CopyCells, CopyError, Flow, Piece, SliceRun, SliceTimes, Split, Starter, TimedStream};
use crate::{Checks, Device};
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
    let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case names no {what}"));
    let address = crate::address_of(case)?.into_iter().next().ok_or_else(|| missing("GPU"))?;
    let element = Element::of(case.params.text("type")?).ok_or_else(|| missing("type of elements"))?;
    let driver = Device::driver(library)?;
    let device = Device::at(&driver, &address)?;
    let properties = device.gpu.properties();
    if properties.capability < element.least {
        let ((major, minor), least) = (properties.capability, element.least);
        let text = format!(
            "{address}: compute capability {major}.{minor} has no matrix instructions for {}: {}.{} and later have",
            element.name, least.0, least.1
        );
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let size = Size::about(case.params.count("shape")?, element, properties.processors);
    device.require(size.bytes(element))?;
    let product =
        Product::new(&device, element, size).map_err(device.refused("preparing the matrix product"))?;
    let mut about = device.evidence(&driver);
    about["instructions"] = json!(product.form.name());
    about["product"] = json!([size.rows, size.columns, size.depth]);
    let (timed, starter) = (device.timed_stream()?, device.starter()?);
    let fill = Fill::of(case.params.text("data")?);
    Ok(ComputeCells { fill, is_proved: false, product, timed, starter, about, device })
}

impl ComputeCells {
    fn processors(&self) -> u32 {
        self.device.gpu.properties().processors
    }

    /// Proves a product of whole numbers, and makes the first of those that are measured: all others have to equal it.
    fn begin(&mut self, checks: &mut Checks) -> Result<(), GpuError> {
        let (product, stream) = (&self.product, &self.device.stream);
        product.fill(stream, Fill::Whole)?;
        product.forget(&self.device)?;
        product.run(stream, self.processors())?;
        let wrong = product.prove(&self.device)?;
        let (of, what) = (product.size, &self.device.address);
        checks.note(4 * of.rows * of.columns, wrong.map_or(0, |wrong| wrong.count), || {
            let row = wrong.map_or(0, |wrong| wrong.first);
            format!("GPU {what}: in a product of whole numbers row {row} is the first with a wrong sum")
        });
        product.fill(stream, self.fill)?;
        product.run(stream, self.processors())?;
        product.keep(stream)?;
        stream.finish()?;
        self.is_proved = true;
        Ok(())
    }
}

impl CopyCells for ComputeCells {
    fn count(&self) -> usize {
        1
    }

    fn slice_time(&self) -> Nanos {
        SLICE
    }

    fn copy(&mut self, _: usize, run: SliceRun<'_>) -> Result<SliceTimes, CopyError> {
        if !self.is_proved {
            self.begin(run.checks)?;
        }
        let processors = self.processors();
        let Self { product, timed, starter, device, .. } = self;
        product.forget(device)?;
        let each = |stream: &Stream, _: usize| product.run(stream, processors);
        let flow = Flow::new(0, timed, (run.copies, product.size.operations() as usize), each);
        let times = starter.run(vec![flow], Split::of(run.copies, 1), run.meanwhile)?;
        let wrong = product.differs(device)?;
        run.checks.note(4 * product.size.rows * product.size.columns, wrong.map_or(0, |it| it.count), || {
            let (row, column) = product.place(wrong.map_or(0, |it| it.first));
            format!(
                "GPU {}: the sum in row {row}, column {column} or {} is not that of the first product of the same numbers",
                device.address,
                column + 1
            )
        });
        Ok(times)
    }

    fn sample(&self, _: usize, _: u64, piece: &Piece) -> Sample {
        Sample::new("product", Params::default(), piece.span, Quantity::count(piece.bytes))
    }

    fn lose(&mut self, _: usize, failed: CopyError) -> Result<(), Reason> {
        Err(crate::during(&self.device.address, "multiplying matrices")(failed.error))
    }

    fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpu", self.about.clone());
        out.evidence("held_by", json!(self.starter.hold_method()));
    }
}
