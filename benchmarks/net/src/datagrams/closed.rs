//! Errors of datagrams that cannot be sent, or of which none arrives.

use std::net::IpAddr;

use seatrial_model::{Cause, Reason};
use seatrial_sys::Errno;

use super::outbound;
use super::record::Received;

pub fn refused(flow: &outbound::Outbound, error: Errno, message: usize) -> Reason {
    let next = match error {
        Errno::MSGSIZE | Errno::INVAL => {
            format!("; a message of {message} B no longer fits the path MTU, which became smaller")
        }
        Errno::PERM => "; a firewall of this node drops the datagram".to_owned(),
        Errno::NETUNREACH | Errno::NETDOWN | Errno::NODEV | Errno::NXIO => {
            "; the interface is down, or the route is gone".to_owned()
        }
        _ => String::new(),
    };
    let text = format!("sending datagram {} to {}: {error}{next}", flow.sent, flow.to);
    Reason::new(Cause::IoError, text)
}

pub fn nothing(found: &Received, peer: IpAddr) -> Result<(), Reason> {
    let (sent, came) = (found.total(|flow| flow.sent), found.total(|flow| flow.received));
    if sent == 0 || came > 0 {
        return Ok(());
    }
    let (first, last) = (found.flows.first(), found.flows.last());
    let ports = match (first.map(|flow| flow.port), last.map(|flow| flow.port)) {
        (Some(first), Some(last)) if first != last => {
            format!("{} UDP ports from {first} to {last}", found.flows.len())
        }
        (Some(port), _) => format!("UDP port {port}"),
        _ => "no port".to_owned(),
    };
    let interface = found.interface.as_deref().map_or(String::new(), |name| format!(" of {name}"));
    let (drops, foreign) =
        (found.total(|flow| flow.socket_drops.unwrap_or(0)), found.total(|flow| flow.foreign));
    let mut text = format!(
        "none of {sent} datagrams of {} B from {peer} arrived at {ports}{interface}: a firewall lets the control \
         connection through and drops UDP, or the path drops packets of {} B",
        found.message,
        found.message + if peer.is_ipv4() { 28 } else { 48 },
    );
    if drops + foreign > 0 {
        text = format!(
            "{text}; {foreign} datagrams came from other programs, {drops} found the receive buffer full"
        );
    }
    Err(Reason::new(Cause::IoError, text))
}
