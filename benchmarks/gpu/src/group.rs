//! The GPUs of a case with several GPUs: those that work, and why others do not.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::Driver;
use serde_json::{Map, Value, json};

use super::{Device, copy::CopyError, during};
use seatrial_bench::Sink;

/// A GPU of the group, and what the benchmark keeps for it.
#[derive(Debug)]
pub struct End<M> {
    pub number: usize,
    pub memory: M,
    pub device: Device,
}

#[derive(Debug)]
pub struct GpuGroup<M> {
    pub ends: Vec<End<M>>,
    least: usize,
    missing: Map<String, Value>,
    about: Map<String, Value>,
}

impl<M> GpuGroup<M> {
    /// Opens every GPU and makes its memory; notes and leaves out GPUs on which that fails. Fails without a driver, and
    /// when fewer than `least` GPUs are left.
    pub fn gather(
        library: Option<&Path>,
        addresses: &[String],
        least: usize,
        make: impl Fn(&Arc<dyn Driver>, usize, &str) -> Result<(Device, M), Reason>,
    ) -> Result<Self, Reason> {
        let driver = Device::driver(library)?;
        let mut group = Self { ends: Vec::new(), least, missing: Map::new(), about: Map::new() };
        let mut first = None;
        for (number, address) in addresses.iter().enumerate() {
            match make(&driver, number, address) {
                Ok((device, memory)) => {
                    group.about.insert(address.clone(), device.evidence(&driver));
                    group.ends.push(End { number, memory, device });
                }
                Err(error) => {
                    group.missing.insert(address.clone(), json!(error.text));
                    first.get_or_insert(error);
                }
            }
        }
        if group.ends.len() < least {
            let too_few = || Reason::new(Cause::Protocol, format!("the case names fewer than {least} GPUs"));
            return Err(first.unwrap_or_else(too_few));
        }
        Ok(group)
    }

    pub fn find(&self, number: usize) -> Option<&End<M>> {
        self.ends.iter().find(|end| end.number == number)
    }

    pub fn lose(&mut self, failed: CopyError, doing: &str) -> Result<(), Reason> {
        let Some(position) = self.ends.iter().position(|end| end.number == failed.gpu) else {
            return Err(during("GPU", doing)(failed.error));
        };
        let address = self.ends.remove(position).device.address;
        let error = during(&address, doing)(failed.error);
        self.missing.insert(address, json!(error.text));
        if self.ends.len() < self.least { Err(error) } else { Ok(()) }
    }

    pub fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpus", Value::Object(self.about.clone()));
        out.evidence("missing", Value::Object(self.missing.clone()));
    }
}
