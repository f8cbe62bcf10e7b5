//! uperf, built from source: its profiles are XML, and a turn writes its own.

use std::io::Write;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::nodes::{Nodes, Way};
use super::peers::output;
use super::server::Server;
use super::{SECONDS, Work};
use crate::versus::peer::{AUTOTOOLS, Peer};

pub const UPERF: Peer = Peer {
    name: "uperf",
    area: "network",
    url: "https://github.com/uperf/uperf",
    commit: "c93e902e765371af7c2971a503f7eadfc2db01d8",
    packages: AUTOTOOLS,
    build: "autoreconf -fi && ./configure --quiet --disable-sctp --disable-ssl --disable-vsock && make --quiet -C src uperf",
    programs: &["src/uperf"],
};

/// What goes from one end to the other in a round, one element a line: its parser takes no two.
const STREAM: &str = r#"<flowop type="write" options="size=128k"/>"#;
const ROUND_TRIP: &str =
    "<flowop type=\"write\" options=\"size=1\"/>\n<flowop type=\"read\" options=\"size=1\"/>";

/// Payload of one flow in Gbit/s: what the writing end counts.
pub fn stream(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let told = run(&nodes, way, STREAM)?;
        Ok(8.0 * told.bytes / told.seconds / 1e9)
    })
}

/// The mean round trip of 1 B in microseconds; a write and a read are two operations.
pub fn round_trip(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let told = run(&nodes, way, ROUND_TRIP)?;
        Ok(2e6 * told.seconds / told.operations)
    })
}

/// The transactions of a profile: connect, measure, disconnect.
const MEASURED: &str = "name:Txn2 ";

fn profile(address: &str, round: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<profile name=\"versus\">\n<group nthreads=\"1\">\n\
         <transaction iterations=\"1\">\n<flowop type=\"connect\" options=\"remotehost={address} protocol=tcp tcp_nodelay\"/>\n\
         </transaction>\n<transaction duration=\"{SECONDS}s\">\n{round}\n</transaction>\n\
         <transaction iterations=\"1\">\n<flowop type=\"disconnect\"/>\n</transaction>\n</group>\n</profile>\n"
    )
}

fn run(nodes: &Nodes, way: Way, round: &str) -> Result<Told> {
    let program = UPERF.program("src/uperf")?;
    let program = program.to_str().context("uperf's path is no UTF-8")?;
    let mut file = tempfile::NamedTempFile::new().context("cannot make the profile")?;
    file.write_all(profile(way.address(), round).as_bytes()).context("cannot write the profile")?;
    let port = nodes.ports();
    let number = port.to_string();
    let mut slave = nodes.server(way, 1, program)?;
    slave.args(["-s", "-P", &number]);
    let _slave = Server::start(slave, "tcp", port)?;
    let mut master = nodes.client(1, program)?;
    // Raw numbers with times: the others are rounded to three digits, and their time has the start and the end in it.
    master.args(["-R", "-P", &number, "-m"]).arg(file.path());
    told(&output(master)?)
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    seconds: f64,
    bytes: f64,
    operations: f64,
}

/// From the first to the last line about the measured transaction.
fn told(text: &str) -> Result<Told> {
    let lines = || text.lines().filter(|line| line.contains(MEASURED));
    let (first, last) =
        lines().next().zip(lines().next_back()).with_context(|| format!("no rate in: {text}"))?;
    let number = |line: &str, name: &str| -> Result<f64> {
        let found = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
        let found = found.with_context(|| format!("no {name} in: {line}"))?;
        found.parse().with_context(|| format!("{name}:{found} is no number"))
    };
    let gained = |name: &str| -> Result<f64> { Ok(number(last, name)? - number(first, name)?) };
    let seconds = gained("timestamp_ms")? / 1e3;
    let (bytes, operations) = (gained("nr_bytes")?, gained("nr_ops")?);
    ensure!(seconds > 0.0 && operations > 0.0, "nothing was moved: {text}");
    Ok(Told { seconds, bytes, operations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_counts_from_the_first_to_the_last_line_of_the_transaction() {
        let text = "timestamp_ms:500.5 name:Txn1 nr_bytes:0 nr_ops:1\n\
                    timestamp_ms:1000.25 name:Txn2 nr_bytes:500000 nr_ops:2\n\
                    timestamp_ms:2000.0000 name:Txn2 nr_bytes:1000000 nr_ops:10\n\
                    timestamp_ms:3000.25 name:Txn2 nr_bytes:2500000 nr_ops:20\n\
                    timestamp_ms:4000.0 name:Total nr_bytes:2500000 nr_ops:20\n";
        assert_eq!(told(text).unwrap(), Told { seconds: 2.0, bytes: 2e6, operations: 18.0 });
        assert!(told("timestamp_ms:1.0 name:Txn2 nr_bytes:0 nr_ops:0\n").is_err(), "no time went by");
        assert!(told("Error parsing the profile").is_err());
    }

    #[test]
    fn a_profile_has_one_element_a_line() {
        let profile = profile("10.0.0.1", ROUND_TRIP);
        assert!(
            profile.contains("remotehost=10.0.0.1 ")
                && profile.lines().all(|line| line.matches('<').count() == 1)
        );
    }
}
