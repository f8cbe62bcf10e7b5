//! RDMA devices: list, open, limits and asynchronous events.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::ffi::{CStr, c_int};
use std::fmt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use super::abi::{AsyncEvent as RawEvent, Context, DeviceAttr, Opaque, Plain, PortAttr};
use super::error::{answer, last};
use super::table::Table;
use super::wait::{self, Readiness};
use super::{GidTable, PortAbout, VerbsError};
use crate::Errno;
use crate::root::SysRoot;

/// The loaded libibverbs. It is never unloaded.
#[derive(Debug)]
pub struct Verbs {
    pub(super) table: Table,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceEntry {
    /// The kernel's name: `mlx5_0`.
    pub name: String,
    /// 0 where not set.
    pub node_guid: u64,
}

impl Verbs {
    pub fn open() -> Result<Arc<Self>, VerbsError> {
        Ok(Arc::new(Self { table: Table::open()? }))
    }

    pub fn open_at(path: &Path) -> Result<Arc<Self>, VerbsError> {
        Ok(Arc::new(Self { table: Table::open_at(path)? }))
    }

    /// The devices that the library sees; empty without a kernel driver or a provider in the library.
    pub fn devices(self: &Arc<Self>) -> Result<Vec<DeviceEntry>, VerbsError> {
        let list = List::of(self)?;
        Ok(list.devices().iter().map(|&device| self.entry(device)).collect())
    }

    pub fn open_device(self: &Arc<Self>, name: &str) -> Result<Arc<RdmaDevice>, VerbsError> {
        let list = List::of(self)?;
        let found = list.devices().iter().copied().find(|&device| self.entry(device).name == name);
        let Some(found) = found else {
            let names: Vec<String> = list.devices().iter().map(|&device| self.entry(device).name).collect();
            let there = match names.as_slice() {
                [] => "libibverbs sees none: is there a driver, and its provider (ibverbs-providers)?"
                    .to_owned(),
                names => format!("there are {}", names.join(", ")),
            };
            return Err(VerbsError::NoDevice { name: name.to_owned(), there });
        };
        // SAFETY: the device is of a list that is not freed yet.
        let context = unsafe { (self.table.ibv_open_device)(found) };
        let Some(context) = NonNull::new(context) else {
            return Err(VerbsError::Refused {
                call: "ibv_open_device",
                what: name.to_owned(),
                errno: last(),
            });
        };
        let mut device =
            RdmaDevice { verbs: self.clone(), context, name: name.to_owned(), about: DeviceAbout::default() };
        device.about = device.ask()?;
        // Another thread may take an event first: the read must not wait.
        wait::never_block(device.raw().async_fd);
        Ok(Arc::new(device))
    }

    fn entry(&self, device: Opaque) -> DeviceEntry {
        // SAFETY: the device is of a list that is not freed yet; its name is a C string inside of it.
        unsafe {
            let name = (self.table.ibv_get_device_name)(device);
            let name = if name.is_null() {
                String::new()
            } else {
                CStr::from_ptr(name).to_string_lossy().into_owned()
            };
            let node_guid = u64::from_be((self.table.ibv_get_device_guid)(device));
            DeviceEntry { name, node_guid }
        }
    }
}

/// The library's device list. Opened devices stay valid after it is freed (ibv_get_device_list(3)).
struct List<'a> {
    table: &'a Table,
    start: NonNull<Opaque>,
    len: usize,
}

impl<'a> List<'a> {
    fn of(verbs: &'a Verbs) -> Result<Self, VerbsError> {
        let mut len: c_int = 0;
        // SAFETY: the number lives through the call.
        let start = unsafe { (verbs.table.ibv_get_device_list)(&raw mut len) };
        let start = NonNull::new(start).ok_or_else(|| VerbsError::NoKernel { errno: last() })?;
        Ok(Self { table: &verbs.table, start, len: usize::try_from(len).unwrap_or(0) })
    }

