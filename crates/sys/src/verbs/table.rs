//! The libibverbs functions that Seatrial uses.
#![expect(unsafe_code, reason = "makes functions of addresses")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;

use super::VerbsError;
use super::abi::{
    AhAttr, AsyncEvent, CompChannel, Context, Cq, DeviceAttr, Mr, Opaque, PortAttr, Qp, QpAttr, QpInitAttr,
};
use crate::library::Library;

/// The name of every version since 2006.
const NAME: &str = "libibverbs.so.1";

/// Registers memory at a chosen address, with optional flags (IBVERBS_1.8, 2020).
pub type RegMrIova2 = unsafe extern "C" fn(Opaque, *mut c_void, usize, u64, c_uint) -> *mut Mr;

/// Declares the table and its loader. All of these functions exist since IBVERBS_1.1 (2006).
macro_rules! functions {
    ($($field:ident: fn($($arg:ty),*) $(-> $answer:ty)?;)+) => {
        #[derive(Debug)]
        pub struct Table {
            $(pub $field: unsafe extern "C" fn($($arg),*) $(-> $answer)?,)+
            pub ibv_reg_mr_iova2: Option<RegMrIova2>,
            _library: Library,
        }

        impl Table {
            fn load(library: Library) -> Result<Self, VerbsError> {
                Ok(Self {
                    $($field: {
                        let address = address(&library, concat!(stringify!($field), "\0"))
                            .ok_or(VerbsError::TooOld { symbol: stringify!($field) })?;
                        // SAFETY: the address is that of the function of this name, whose type is written here as its
                        // header declares it.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) $(-> $answer)?>(address)
                        }
                    },)+
                    ibv_reg_mr_iova2: address(&library, "ibv_reg_mr_iova2\0").map(|address| {
                        // SAFETY: as above.
                        unsafe { std::mem::transmute::<*mut c_void, RegMrIova2>(address) }
                    }),
                    _library: library,
                })
            }
        }
    };
}

functions! {
    ibv_get_device_list: fn(*mut c_int) -> *mut Opaque;
    ibv_free_device_list: fn(*mut Opaque);
    ibv_get_device_name: fn(Opaque) -> *const c_char;
    ibv_get_device_guid: fn(Opaque) -> u64;
    ibv_open_device: fn(Opaque) -> *mut Context;
    ibv_close_device: fn(*mut Context) -> c_int;
    ibv_query_device: fn(*mut Context, *mut DeviceAttr) -> c_int;
    ibv_query_port: fn(*mut Context, u8, *mut PortAttr) -> c_int;
    ibv_get_async_event: fn(*mut Context, *mut AsyncEvent) -> c_int;
    ibv_ack_async_event: fn(*mut AsyncEvent);
    ibv_alloc_pd: fn(*mut Context) -> Opaque;
    ibv_dealloc_pd: fn(Opaque) -> c_int;
    ibv_reg_mr: fn(Opaque, *mut c_void, usize, c_int) -> *mut Mr;
    ibv_dereg_mr: fn(*mut Mr) -> c_int;
    ibv_create_comp_channel: fn(*mut Context) -> *mut CompChannel;
    ibv_destroy_comp_channel: fn(*mut CompChannel) -> c_int;
    ibv_create_cq: fn(*mut Context, c_int, Opaque, *mut CompChannel, c_int) -> *mut Cq;
    ibv_destroy_cq: fn(*mut Cq) -> c_int;
    ibv_get_cq_event: fn(*mut CompChannel, *mut *mut Cq, *mut Opaque) -> c_int;
    ibv_ack_cq_events: fn(*mut Cq, c_uint);
    ibv_create_qp: fn(Opaque, *mut QpInitAttr) -> *mut Qp;
    ibv_modify_qp: fn(*mut Qp, *mut QpAttr, c_int) -> c_int;
    ibv_query_qp: fn(*mut Qp, *mut QpAttr, c_int, *mut QpInitAttr) -> c_int;
    ibv_destroy_qp: fn(*mut Qp) -> c_int;
    ibv_attach_mcast: fn(*mut Qp, *const [u64; 2], u16) -> c_int;
    ibv_detach_mcast: fn(*mut Qp, *const [u64; 2], u16) -> c_int;
    ibv_create_ah: fn(Opaque, *mut AhAttr) -> Opaque;
    ibv_destroy_ah: fn(Opaque) -> c_int;
}

impl Table {
    pub fn open() -> Result<Self, VerbsError> {
        Self::load(Library::open(NAME)?)
    }

    pub fn open_at(path: &Path) -> Result<Self, VerbsError> {
        Self::load(Library::open_at(path)?)
    }
}

/// The address of a function; `symbol` ends with a zero byte. Most functions exist twice; dlsym(3) returns the
/// default version, not the IBVERBS_1.0 one for programs of before 2006.
fn address(library: &Library, symbol: &str) -> Option<*mut c_void> {
    let symbol = CStr::from_bytes_with_nul(symbol.as_bytes()).ok()?;
    library.first(&[symbol]).map(std::ptr::NonNull::as_ptr)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_library_is_named_by_what_it_lacks() {
        let libc = Library::open("libc.so.6").expect("the C library");
        let error = Table::load(libc).expect_err("it is another");
        assert_eq!(error, VerbsError::TooOld { symbol: "ibv_get_device_list" });
    }
}
