//! The border to libFuzzer.
#![expect(unsafe_code, reason = "libFuzzer is a library of C++")]

use std::ffi::{CString, c_char, c_int};

use libfuzzer_sys as _;

type Read = extern "C" fn(*const u8, usize) -> c_int;

// SAFETY: as llvm/compiler-rt/lib/fuzzer/FuzzerDriver.cpp declares it.
unsafe extern "C" {
    fn LLVMFuzzerRunDriver(argc: *mut c_int, argv: *mut *mut *mut c_char, read: Read) -> c_int;
}

/// Never called: libfuzzer-sys wants one, of a program that is one target.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
fn rust_fuzzer_test_input(_: &[u8]) -> i32 {
    0
}

/// Hands the process over to libFuzzer; what it wants the process to exit with, where it comes back at all.
pub fn run(args: &[String]) -> c_int {
    let args: Vec<CString> = args.iter().filter_map(|arg| CString::new(arg.as_str()).ok()).collect();
    let mut pointers: Vec<*mut c_char> = args.iter().map(|arg| arg.as_ptr().cast_mut()).collect();
    let mut count = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    let mut pointers = pointers.as_mut_ptr();
    // SAFETY: the function takes no arguments and lives for ever.
    unsafe { libc::atexit(at_exit) };
    // SAFETY: as many pointers to strings as counted, with a null pointer behind them, which outlive the call; libFuzzer
    // only reads them. The function reads no more than it is given.
    unsafe { LLVMFuzzerRunDriver(&raw mut count, &raw mut pointers, read) }
}

extern "C" fn at_exit() {
    super::tell();
}

extern "C" fn read(data: *const u8, size: usize) -> c_int {
    let input = if size == 0 {
        &[]
    } else {
        // SAFETY: libFuzzer promises so many bytes at this place, and leaves them alone while this runs.
        unsafe { std::slice::from_raw_parts(data, size) }
    };
    super::read(input);
    0
}
