//! A node to plan on, for tests.

use seatrial_model::machine::{Cache, Caches, Known, Machine, Memory};
use seatrial_model::{Site, SiteNode};

/// Eight cores with 32 MiB of cache and 64 GiB of memory.
pub fn machine() -> Machine {
    let cache = Cache { level: 3, size_bytes: 32 << 20, cpus: (0..16).collect(), ..Cache::default() };
    Machine {
        caches: Caches { instances: vec![cache], ..Caches::default() },
        memory: Memory { effective_available_bytes: Known::Known(64 << 30), ..Memory::default() },
        ..seatrial_testkit::eight_cores("n1", Vec::new()).machine
    }
}

pub fn site() -> Site {
    Site { nodes: vec![SiteNode::new("n1", machine())] }
}
