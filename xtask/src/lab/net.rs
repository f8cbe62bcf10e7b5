//! The network: a bridge in the head's namespace, a veth pair to each node, and as much again for each further rail. The machine's own network sees nothing of it.

use anyhow::Result;

use super::call::fed;
use super::space::in_network;
use super::state::{Host, Lab};

/// The frame size of a healthy lab, in bytes.
pub const MTU: u32 = 9000;

/// A node's interface. Its other end, in the head's namespace, has the name of the node.
pub const INTERFACE: &str = "eth0";

/// The most links of a node.
pub const MOST_RAILS: u32 = 4;

/// Makes bridges and links, and brings all up.
///
/// # Errors
/// When the kernel refuses one of them.
pub fn connect(lab: &Lab) -> Result<()> {
    let head = &lab.head;
    let mut lines = "link set lo up\n".to_owned();
    for rail in 0..lab.rails {
        // A bridge has the lowest address of its ports unless it is given one, and then changes it with every port.
        lines += &format!(
            "link add br{rail} address {} mtu {MTU} type bridge\n\
             addr add {}/24 dev br{rail}\n\
             link set br{rail} up\n",
            hardware_address(rail, 254),
            on_rail(&head.address, rail)
        );
        for (node, number) in lab.nodes.iter().zip(1..) {
            let (port, pid) = (port(node, rail), node.holder()?.pid);
            let (name, address) = (interface(rail), hardware_address(rail, number));
            lines += &format!(
                "link add {port} mtu {MTU} type veth peer name {name} address {address} mtu {MTU} netns {pid}\n\
                 link set {port} master br{rail} up\n"
            );
        }
    }
    ip(head, &lines)?;
    for node in &lab.nodes {
        let mut lines = "link set lo up\n".to_owned();
        for rail in 0..lab.rails {
            let (name, address) = (interface(rail), on_rail(&node.address, rail));
            lines += &format!("addr add {address}/24 dev {name}\nlink set {name} up\n");
        }
        ip(node, &lines)?;
    }
    Ok(())
}

/// A node's interface of a rail; of the first it is [`INTERFACE`].
fn interface(rail: u32) -> String {
    format!("eth{rail}")
}

/// The bridge's end of it: the name of the node, behind it the rail where it is not the first.
fn port(node: &Host, rail: u32) -> String {
    if rail == 0 { node.name.clone() } else { format!("{}-{rail}", node.name) }
}

/// A host's address on a rail: the third number of four.
fn on_rail(address: &str, rail: u32) -> String {
    let numbers: Vec<&str> = address.split('.').collect();
    match numbers.as_slice() {
        [first, second, _, fourth] => format!("{first}.{second}.{rail}.{fourth}"),
        _ => address.to_owned(),
    }
}

/// Has ip(8) work on `lines` in the network of `host`.
///
/// # Errors
/// When it stops at one; says which.
pub fn ip(host: &Host, lines: &str) -> Result<()> {
    fed(in_network(host, "ip")?.args(["-batch", "-"]), lines).map(drop)
}

/// Locally administered, and the same in every lab.
fn hardware_address(rail: u32, number: u32) -> String {
    format!("02:77:00:00:{rail:02x}:{number:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_have_networks_of_their_own_and_the_first_is_as_without_rails() {
        assert_eq!([0, 1].map(|rail| on_rail("10.77.0.254", rail)), ["10.77.0.254", "10.77.1.254"]);
        assert_eq!((interface(0).as_str(), interface(1).as_str()), (INTERFACE, "eth1"));
        assert_eq!(hardware_address(0, 1), "02:77:00:00:00:01");
    }
}
