//! Memory registered for RDMA.
#![expect(unsafe_code, reason = "registers memory, and looks at it while a device may write it")]

use std::ffi::c_int;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::abi::{Mr, Opaque, access};
use super::error::{answer, last};
use super::{RdmaDevice, VerbsError};
use crate::Errno;
use crate::memory::Mapping;
use crate::process::{Resource, limit};

/// The scope of registrations: queue pairs access memory of their own protection domain only.
pub struct ProtectionDomain {
    device: Arc<RdmaDevice>,
    pub(super) raw: NonNull<std::ffi::c_void>,
}

// SAFETY: the library's functions may be called by any thread, and the handle is given to nothing else.
unsafe impl Send for ProtectionDomain {}
// SAFETY: as above.
unsafe impl Sync for ProtectionDomain {}

impl fmt::Debug for ProtectionDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProtectionDomain({})", self.device.name())
    }
}

impl ProtectionDomain {
    pub fn new(device: &Arc<RdmaDevice>) -> Result<Arc<Self>, VerbsError> {
        // SAFETY: the context is open.
        let raw = unsafe { (device.table().ibv_alloc_pd)(device.context.as_ptr()) };
        let refused =
            || VerbsError::Refused { call: "ibv_alloc_pd", what: device.name().to_owned(), errno: last() };
        Ok(Arc::new(Self { device: device.clone(), raw: NonNull::new(raw).ok_or_else(refused)? }))
    }

    pub const fn device(&self) -> &Arc<RdmaDevice> {
        &self.device
    }
}

impl Drop for ProtectionDomain {
    fn drop(&mut self) {
        // SAFETY: everything made in it keeps it, so that nothing is left that uses it.
        unsafe { (self.device.table().ibv_dealloc_pd)(self.raw.as_ptr()) };
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
    /// Writes of the device may be reordered on the bus, which many hosts need for the full rate. The last byte of a
    /// write then does not imply the others: only completions do.
    pub relaxed_ordering: bool,
}

impl Access {
    /// Every access of peers, with ordered writes.
    pub const ALL: Self =
        Self { remote_write: true, remote_read: true, remote_atomic: true, relaxed_ordering: false };

    /// `IBV_ACCESS_*`. Remote write requires local write (ibv_reg_mr(3)).
    pub(super) const fn flags(self) -> u32 {
        let mut flags = access::LOCAL_WRITE;
        if self.remote_write {
            flags |= access::REMOTE_WRITE;
        }
        if self.remote_read {
            flags |= access::REMOTE_READ;
        }
        if self.remote_atomic {
            flags |= access::REMOTE_ATOMIC;
        }
        flags
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    pub address: u64,
    pub key: u32,
}

/// What keeps registered memory mapped.
enum Backing {
    Own(Mapping),
    /// It is a part of other registered memory.
    Part {
        _of: Arc<MemoryRegion>,
    },
}

/// Registered memory, deregistered before it is unmapped.
///
/// A device may write at any moment, so there are no slices: bytes are copied. To poll for a change, use
/// [`Self::byte`] or [`Self::word`].
pub struct MemoryRegion {
    raw: NonNull<Mr>,
    start: NonNull<u8>,
    /// Taken by [`Self::release`], leaked where deregistering failed.
    backing: Option<Backing>,
    bytes: usize,
    keys: (u32, u32),
    relaxed_ordering: bool,
    registration: Duration,
    pd: Arc<ProtectionDomain>,
}

// SAFETY: it owns its memory alone. What a device writes is looked at by copies and atomics only.
unsafe impl Send for MemoryRegion {}
// SAFETY: as above.
unsafe impl Sync for MemoryRegion {}

impl fmt::Debug for MemoryRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryRegion({} bytes at {:#x}, key {:#x})", self.bytes, self.address(), self.keys.1)
    }
}

impl MemoryRegion {
    pub fn register(
        pd: &Arc<ProtectionDomain>,
        mut map: Mapping,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let bytes = map.len();
        let start = NonNull::from(map.as_mut_slice::<u8>()).cast::<u8>();
        Self::backed(pd, Backing::Own(map), start, bytes, access)
    }

    /// Registers `bytes` of this memory from `offset` on once more, by themselves.
    ///
    /// # Errors
    /// [`VerbsError::Beyond`] when there are not so many, or the card refuses.
    pub fn register_part(
        self: &Arc<Self>,
        offset: usize,
        bytes: usize,
        access: Access,
    ) -> Result<Self, VerbsError> {
        self.check(offset, bytes)?;
        // SAFETY: the offset is inside the memory, as just checked.
        let start = unsafe { self.start.add(offset) };
        Self::backed(&self.pd, Backing::Part { _of: Arc::clone(self) }, start, bytes, access)
    }

