//! The NVML library, its devices and errors.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{c_int, c_uint};
use std::path::Path;
use std::ptr;

use super::layout::{Memory, PciInfo};
use super::table::{NvmlDevice, Table};
use crate::library::text;
use crate::library::{Library, LibraryError};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvmlError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error("driver too old for {symbol}")]
    TooOld { symbol: &'static str },
    #[error("{call}: {name} ({code})")]
    Refused { call: &'static str, code: i32, name: &'static str },
    #[error("{call} answers {what}")]
    Garbage { call: &'static str, what: String },
}

/// The initialised library. It is never shut down, as other code in this process may use it.
#[derive(Debug)]
pub struct Nvml {
    pub(super) table: Table,
}

#[derive(Clone, Copy, Debug)]
pub struct Handle<'a> {
    pub(super) nvml: &'a Nvml,
    pub(super) device: NvmlDevice,
}

// SAFETY: the library is thread-safe (NVML API reference, "NVML is thread-safe"), and its handles are numbers to us.
unsafe impl Send for Handle<'_> {}
// SAFETY: as above.
unsafe impl Sync for Handle<'_> {}

macro_rules! ask {
    ($nvml:expr, $field:ident($($arg:expr),* $(,)?)) => {{
        let entry = $nvml.table.$field;
        match entry.function {
            None => Err($crate::gpu::nvml::NvmlError::TooOld { symbol: entry.symbol }),
            Some(function) => {
                // SAFETY: the arguments are of the types that the function takes, and pointers among them lead to
                // variables that live through the call.
                $crate::gpu::nvml::library::answer(entry.symbol, unsafe { function($($arg),*) })
            }
        }
    }};
}
pub(super) use ask;

pub(super) fn answer(call: &'static str, code: c_int) -> Result<(), NvmlError> {
    if code == 0 { Ok(()) } else { Err(NvmlError::Refused { call, code, name: name(code) }) }
}

const fn name(code: c_int) -> &'static str {
    match code {
        1 => "uninitialized",
        2 => "invalid argument",
        3 => "not supported",
        4 => "no permission",
        6 => "not found",
        9 => "driver not loaded",
        10 => "timeout",
        12 => "the library does not belong to this driver",
        15 => "the GPU is lost",
        16 => "the GPU must be reset",
        17 => "the operating system refuses",
        18 => "the library does not belong to this driver",
        19 => "in use",
        20 => "out of memory",
        999 => "unknown error",
        _ => "an error",
    }
}

impl Nvml {
    pub const LIBRARY: &'static str = "libnvidia-ml.so.1";

    pub fn open() -> Result<Self, NvmlError> {
        Self::start(&Library::open(Self::LIBRARY)?)
    }

    pub fn open_at(path: &Path) -> Result<Self, NvmlError> {
        Self::start(&Library::open_at(path)?)
    }

    fn start(library: &Library) -> Result<Self, NvmlError> {
        let this = Self { table: Table::load(library) };
        ask!(this, init())?;
        Ok(this)
    }

    pub fn driver_version(&self) -> Result<String, NvmlError> {
        let mut version = [0; 96];
        ask!(self, driver_version(version.as_mut_ptr(), version.len() as c_uint))?;
        Ok(text(&version))
    }

    /// All devices that answer.
    pub fn devices(&self) -> Result<Vec<Handle<'_>>, NvmlError> {
        let mut count = 0;
        ask!(self, count(&raw mut count))?;
        let device = |index| {
            let mut device: NvmlDevice = ptr::null_mut();
            ask!(self, by_index(index, &raw mut device)).ok()?;
            Some(Handle { nvml: self, device })
        };
        Ok((0..count).filter_map(device).collect())
    }

    pub fn at(&self, pci_address: &str) -> Option<Handle<'_>> {
        let devices = self.devices().ok()?;
        devices.into_iter().find(|device| device.pci_address().is_ok_and(|address| address == pci_address))
    }
}

impl Handle<'_> {
    /// PCI address in the kernel's form: `0000:3b:00.0`.
    pub fn pci_address(&self) -> Result<String, NvmlError> {
        let mut pci = PciInfo::EMPTY;
        ask!(self.nvml, pci(self.device, &raw mut pci))?;
        Ok(address(&pci))
    }

    pub fn name(&self) -> Result<String, NvmlError> {
        let mut name = [0; 96];
        ask!(self.nvml, name(self.device, name.as_mut_ptr(), name.len() as c_uint))?;
        Ok(text(&name))
    }

    pub fn uuid(&self) -> Result<String, NvmlError> {
        let mut uuid = [0; 96];
        ask!(self.nvml, uuid(self.device, uuid.as_mut_ptr(), uuid.len() as c_uint))?;
        Ok(text(&uuid))
    }

    pub fn memory(&self) -> Result<(u64, u64), NvmlError> {
        let mut memory = Memory::default();
        ask!(self.nvml, memory(self.device, &raw mut memory))?;
        Ok((memory.total, memory.free))
    }
}

/// A GPU's PCI function is always 0; NVML writes domains with eight digits, the kernel with four.
pub(super) fn address(pci: &PciInfo) -> String {
    format!("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device)
}
