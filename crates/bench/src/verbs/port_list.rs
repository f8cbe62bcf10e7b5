//! How ports are written: `mlx5_0/1`, and lists of them.

use seatrial_model::Case;

/// What stands between the ports of a list. A comma on the command line would be a sweep over several values.
pub const PLUS: char = '+';

/// A list as it is written.
pub fn joined(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join("+")
}

/// Device and port of `mlx5_0/1`.
pub fn parse(label: &str) -> Option<(&str, u8)> {
    let (device, port) = label.rsplit_once('/')?;
    Some((device, port.parse().ok().filter(|port| *port > 0)?)).filter(|_| !device.is_empty())
}

/// The ports of the part at `index`, as the plan has noted them.
pub fn ports_of(case: &Case, index: u32) -> Option<Vec<&str>> {
    let text = case.planned.text(PORTS[index.min(1) as usize]).ok()?;
    Some(text.split(PLUS).collect())
}

/// Under what name the plan notes the port of the first end.
pub const PORT: &str = "port";

/// The same of the second end.
pub const PEER_PORT: &str = "peer_port";

/// The names of both, by end.
pub const PORTS: [&str; 2] = [PORT, PEER_PORT];