    /// Registers memory that `backing` keeps mapped.
    fn backed(
        pd: &Arc<ProtectionDomain>,
        backing: Backing,
        start: NonNull<u8>,
        bytes: usize,
        access: Access,
    ) -> Result<Self, VerbsError> {
        let table = pd.device.table();
        let clock = Instant::now();
        let (raw, relaxed_ordering) = match (access.relaxed_ordering, table.ibv_reg_mr_iova2) {
            (true, Some(register)) => {
                let flags = access.flags() | access::RELAXED_ORDERING;
                // SAFETY: the memory is mapped, and stays so until after it is deregistered; nobody looks at it through
                // references from here on.
                let raw = unsafe {
                    register(pd.raw.as_ptr(), start.as_ptr().cast(), bytes, start.addr().get() as u64, flags)
                };
                (raw, true)
            }
            _ => {
                let flags = access.flags() as c_int;
                // SAFETY: as above.
                let raw = unsafe { (table.ibv_reg_mr)(pd.raw.as_ptr(), start.as_ptr().cast(), bytes, flags) };
                (raw, false)
            }
        };
        let registration = clock.elapsed();
        let raw = NonNull::new(raw).ok_or_else(|| refused(&pd.device, bytes))?;
        // SAFETY: the library just made it, and does not change its keys.
        let keys = unsafe { (raw.as_ref().lkey, raw.as_ref().rkey) };
        Ok(Self {
            raw,
            start,
            backing: Some(backing),
            bytes,
            keys,
            relaxed_ordering,
            registration,
            pd: pd.clone(),
        })
    }

    pub const fn registration(&self) -> Duration {
        self.registration
    }

    /// Deregisters the memory and returns it, with the time that deregistering took. On error the memory is leaked,
    /// since the device may still access it.
    pub fn release(mut self) -> Result<(Mapping, Duration), VerbsError> {
        let clock = Instant::now();
        let backing = self.deregister()?;
        let took = clock.elapsed();
        match backing {
            Some(Backing::Own(map)) => Ok((map, took)),
            Some(Backing::Part { .. }) | None => {
                Err(VerbsError::Config { why: "there is no memory of its own to give back".to_owned() })
            }
        }
    }

    fn deregister(&mut self) -> Result<Option<Backing>, VerbsError> {
        let Some(backing) = self.backing.take() else { return Ok(None) };
        // SAFETY: it is registered, as the mapping was still there. The device stops to reach the memory before this
        // returns (ibv_dereg_mr(3)); requests under way end with an error.
        let code = unsafe { (self.pd.device.table().ibv_dereg_mr)(self.raw.as_ptr()) };
        match answer("ibv_dereg_mr", code, || format!("{} bytes on {}", self.bytes, self.pd.device.name())) {
            Ok(()) => Ok(Some(backing)),
            Err(error) => {
                std::mem::forget(backing);
                Err(error)
            }
        }
    }

    pub fn address(&self) -> u64 {
        self.start.addr().get() as u64
    }

    pub const fn len(&self) -> usize {
        self.bytes
    }

    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub const fn local_key(&self) -> u32 {
        self.keys.0
    }

    pub const fn remote_key(&self) -> u32 {
        self.keys.1
    }

    /// The kernel ignores relaxed ordering on devices without it.
    pub const fn relaxed_ordering(&self) -> bool {
        self.relaxed_ordering
    }

    /// Address and key of the memory from `offset` on, for a peer.
    pub fn remote(&self, offset: usize) -> Remote {
        Remote { address: self.address() + offset as u64, key: self.keys.1 }
    }

    pub const fn protection_domain(&self) -> &Arc<ProtectionDomain> {
        &self.pd
    }

