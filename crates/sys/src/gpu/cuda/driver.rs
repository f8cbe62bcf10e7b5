//! [`Driver`](crate::gpu::Driver) implemented with the functions of `libcuda.so.1`.
#![expect(unsafe_code, reason = "calls functions of the driver")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use super::code::{self, attribute};
use super::table::{Address, Handle, Table};
use crate::gpu::driver::Context;
use crate::gpu::{Driver, GpuError, GpuFault, Properties};
use crate::library::{Library, text};

/// Size of the JIT error log: enough for the first messages.
const LOG_BYTES: usize = 4096;

#[derive(Debug)]
pub struct Cuda {
    table: Table,
}

macro_rules! call {
    ($self:ident.$field:ident($($arg:expr),* $(,)?)) => {{
        let entry = $self.table.$field;
        let function = entry.function.ok_or(GpuError::TooOld { what: "driver", symbol: entry.symbol })?;
        // SAFETY: the arguments are of the types that the function takes; pointers among them lead to variables that
        // live through the call, or are what the caller's caller promised.
        let code = unsafe { function($($arg),*) };
        $self.answer(entry.symbol, code)
    }};
}

impl Cuda {
    /// `libcuda.so` without a number may be the toolkit's stub, which serves no device.
    pub const LIBRARY: &'static str = "libcuda.so.1";

    pub fn open() -> Result<Arc<dyn Driver>, GpuError> {
        Self::start(&Library::open(Self::LIBRARY)?)
    }

    pub fn open_at(path: &Path) -> Result<Arc<dyn Driver>, GpuError> {
        Self::start(&Library::open_at(path)?)
    }

    fn start(library: &Library) -> Result<Arc<dyn Driver>, GpuError> {
        let this = Self { table: Table::load(library) };
        call!(this.init(0))?;
        Ok(Arc::new(this))
    }

    fn answer(&self, call: &'static str, code: c_int) -> Result<(), GpuError> {
        if code == code::SUCCESS {
            return Ok(());
        }
        let name =
            self.say(self.table.error_name.function, code).unwrap_or_else(|| "an unknown error".to_owned());
        let text = self.say(self.table.error_string.function, code).unwrap_or_default();
        Err(GpuError::Refused { call, code, name, text, fault: code::fault(code) })
    }

    fn say(
        &self,
        function: Option<unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int>,
        code: c_int,
    ) -> Option<String> {
        let mut text = ptr::null();
        // SAFETY: the function sets the pointer to a string of its own that stays, or to null.
        let answer = unsafe { function?(code, &raw mut text) };
        if answer != code::SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: see above.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    fn handle(&self, device: u32) -> Result<c_int, GpuError> {
        let mut handle = 0;
        call!(self.device_get(&raw mut handle, device as c_int))?;
        Ok(handle)
    }

    /// A device attribute; 0 where this driver does not know the attribute.
    fn attribute(&self, device: c_int, which: i32) -> Result<u32, GpuError> {
        let mut value = 0;
        match call!(self.device_attribute(&raw mut value, which, device)) {
            Ok(()) => Ok(u32::try_from(value).unwrap_or(0)),
            // CUDA_ERROR_INVALID_VALUE: the attribute is newer than the driver.
            Err(GpuError::Refused { code: 1, .. }) => Ok(0),
            Err(error) => Err(error),
        }
    }
}

fn opaque(number: usize) -> Handle {
    ptr::with_exposed_provenance_mut(number)
}

// SAFETY: each method is one function of the driver, which keeps to what its documentation says.
unsafe impl Driver for Cuda {
    fn runtime(&self) -> &'static str {
        "CUDA"
    }