    const fn devices(&self) -> &[Opaque] {
        // SAFETY: the library says that so many pointers are there, and nobody writes them until they are freed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for List<'_> {
    fn drop(&mut self) {
        // SAFETY: it is the list that the library gave.
        unsafe { (self.table.ibv_free_device_list)(self.start.as_ptr()) };
    }
}

/// Atomicity of compare-and-swap and fetch-and-add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Atomics {
    #[default]
    None,
    /// Atomic among requests of this device.
    RdmaDevice,
    /// Atomic also to CPUs and other devices.
    Global,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceAbout {
    /// Firmware version; empty for software devices.
    pub firmware: String,
    pub node_guid: u64,
    /// The same for all devices of a card.
    pub sys_image_guid: u64,
    pub vendor_id: u32,
    pub part_id: u32,
    pub ports: u8,
    pub atomics: Atomics,
    pub max_qp: u32,
    pub max_qp_depth: u32,
    pub max_cq: u32,
    pub max_cq_depth: u32,
    /// Scatter/gather entries of a request at most.
    pub max_sge: u32,
    pub max_mr: u32,
    pub max_mr_bytes: u64,
    /// Incoming reads and atomics of a queue pair at once at most.
    pub max_reads_in: u8,
    /// Outgoing reads and atomics of a queue pair at once at most.
    pub max_reads_out: u8,
    pub completion_vectors: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncEvent {
    pub name: &'static str,
    /// The affected port; `None` for a queue or the whole device.
    pub port: Option<u8>,
    /// Whether the affected object has stopped working.
    pub fatal: bool,
}

pub struct RdmaDevice {
    pub(super) verbs: Arc<Verbs>,
    pub(super) context: NonNull<Context>,
    name: String,
    about: DeviceAbout,
}

// SAFETY: the library's functions may be called by any thread at any time (rdma-core, Documentation/libibverbs.md:
// "libibverbs is thread-safe"), and of the context itself we only read what does not change.
unsafe impl Send for RdmaDevice {}
// SAFETY: as above.
unsafe impl Sync for RdmaDevice {}

impl fmt::Debug for RdmaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name)
    }
}

impl RdmaDevice {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn about(&self) -> &DeviceAbout {
        &self.about
    }

    /// Port attributes; ports count from 1.
    pub fn port(&self, port: u8) -> Result<PortAbout, VerbsError> {
        if port == 0 || port > self.about.ports {
            return Err(VerbsError::NoPort { device: self.name.clone(), port, ports: self.about.ports });
        }
        let mut attr = PortAttr::zeroed();
        // SAFETY: the context is open; the library writes at most the structure of its own version, which ours is not
        // shorter than.
        let code = unsafe { (self.table().ibv_query_port)(self.context.as_ptr(), port, &raw mut attr) };
        answer("ibv_query_port", code, || format!("{}/{port}", self.name))?;
        Ok(PortAbout::from(&attr))
    }

    pub fn gids(&self, root: &SysRoot, port: u8) -> Result<GidTable, VerbsError> {
        GidTable::read(root, &self.name, port)
    }

    /// [`VerbsError::Lacks`] without atomic operations.
    pub fn require_atomics(&self) -> Result<(), VerbsError> {
        match self.about.atomics {
            Atomics::None => {
                Err(VerbsError::Lacks { device: self.name.clone(), feature: "atomic operations".to_owned() })
            }
            Atomics::RdmaDevice | Atomics::Global => Ok(()),
        }
    }

