//! NUMA policy of a mapping.
#![expect(unsafe_code, reason = "mbind, which neither libc nor rustix wraps")]

use rustix::io::Errno;

const MPOL_BIND: libc::c_int = 2;
const MPOL_LOCAL: libc::c_int = 4;
/// More nodes than any kernel is built for (`MAX_NUMNODES` is at most 1024).
const MAX_NODE: u32 = 4095;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Place {
    /// The node of the CPU that touches them first, whatever policy the process was started under.
    #[default]
    Local,
    Node(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A sandbox forbids the call, as container runtimes do without `CAP_SYS_NICE`.
    #[error("{call}: {errno}; a container or security module forbids it")]
    Denied { call: &'static str, errno: Errno },
    #[error("{call}: the kernel does not have this call")]
    Unsupported { call: &'static str },
    /// The node does not exist, has no memory, or is outside the cpuset.
    #[error("{call}: node {node} has no memory that this process may use")]
    NoSuchNode { call: &'static str, node: u32 },
    #[error("{call}: {errno}")]
    Other { call: &'static str, errno: Errno },
}

impl PolicyError {
    pub(super) fn new(call: &'static str, node: Option<u32>, errno: Errno) -> Self {
        match (errno, node) {
            (Errno::PERM | Errno::ACCESS, _) => Self::Denied { call, errno },
            (Errno::NOSYS, _) => Self::Unsupported { call },
            (Errno::INVAL, Some(node)) => Self::NoSuchNode { call, node },
            _ => Self::Other { call, errno },
        }
    }
}

pub(super) fn bind(memory: &[u8], place: Place) -> Result<(), PolicyError> {
    let (mode, mask, node) = match place {
        Place::Local => (MPOL_LOCAL, Vec::new(), None),
        Place::Node(node) if node > MAX_NODE => {
            return Err(PolicyError::NoSuchNode { call: "mbind", node });
        }
        Place::Node(node) => {
            let mut mask = vec![0u64; node as usize / 64 + 1];
            mask[node as usize / 64] = 1 << (node % 64);
            (MPOL_BIND, mask, Some(node))
        }
    };
    // The kernel uses one bit less than the length says (get_nodes() in mm/mempolicy.c).
    let bits = if mask.is_empty() { 0 } else { mask.len() * 64 + 1 };
    // SAFETY: the range is mapped and ours, the mask holds `bits - 1` bits, and a policy changes no content.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            memory.as_ptr(),
            memory.len(),
            mode,
            if mask.is_empty() { std::ptr::null() } else { mask.as_ptr() },
            bits,
            0,
        )
    };
    if rc == 0 {
        return Ok(());
    }
    let errno = crate::last_errno();
    Err(PolicyError::new("mbind", node, errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_the_kernel_s_answers() {
        let error = |node, errno| PolicyError::new("mbind", node, errno);
        assert!(matches!(error(Some(1), Errno::PERM), PolicyError::Denied { .. }));
        assert!(matches!(error(Some(1), Errno::NOSYS), PolicyError::Unsupported { .. }));
        assert!(matches!(error(Some(1), Errno::INVAL), PolicyError::NoSuchNode { node: 1, .. }));
        assert!(matches!(error(None, Errno::INVAL), PolicyError::Other { .. }));
    }
}
