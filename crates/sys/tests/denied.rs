//! Mappings where a sandbox forbids the NUMA calls, as container runtimes do: a real seccomp filter on a thread.
#![expect(unsafe_code, reason = "installs a seccomp filter")]

use seatrial_sys::Errno;
use seatrial_sys::memory::{MapError, MapRequest, Mapping, Pages, Place, PolicyError};
use std::thread;

/// Makes mbind and move_pages fail with `errno` on this thread from now on (seccomp(2), thread scope).
fn forbid(errno: Errno) {
    const fn op(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
        libc::sock_filter { code: code as u16, jt, jf, k }
    }
    let load_number = op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let is = |call: libc::c_long, to: u8| op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to, 0, call as u32);
    let answer = |action: u32| op(libc::BPF_RET | libc::BPF_K, 0, 0, action);
    let mut filter = [
        load_number,
        is(libc::SYS_mbind, 2),
        is(libc::SYS_move_pages, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_ERRNO | errno.raw_os_error().unsigned_abs()),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live through the calls; the kernel copies them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program), 0);
    }
}

fn forbidden<T: Send + 'static>(errno: Errno, act: impl FnOnce() -> T + Send + 'static) -> T {
    let confined = thread::spawn(move || {
        forbid(errno);
        act()
    });
    confined.join().expect("joined")
}

const fn request(place: Place) -> MapRequest<'static> {
    MapRequest { bytes: 4096, cap_bytes: 4096, pages: &[Pages::Base], place }
}

#[test]
fn binding_to_a_node_fails_as_denied() {
    let error = forbidden(Errno::PERM, || Mapping::map(&request(Place::Node(0)))).expect_err("denied");
    assert_eq!(error, MapError::Policy(PolicyError::Denied { call: "mbind", errno: Errno::PERM }));
}

#[test]
fn a_kernel_without_numa_is_told_apart() {
    let error = forbidden(Errno::NOSYS, || Mapping::map(&request(Place::Node(0)))).expect_err("unsupported");
    assert_eq!(error, MapError::Policy(PolicyError::Unsupported { call: "mbind" }));
}

#[test]
fn local_memory_is_had_and_what_was_denied_is_noted() {
    let (unbound, placement) = forbidden(Errno::PERM, || {
        let mapping = Mapping::map(&request(Place::Local)).expect("mapped");
        (mapping.unbound(), mapping.placement(None))
    });
    assert_eq!(unbound, Some(PolicyError::Denied { call: "mbind", errno: Errno::PERM }));
    assert_eq!(placement, Err(PolicyError::Denied { call: "move_pages", errno: Errno::PERM }));
}