    pub fn event(&self, timeout: Duration) -> Result<Option<AsyncEvent>, VerbsError> {
        let refused =
            |errno| VerbsError::Refused { call: "ibv_get_async_event", what: self.name.clone(), errno };
        let deadline = wait::Deadline::after(timeout);
        loop {
            match wait::readable(self.raw().async_fd, deadline).map_err(refused)? {
                Readiness::Ready => {}
                Readiness::TimedOut => return Ok(None),
            }
            let mut event = RawEvent::zeroed();
            // SAFETY: the context is open and the event lives through the call.
            let code = unsafe { (self.table().ibv_get_async_event)(self.context.as_ptr(), &raw mut event) };
            if code != 0 {
                match last() {
                    Errno::AGAIN | Errno::INTR => continue,
                    errno => return Err(refused(errno)),
                }
            }
            // SAFETY: it is the event just taken; telling the library so at once lets what it is about be destroyed.
            unsafe { (self.table().ibv_ack_async_event)(&raw mut event) };
            return Ok(Some(named(&event)));
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.verbs.table
    }

    pub(super) const fn raw(&self) -> &Context {
        // SAFETY: the context is open as long as self lives, and the library does not change what we read of it.
        unsafe { self.context.as_ref() }
    }

    fn ask(&self) -> Result<DeviceAbout, VerbsError> {
        let mut attr = DeviceAttr::zeroed();
        // SAFETY: the context is open and the structure is the library's own.
        let code = unsafe { (self.table().ibv_query_device)(self.context.as_ptr(), &raw mut attr) };
        answer("ibv_query_device", code, || self.name.clone())?;
        let count = |number: c_int| u32::try_from(number).unwrap_or(0);
        let byte = |number: c_int| u8::try_from(number.clamp(0, 255)).unwrap_or(0);
        let firmware = attr.fw_ver.split(|&byte| byte == 0).next().unwrap_or_default();
        Ok(DeviceAbout {
            firmware: String::from_utf8_lossy(firmware).into_owned(),
            node_guid: u64::from_be(attr.node_guid),
            sys_image_guid: u64::from_be(attr.sys_image_guid),
            vendor_id: attr.vendor_id,
            part_id: attr.vendor_part_id,
            ports: attr.phys_port_cnt,
            atomics: match attr.atomic_cap {
                0 => Atomics::None,
                2 => Atomics::Global,
                _ => Atomics::RdmaDevice,
            },
            max_qp: count(attr.max_qp),
            max_qp_depth: count(attr.max_qp_wr),
            max_cq: count(attr.max_cq),
            max_cq_depth: count(attr.max_cqe),
            max_sge: count(attr.max_sge),
            max_mr: count(attr.max_mr),
            max_mr_bytes: attr.max_mr_size,
            max_reads_in: byte(attr.max_qp_rd_atom),
            max_reads_out: byte(attr.max_qp_init_rd_atom),
            completion_vectors: count(self.raw().num_comp_vectors),
        })
    }
}

impl Drop for RdmaDevice {
    fn drop(&mut self) {
        // SAFETY: everything made on it keeps it, so that nothing is left that uses it.
        unsafe { (self.table().ibv_close_device)(self.context.as_ptr()) };
    }
}

fn named(event: &RawEvent) -> AsyncEvent {
    let (name, of_port, fatal) = match event.event_type {
        0 => ("a completion queue overran or failed", false, true),
        1 => ("a queue pair failed", false, true),
        2 => ("a request of the peer failed a queue pair", false, true),
        3 => ("a forbidden access of the peer failed a queue pair", false, true),
        4 => ("the first message came before the connection was ready", false, false),
        5 => ("a send queue is drained", false, false),
        8 => ("the device failed", false, true),
        9 => ("the port is active", true, false),
        10 => ("the port lost its link", true, true),
        11 => ("the LID of the port changed", true, false),
        12 => ("the partition table of the port changed", true, false),
        13 => ("the subnet manager changed", true, false),
        17 => ("the subnet manager wants the port to register anew", true, false),
        18 => ("the GID table of the port changed", true, false),
        _ => ("an event that this list lacks", false, false),
    };
    // For port events the union holds a C int: the lower half on all supported machines.
    let port = of_port.then(|| u8::try_from(event.element & 0xffff_ffff).unwrap_or(0));
    AsyncEvent { name, port, fatal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_ports_name_the_port_and_others_do_not() {
        let mut event = RawEvent::zeroed();
        (event.element, event.event_type) = (2, 10);
        assert_eq!(named(&event), AsyncEvent { name: "the port lost its link", port: Some(2), fatal: true });
        (event.element, event.event_type) = (0xffff_8888_0000_0002, 1);
        assert_eq!(named(&event).port, None);
    }
}
