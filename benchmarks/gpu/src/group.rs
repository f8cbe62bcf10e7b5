//! The GPUs of a case with several GPUs: those that work, and why others do not.

use std::path::Path;
use std::sync::Arc;

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::{Driver, GpuError};
use serde_json::{Map, Value, json};

use super::{Opened, during};
use seatrial_bench::Sink;

pub trait End {
    fn number(&self) -> usize;

    fn opened(&self) -> &Opened;
}

#[derive(Debug)]
pub struct GpuGroup<E> {
    ends: Vec<E>,
    least: usize,
    missing: Map<String, Value>,
    about: Map<String, Value>,
}

impl<E: End> GpuGroup<E> {
    /// Makes an end on every GPU; notes and leaves out GPUs on which that fails. Fails without a driver, and when
    /// fewer than `least` GPUs are left.
    pub fn gather(
        library: Option<&Path>,
        addresses: &[String],
        least: usize,
        make: impl Fn(&Arc<dyn Driver>, usize, &str) -> Result<E, Reason>,
    ) -> Result<Self, Reason> {
        let driver = Opened::driver(library)?;
        let mut group = Self { ends: Vec::new(), least, missing: Map::new(), about: Map::new() };
        let mut first = None;
        for (number, address) in addresses.iter().enumerate() {
            match make(&driver, number, address) {
                Ok(end) => {
                    group.about.insert(address.clone(), end.opened().evidence(&driver));
                    group.ends.push(end);
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

    pub fn ends(&self) -> &[E] {
        &self.ends
    }

    pub fn ends_mut(&mut self) -> &mut [E] {
        &mut self.ends
    }

    pub fn find(&self, number: usize) -> Option<&E> {
        self.ends.iter().find(|end| end.number() == number)
    }

    pub fn lose(&mut self, number: usize, failed: GpuError, doing: &str) -> Result<(), Reason> {
        let Some(position) = self.ends.iter().position(|end| end.number() == number) else {
            return Err(during("GPU", doing)(failed));
        };
        let lost = self.ends.remove(position);
        let error = during(&lost.opened().address, doing)(failed);
        self.missing.insert(lost.opened().address.clone(), json!(error.text));
        if self.ends.len() < self.least { Err(error) } else { Ok(()) }
    }

    pub fn evidence(&self, out: &mut dyn Sink) {
        out.evidence("gpus", Value::Object(self.about.clone()));
        out.evidence("missing", Value::Object(self.missing.clone()));
    }
}
