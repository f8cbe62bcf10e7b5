//! A GPU attached to this process.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::driver::Context;
use super::{Driver, GpuError, Properties};

thread_local! {
    /// The attachment whose context this thread entered last, so that entering the same context again costs nothing.
    /// A context released and attached again may have the same handle and is a different attachment.
    static ENTERED: Cell<u64> = const { Cell::new(0) };
}

static ATTACHED: AtomicU64 = AtomicU64::new(0);

/// An attached device; clones share the attachment.
#[derive(Clone, Debug)]
pub struct Gpu(Arc<Attached>);

#[derive(Debug)]
struct Attached {
    driver: Arc<dyn Driver>,
    device: u32,
    context: Context,
    number: u64,
    properties: Properties,
}

impl Gpu {
    /// Attaches the device at a PCI address in the kernel's form. `Ok(None)` when the driver shows no such device to
    /// this process.
    pub fn at(driver: &Arc<dyn Driver>, pci_address: &str) -> Result<Option<Self>, GpuError> {
        for device in 0..driver.device_count()? {
            let properties = driver.properties(device)?;
            if properties.pci_address == pci_address {
                return Self::attach(driver, device, properties).map(Some);
            }
        }
        Ok(None)
    }

    fn attach(driver: &Arc<dyn Driver>, device: u32, properties: Properties) -> Result<Self, GpuError> {
        let context = driver.attach(device)?;
        let number = ATTACHED.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Self(Arc::new(Attached { driver: Arc::clone(driver), device, context, number, properties })))
    }

    pub fn properties(&self) -> &Properties {
        &self.0.properties
    }

    pub fn memory(&self) -> Result<(u64, u64), GpuError> {
        self.entered()?.memory()
    }

    /// Enables peer access from this device to the memory of `peer`. `false` when the hardware cannot.
    pub fn reach(&self, peer: &Self) -> Result<bool, GpuError> {
        let driver = self.entered()?;
        if !driver.reaches(self.0.device, peer.0.device)? {
            return Ok(false);
        }
        match driver.reach(peer.0.context) {
            Err(error) if error.fault() != super::GpuFault::AlreadyDone => Err(error),
            _ => Ok(true),
        }
    }

    /// This thread may be in another context: something else than [`Self::entered`] changed it.
    pub(super) fn left() {
        ENTERED.set(0);
    }

    pub(super) fn entered(&self) -> Result<&dyn Driver, GpuError> {
        let driver = &*self.0.driver;
        if ENTERED.get() != self.0.number {
            driver.enter(self.0.context)?;
            ENTERED.set(self.0.number);
        }
        Ok(driver)
    }

    pub(super) fn context(&self) -> Context {
        self.0.context
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        ENTERED.set(0);
        self.driver.detach(self.device);
    }
}
