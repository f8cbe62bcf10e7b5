//! Matrix products on a GPU: types of elements, the kernels in PTX, operands, targets, and the proof of the results.

mod element;
mod kernel;
mod library;
mod ptx;
mod wrong;

use std::path::Path;

use seatrial_model::{Cause, Kind, MetricSpec, ParamSpec, Params, Reason, Unit};
use seatrial_sys::gpu::blas::BlasHandle;

use crate::Device;

pub use element::Element;
pub use kernel::{Fill, Product, Size};
pub use library::check;

/// The types that the own kernels multiply.
pub const TYPE: ParamSpec = ParamSpec::new("type", Kind::Choice(&element::OWN), "bf16")
    .doc("Type of the elements that are multiplied; sums have 32 bits.");

pub const ANY_TYPE: ParamSpec = ParamSpec { kind: Kind::Choice(&element::NAMES), ..TYPE }.doc(
    "Type of the elements that are multiplied; sums have 32 bits, of fp64 64. fp32 and fp64 need engine=blas.",
);

pub const ENGINE: ParamSpec = ParamSpec::new("engine", Kind::Choice(&["own", "blas"]), "own")
    .doc("own: kernels of Seatrial, without any library; blas: NVIDIA's library cuBLAS (cublasGemmEx; fp8: cublasLtMatmul).");

pub const LIBRARY: ParamSpec = ParamSpec::new("library", Kind::Text, "auto").word("auto").doc(
    "cuBLAS's library for engine=blas, as a file or its folder; auto: libcublas.so.13, .12 or .11 where the dynamic linker \
     finds it, in Python wheels and in CUDA toolkits.",
);

pub const SHAPE: ParamSpec = ParamSpec::new("shape", Kind::Count(128, 65_536), "8192")
    .doc("Rows, columns and depth of the product, rounded up to whole blocks.");

pub const DATA: ParamSpec = ParamSpec::new("data", Kind::Choice(&Fill::NAMES), "random")
    .doc("What is multiplied; zeros need less power, so a GPU at its power limit is faster.");

pub const POWER: MetricSpec = MetricSpec::new("power", Unit::Watt, seatrial_model::Better::None)
    .doc("Power that the GPU's board takes, the mean of the readings of a trial.");

pub const CLOCK: MetricSpec = MetricSpec::higher_is_better("clock", Unit::Megahertz)
    .doc("Clock of the multiprocessors, the mean of the readings of a trial.");

/// The product that `type`, `shape` and `engine` ask for, on this device, with as many targets as `targets` says. In tests
/// the file of the driver is the library too.
pub fn ready(
    device: &Device,
    params: &Params,
    file: Option<&Path>,
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
    let blas = library::is_wanted(params).then(|| library::open(params, file)).transpose()?;
    let besides = if blas.is_some() { BlasHandle::BYTES } else { 0 };
    device.require(size.bytes(element, targets) + besides)?;
    Product::new(device, element, size, targets, blas.as_ref())
        .map_err(device.refused("preparing the matrix product"))
}
