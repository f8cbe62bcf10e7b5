//! The network: a bridge in the head's namespace, a veth pair to each node. The machine's own network sees nothing of it.

use anyhow::Result;

use super::call::fed;
use super::space::in_network;
use super::state::{Host, Lab};

/// The frame size of a healthy lab, in bytes.
pub const MTU: u32 = 9000;

/// A node's interface. Its other end, in the head's namespace, has the name of the node.
pub const INTERFACE: &str = "eth0";

/// Makes bridge and links, and brings all up.
///
/// # Errors
/// When the kernel refuses one of them.
pub fn connect(lab: &Lab) -> Result<()> {
    let head = &lab.head;
    // A bridge has the lowest address of its ports unless it is given one, and then changes it with every port.
    let mut lines = format!(
        "link set lo up\n\
         link add br0 address {} mtu {MTU} type bridge\n\
         addr add {}/24 dev br0\n\
         link set br0 up\n",
        hardware_address(254),
        head.address
    );
    for (node, number) in lab.nodes.iter().zip(1..) {
        let (name, pid) = (&node.name, node.holder()?.pid);
        let address = hardware_address(number);
        lines += &format!(
            "link add {name} mtu {MTU} type veth peer name {INTERFACE} address {address} mtu {MTU} netns {pid}\n\
             link set {name} master br0 up\n"
        );
    }
    ip(head, &lines)?;
    for node in &lab.nodes {
        ip(
            node,
            &format!(
                "link set lo up\naddr add {}/24 dev {INTERFACE}\nlink set {INTERFACE} up\n",
                node.address
            ),
        )?;
    }
    Ok(())
}

/// Has ip(8) work on `lines` in the network of `host`.
///
/// # Errors
/// When it stops at one; says which.
pub fn ip(host: &Host, lines: &str) -> Result<()> {
    fed(in_network(host, "ip")?.args(["-batch", "-"]), lines).map(drop)
}

/// Locally administered, and the same in every lab.
fn hardware_address(number: u32) -> String {
    format!("02:77:00:00:00:{number:02x}")
}