    /// [`VerbsError::Beyond`] unless `bytes` from `offset` on exist.
    pub const fn check(&self, offset: usize, bytes: usize) -> Result<(), VerbsError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            _ => Err(VerbsError::Beyond { offset, bytes, size: self.bytes }),
        }
    }

    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), VerbsError> {
        self.check(offset, into.len())?;
        // SAFETY: the range is mapped, as just checked, and `into` is memory of its own: only `start` leads to ours.
        // Should a device write meanwhile, some of its bytes come over and some do not; any are valid.
        unsafe {
            std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len());
        }
        Ok(())
    }

    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), VerbsError> {
        self.check(offset, from.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len()) };
        Ok(())
    }

    pub fn fill(&self, offset: usize, bytes: usize, value: u8) -> Result<(), VerbsError> {
        self.check(offset, bytes)?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::write_bytes(self.start.as_ptr().add(offset), value, bytes) };
        Ok(())
    }

    /// The current value of a byte; earlier writes of a device are visible after this call. Panics beyond the end.
    #[inline]
    pub fn byte(&self, offset: usize) -> u8 {
        self.at(offset).load(Ordering::Acquire)
    }

    /// Sets a byte, after all earlier writes. Panics beyond the end.
    #[inline]
    pub fn set_byte(&self, offset: usize, value: u8) {
        self.at(offset).store(value, Ordering::Release);
    }

    /// The current value of eight bytes in host byte order; panics when `offset` is no multiple of 8 or beyond the
    /// end.
    #[inline]
    pub fn word(&self, offset: usize) -> u64 {
        self.word_at(offset).load(Ordering::Acquire)
    }

    /// Sets eight bytes, after all earlier writes; panics when `offset` is no multiple of 8 or beyond the end.
    #[inline]
    pub fn set_word(&self, offset: usize, value: u64) {
        self.word_at(offset).store(value, Ordering::Release);
    }

    #[inline]
    fn at(&self, offset: usize) -> &AtomicU8 {
        assert!(offset < self.bytes, "byte {offset} of {}", self.bytes);
        // SAFETY: the byte is mapped as long as self lives, and looked at through atomics and copies only.
        unsafe { AtomicU8::from_ptr(self.start.as_ptr().add(offset)) }
    }

    #[inline]
    fn word_at(&self, offset: usize) -> &AtomicU64 {
        assert!(
            offset.is_multiple_of(8) && offset < self.bytes && self.bytes - offset >= 8,
            "word {offset} of {}",
            self.bytes
        );
        // SAFETY: as in `at`; mappings start at a page, so that the word is aligned.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }
}

impl Drop for MemoryRegion {
    fn drop(&mut self) {
        let _ = self.deregister();
    }
}

/// The kernel answers ENOMEM both above RLIMIT_MEMLOCK and without memory; this repeats its check of the limit
/// (ib_umem_get in drivers/infiniband/core/umem.c).
fn refused(device: &RdmaDevice, bytes: usize) -> VerbsError {
    let errno = last();
    let status = crate::root::SysRoot::live().text("/proc/self/status").unwrap_or_default();
    match (errno, limit(Resource::LockedMemory).soft) {
        (Errno::NOMEM, Some(limit_bytes)) if is_beyond(bytes, limit_bytes, &status) => {
            VerbsError::MemoryLock { bytes, limit_bytes }
        }
        _ => VerbsError::Refused {
            call: "ibv_reg_mr",
            what: format!("{bytes} bytes on {}", device.name()),
            errno,
        },
    }
}

/// Whether `VmPin` of proc_pid_status(5) plus `bytes` exceed the limit.
fn is_beyond(bytes: usize, limit_bytes: u64, status: &str) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let pinned = field("VmPin:").and_then(|text| text.split_whitespace().next());
    let pinned_kib = pinned.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    // CAP_IPC_LOCK lifts the limit.
    let lifted = field("CapEff:")
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .is_some_and(|all| all >> 14 & 1 == 1);
    !lifted && bytes as u64 > limit_bytes.saturating_sub(pinned_kib * 1024)
}

pub struct AddressHandle {
    pub(super) raw: Opaque,
    pub(super) pd: Arc<ProtectionDomain>,
}

// SAFETY: the library's functions may be called by any thread, and the handle does not change.
unsafe impl Send for AddressHandle {}
// SAFETY: as above.
unsafe impl Sync for AddressHandle {}

impl fmt::Debug for AddressHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AddressHandle({})", self.pd.device.name())
    }
}

impl AddressHandle {
    pub fn new(pd: &Arc<ProtectionDomain>, path: &super::Path) -> Result<Arc<Self>, VerbsError> {
        let mut attr = path.attributes()?;
        // SAFETY: the domain is alive, and the structure lives through the call.
        let raw = unsafe { (pd.device.table().ibv_create_ah)(pd.raw.as_ptr(), &raw mut attr) };
        if raw.is_null() {
            return Err(VerbsError::Refused { call: "ibv_create_ah", what: path.to_string(), errno: last() });
        }
        Ok(Arc::new(Self { raw, pd: pd.clone() }))
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: lists of requests that name it keep it.
        unsafe { (self.pd.device.table().ibv_destroy_ah)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_locked_memory_is_blamed_where_it_is_the_cause() {
        let status = |caps: &str| format!("Name:\tx\nVmPin:\t      32 kB\nCapEff:\t{caps}\n");
        assert!(is_beyond(40 << 10, 64 << 10, &status("0000000000000000")));
        assert!(!is_beyond(32 << 10, 64 << 10, &status("0000000000000000")), "it fits just so");
        assert!(!is_beyond(40 << 10, 64 << 10, &status("0000000000004000")), "lifted by CAP_IPC_LOCK");
        assert!(is_beyond(65 << 10, 64 << 10, ""));
    }

    #[test]
    fn peers_get_what_was_given_and_no_more() {
        assert_eq!(Access::default().flags(), 1);
        assert_eq!(Access::ALL.flags(), 0b1111);
        assert_eq!(Access { remote_read: true, ..Access::default() }.flags(), 0b101);
    }
}
