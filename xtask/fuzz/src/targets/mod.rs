//! The targets, a file each. What they share is said in `CONTRIBUTING.md`, "Add a fuzz target".

mod evidence;
mod frames;
mod machine;
mod netlink;
mod probes;
mod profile;
mod samples;
mod typed;

use std::sync::LazyLock;

use seatrial_model::{Site, SiteNode};
use seatrial_sys::root::SysRoot;

use crate::Target;

/// All of them; `cargo xtask fuzz` runs them in this order, two at a time.
pub const TARGETS: &[Target] = &[
    evidence::TARGET,
    frames::TARGET,
    machine::TARGET,
    netlink::TARGET,
    probes::TARGET,
    profile::TARGET,
    samples::TARGET,
    typed::TARGET,
];

/// Two nodes of a machine that has some of everything, for what is planned and limited.
fn site() -> Site {
    static SITE: LazyLock<Site> = LazyLock::new(|| {
        let root = SysRoot::of(crate::files::tree(include_bytes!("site.tree")));
        let machine = seatrial_inventory::read(&root);
        let node = |name: &str| SiteNode::new(name, machine.clone());
        Site { nodes: vec![node("n1"), node("n2")] }
    });
    SITE.clone()
}
