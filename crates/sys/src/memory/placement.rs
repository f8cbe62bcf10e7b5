//! NUMA nodes of the pages of a mapping, by move_pages(2).

#![expect(unsafe_code, reason = "move_pages, which neither libc nor rustix wraps")]

use std::collections::BTreeMap;

use rustix::io::Errno;

use super::PolicyError;

const BATCH: usize = 4096;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    pub nodes: BTreeMap<u32, u64>,
    /// Base pages that are not resident: never touched, or swapped out.
    pub absent: u64,
    pub refused: u64,
    /// Base pages of the mapping; more than were queried if only a sample was.
    pub total: u64,
}

impl Placement {
    pub fn asked(&self) -> u64 {
        self.nodes.values().sum::<u64>() + self.absent + self.refused
    }

    /// The fraction of the queried pages on `node`, 0 to 1.
    pub fn share(&self, node: u32) -> f64 {
        let here = self.nodes.get(&node).copied().unwrap_or(0);
        if self.asked() == 0 { 0.0 } else { here as f64 / self.asked() as f64 }
    }

    fn count(&mut self, status: i32) {
        match u32::try_from(status) {
            Ok(node) => *self.nodes.entry(node).or_default() += 1,
            Err(_) if status == -Errno::NOENT.raw_os_error() => self.absent += 1,
            Err(_) => self.refused += 1,
        }
    }
}

/// Queries the node of up to `at_most` pages, spread evenly over `memory` (move_pages(2) with no target nodes).
pub(super) fn of(memory: &[u8], at_most: Option<usize>) -> Result<Placement, PolicyError> {
    let page = rustix::param::page_size();
    let pages = memory.len().div_ceil(page);
    let step = at_most.map_or(1, |most| pages.div_ceil(most.max(1)).max(1));
    let addresses: Vec<*const u8> = memory.chunks(page).step_by(step).map(<[u8]>::as_ptr).collect();
    let mut placement = Placement { total: pages as u64, ..Placement::default() };
    for batch in addresses.chunks(BATCH) {
        let mut status = vec![0i32; batch.len()];
        // SAFETY: both arrays hold `batch.len()` entries; without target nodes the call only writes `status`;
        // pid 0 is this process.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                batch.len(),
                batch.as_ptr(),
                std::ptr::null::<i32>(),
                status.as_mut_ptr(),
                0,
            )
        };
        if rc < 0 {
            let errno = crate::last_errno();
            return Err(PolicyError::new("move_pages", None, errno));
        }
        status.into_iter().for_each(|status| placement.count(status));
    }
    Ok(placement)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_nodes_absence_and_refusal_apart() {
        let mut placement = Placement::default();
        for status in [0, 0, 0, 1, -Errno::NOENT.raw_os_error(), -Errno::FAULT.raw_os_error()] {
            placement.count(status);
        }
        assert_eq!((placement.nodes[&0], placement.nodes[&1]), (3, 1));
        assert_eq!((placement.absent, placement.refused, placement.asked()), (1, 1, 6));
        assert_eq!(placement.share(0), 0.5);
        assert_eq!(Placement::default().share(0), 0.0);
    }
}