    fn version(&self) -> Result<String, GpuError> {
        let mut version = 0;
        call!(self.driver_version(&raw mut version))?;
        Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    fn device_count(&self) -> Result<u32, GpuError> {
        let mut count = 0;
        call!(self.device_count(&raw mut count))?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    fn properties(&self, device: u32) -> Result<Properties, GpuError> {
        let handle = self.handle(device)?;
        let mut name = [0; 256];
        call!(self.device_name(name.as_mut_ptr(), name.len() as c_int, handle))?;
        let mut pci = [0; 32];
        call!(self.device_pci(pci.as_mut_ptr(), pci.len() as c_int, handle))?;
        let number = |which| self.attribute(handle, which);
        Ok(Properties {
            name: text(&name),
            // The driver writes capital letters, the kernel does not.
            pci_address: text(&pci).to_ascii_lowercase(),
            capability: (number(attribute::CAPABILITY_MAJOR)?, number(attribute::CAPABILITY_MINOR)?),
            processors: number(attribute::PROCESSORS)?,
            l2_bytes: number(attribute::L2_BYTES)?.into(),
            copy_engines: number(attribute::COPY_ENGINES)?,
            integrated: number(attribute::INTEGRATED)? > 0,
        })
    }

    fn attach(&self, device: u32) -> Result<Context, GpuError> {
        let handle = self.handle(device)?;
        let mut context: Handle = ptr::null_mut();
        call!(self.primary_retain(&raw mut context, handle))?;
        Ok(context.expose_provenance())
    }

    fn detach(&self, device: u32) {
        let release = || {
            let handle = self.handle(device)?;
            call!(self.primary_release(handle))
        };
        let _ = release();
    }

    fn enter(&self, context: Context) -> Result<(), GpuError> {
        call!(self.set_current(opaque(context)))
    }

    fn memory(&self) -> Result<(u64, u64), GpuError> {
        let (mut free, mut total) = (0_usize, 0_usize);
        call!(self.memory_info(&raw mut free, &raw mut total))?;
        Ok((free as u64, total as u64))
    }

    fn allocate(&self, bytes: usize) -> Result<u64, GpuError> {
        let mut address: Address = 0;
        call!(self.allocate(&raw mut address, bytes))?;
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let free = || call!(self.free(address));
        let _ = free();
    }

    unsafe fn pin(&self, host: *mut c_void, bytes: usize) -> Result<u64, GpuError> {
        call!(self.host_register(host, bytes, code::PORTABLE_AND_MAPPED))?;
        let mut address: Address = 0;
        let seen = call!(self.host_device_pointer(&raw mut address, host, 0));
        if let Err(error) = seen {
            // SAFETY: it was pinned right here, and nobody uses it yet.
            unsafe { self.unpin(host) };
            return Err(error);
        }
        Ok(address)
    }

    unsafe fn unpin(&self, host: *mut c_void) {
        let unpin = || call!(self.host_unregister(host));
        let _ = unpin();
    }

    fn stream(&self) -> Result<usize, GpuError> {
        let mut stream: Handle = ptr::null_mut();
        call!(self.stream_create(&raw mut stream, code::NON_BLOCKING))?;
        Ok(stream.expose_provenance())
    }

    unsafe fn drop_stream(&self, stream: usize) {
        let destroy = || call!(self.stream_destroy(opaque(stream)));
        let _ = destroy();
    }

    unsafe fn finish(&self, stream: usize) -> Result<(), GpuError> {
        call!(self.stream_synchronize(opaque(stream)))
    }

    unsafe fn hold(&self, stream: usize, address: u64, value: u32) -> Result<(), GpuError> {
        call!(self.stream_wait_value(opaque(stream), address, value, code::WAIT_GEQ))
    }

    fn event(&self) -> Result<usize, GpuError> {
        let mut event: Handle = ptr::null_mut();
        call!(self.event_create(&raw mut event, 0))?;
        Ok(event.expose_provenance())
    }

    unsafe fn drop_event(&self, event: usize) {
        let destroy = || call!(self.event_destroy(opaque(event)));
        let _ = destroy();
    }

    unsafe fn record(&self, event: usize, stream: usize) -> Result<(), GpuError> {
        call!(self.event_record(opaque(event), opaque(stream)))
    }

    unsafe fn elapsed_ns(&self, from: usize, to: usize) -> Result<f64, GpuError> {
        let mut milliseconds = 0.0_f32;
        call!(self.event_elapsed(&raw mut milliseconds, opaque(from), opaque(to)))?;
        Ok(f64::from(milliseconds) * 1e6)
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize, stream: usize) -> Result<(), GpuError> {
        call!(self.copy(to, from, bytes, opaque(stream)))
    }

    unsafe fn copy_between(
        &self,
        to: (Context, u64),
        from: (Context, u64),
        bytes: usize,
        stream: usize,
    ) -> Result<(), GpuError> {
        call!(self.copy_peer(to.1, opaque(to.0), from.1, opaque(from.0), bytes, opaque(stream)))
    }

    unsafe fn set(&self, at: u64, value: u8, bytes: usize, stream: usize) -> Result<(), GpuError> {
        call!(self.set(at, value, bytes, opaque(stream)))
    }

    fn load(&self, text: &CStr) -> Result<usize, GpuError> {
        let mut module: Handle = ptr::null_mut();
        let mut log = vec![0 as c_char; LOG_BYTES];
        let mut names = [code::JIT_ERROR_LOG, code::JIT_ERROR_LOG_BYTES];
        // The size is passed in the place of a pointer (CUDA Driver API, cuModuleLoadDataEx).
        let mut values = [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        let loaded = call!(self.module_load(
            &raw mut module,
            text.as_ptr().cast(),
            2,
            names.as_mut_ptr(),
            values.as_mut_ptr()
        ));
        match loaded {
            Ok(()) => Ok(module.expose_provenance()),
            Err(GpuError::Refused { call, code, name, text: said, fault }) => {
                let log = self::text(&log);
                let first =
                    log.lines().find(|line| !line.trim().is_empty()).unwrap_or(&said).trim().to_owned();
                // Other devices take this text, so that an invalid image means a driver that does not understand it.
                let fault = if code == 200 { GpuFault::CodeRefused } else { fault };
                Err(GpuError::Refused { call, code, name, text: first, fault })
            }
            Err(error) => Err(error),
        }
    }

    unsafe fn unload(&self, module: usize) {
        let unload = || call!(self.module_unload(opaque(module)));
        let _ = unload();
    }

    unsafe fn function(&self, module: usize, name: &CStr) -> Result<usize, GpuError> {
        let mut function: Handle = ptr::null_mut();
        call!(self.module_function(&raw mut function, opaque(module), name.as_ptr()))?;
        Ok(function.expose_provenance())
    }

    unsafe fn allow_shared(&self, function: usize, bytes: u32) -> Result<(), GpuError> {
        call!(self.function_attribute(opaque(function), code::MOST_DYNAMIC_SHARED_BYTES, bytes as c_int))
    }

    unsafe fn launch(
        &self,
        function: usize,
        (blocks, threads, shared): (u32, u32, u32),
        arguments: &mut [*mut c_void],
        stream: usize,
    ) -> Result<(), GpuError> {
        call!(self.launch(
            opaque(function),
            blocks,
            1,
            1,
            threads,
            1,
            1,
            shared,
            opaque(stream),
            arguments.as_mut_ptr(),
            ptr::null_mut()
        ))
    }

    fn reaches(&self, device: u32, peer: u32) -> Result<bool, GpuError> {
        let (device, peer) = (self.handle(device)?, self.handle(peer)?);
        let mut can = 0;
        call!(self.can_access_peer(&raw mut can, device, peer))?;
        Ok(can != 0)
    }

    fn reach(&self, peer: Context) -> Result<(), GpuError> {
        call!(self.enable_peer(opaque(peer), 0))
    }
}
