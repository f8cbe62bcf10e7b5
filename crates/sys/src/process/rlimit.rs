//! Resource limits of this process (getrlimit(2)).

use rustix::io::Errno;
use rustix::process::{Rlimit, getrlimit, setrlimit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Locked memory in bytes, with memory registered by network or GPU drivers.
    LockedMemory,
    OpenFiles,
    CoreDump,
    AddressSpace,
    Threads,
}

/// A resource limit; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub soft: Option<u64>,
    pub hard: Option<u64>,
}

pub fn limit(resource: Resource) -> Limit {
    let Rlimit { current, maximum } = getrlimit(kernel(resource));
    Limit { soft: current, hard: maximum }
}

/// Sets the soft limit; EINVAL above the hard limit.
pub fn set_soft_limit(resource: Resource, soft: Option<u64>) -> Result<(), Errno> {
    let hard = limit(resource).hard;
    setrlimit(kernel(resource), Rlimit { current: soft, maximum: hard })
}

const fn kernel(resource: Resource) -> rustix::process::Resource {
    match resource {
        Resource::LockedMemory => rustix::process::Resource::Memlock,
        Resource::OpenFiles => rustix::process::Resource::Nofile,
        Resource::CoreDump => rustix::process::Resource::Core,
        Resource::AddressSpace => rustix::process::Resource::As,
        Resource::Threads => rustix::process::Resource::Nproc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_the_soft_limit_and_keeps_the_hard_one() {
        let before = limit(Resource::CoreDump);
        set_soft_limit(Resource::CoreDump, Some(0)).expect("lowering is always allowed");
        assert_eq!(limit(Resource::CoreDump), Limit { soft: Some(0), ..before });
        set_soft_limit(Resource::CoreDump, before.soft).expect("raising up to the hard one too");
        assert_eq!(limit(Resource::CoreDump), before);
    }

    #[test]
    fn cannot_pass_the_hard_limit() {
        let Limit { hard: Some(hard), .. } = limit(Resource::OpenFiles) else { return };
        assert_eq!(set_soft_limit(Resource::OpenFiles, Some(hard + 1)), Err(Errno::INVAL));
    }
}
