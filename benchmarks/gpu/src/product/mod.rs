//! Matrix products on a GPU: types of elements, the kernels in PTX, operands, targets, and the proof of the results.

mod element;
mod kernel;
mod ptx;
mod wrong;

use seatrial_model::{Cause, Kind, MetricSpec, ParamSpec, Params, Reason, Unit};

use crate::Device;

pub use element::Element;
pub use kernel::{Fill, Product, Size};

pub const TYPE: ParamSpec = ParamSpec::new("type", Kind::Choice(&element::NAMES), "bf16")
    .doc("Type of the elements that are multiplied; sums have 32 bits.");

pub const SHAPE: ParamSpec = ParamSpec::new("shape", Kind::Count(128, 65_536), "8192")
    .doc("Rows, columns and depth of the product, rounded up to whole blocks.");

pub const DATA: ParamSpec = ParamSpec::new("data", Kind::Choice(&Fill::NAMES), "random")
    .doc("What is multiplied; zeros need less power, so a GPU at its power limit is faster.");

pub const POWER: MetricSpec = MetricSpec::new("power", Unit::Watt, seatrial_model::Better::None)
    .doc("Power that the GPU's board takes, the mean of the readings of a trial.");

pub const CLOCK: MetricSpec = MetricSpec::higher_is_better("clock", Unit::Megahertz)
    .doc("Clock of the multiprocessors, the mean of the readings of a trial.");

/// The product that `type` and `shape` ask for, on this device, with as many targets as `targets` says.
pub fn ready(
    device: &Device,
    params: &Params,
    targets: impl FnOnce(Size, Element) -> Result<u64, Reason>,
) -> Result<Product, Reason> {
    let missing = || Reason::new(Cause::Protocol, "the case names no type of elements");
    let element = Element::of(params.text(TYPE.name)?).ok_or_else(missing)?;
    let properties = device.gpu.properties();
    if properties.capability < element.least {
        let ((major, minor), least) = (properties.capability, element.least);
        let text = format!(
            "{}: compute capability {major}.{minor} has no matrix instructions for {}: {}.{} and later have",
            device.address, element.name, least.0, least.1
        );
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let size = Size::about(params.count(SHAPE.name)?, element, properties.processors);
    let targets = targets(size, element)?.max(1);
    device.require(size.bytes(element, targets))?;
    Product::new(device, element, size, targets).map_err(device.refused("preparing the matrix product"))
}
