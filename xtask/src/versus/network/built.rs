//! Peers that are built from source: neper and netperf.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::nodes::{Nodes, Way};
use super::peers::output;
use super::server::Server;
use super::{SECONDS, Work};
use crate::versus::peer::{AUTOTOOLS, GCC, GIT, MAKE, Peer};

/// Streams and round trips by epoll.
pub const NEPER: Peer = Peer {
    name: "neper",
    area: "network",
    url: "https://github.com/google/neper",
    commit: "ea5890fe25abb349342ef48162fe90c4e6f39c35",
    packages: &[GCC, GIT, MAKE],
    build: "make tcp_stream tcp_rr",
    programs: &["tcp_stream", "tcp_rr"],
};

/// Streams and round trips by blocking calls. Its licence keeps the package out of Debian's main archive.
pub const NETPERF: Peer = Peer {
    name: "netperf",
    area: "network",
    url: "https://github.com/HewlettPackard/netperf",
    commit: "afc51ff9764741da4ed6702651fba9d9c23f8557",
    packages: AUTOTOOLS,
    // Its sources define variables in headers, which gcc 10 and later refuse without the option.
    build: "./autogen.sh && ./configure --quiet CFLAGS='-O2 -fcommon' && make --quiet -C src netperf netserver",
    programs: &["src/netperf", "src/netserver"],
};

/// Bytes of a call of both sides: what `net.tcp_stream` has by default.
const MESSAGE: &str = "131072";

/// Payload that neper's `tcp_stream` moves with a thread a flow, in Gbit/s.
pub fn neper_stream(nodes: &Rc<Nodes>, way: Way, flows: u32) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let count = flows.to_string();
        let options = ["-F", &count, "-T", &count, "-B", MESSAGE];
        let text = neper(&nodes, way, flows as usize, "tcp_stream", &options)?;
        // In bit/s, as its receiver counts.
        Ok(value(&text, "remote_throughput")? / 1e9)
    })
}

/// The mean round trip of 1 B by neper's `tcp_rr`, in microseconds: what its rate says when one follows the other.
pub fn neper_round_trip(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || round_trip(value(&neper(&nodes, way, 1, "tcp_rr", &[])?, "throughput")?))
}

fn neper(nodes: &Nodes, way: Way, threads: usize, program: &str, options: &[&str]) -> Result<String> {
    let (program, port) = (NEPER.program(program)?, nodes.ports());
    let program = program.to_str().context("neper's path is no UTF-8")?;
    let (control, data) = (port.to_string(), (port + 1).to_string());
    let seconds = SECONDS.to_string();
    let both = [&["-C", &control, "-P", &data, "-l", &seconds, "--nolog"], options].concat();
    let mut server = nodes.server(way, threads, program)?;
    server.args(&both);
    let _server = Server::start(server, "tcp", port)?;
    let mut client = nodes.client(threads, program)?;
    client.args(["-c", "-H", way.address()]).args(&both);
    output(client)
}

/// Payload that netperf's TCP_STREAM moves in one flow, in Gbit/s.
pub fn netperf_stream(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let options = ["-m", MESSAGE, "-M", MESSAGE, "-k", "REMOTE_RECV_THROUGHPUT"];
        Ok(value(&netperf(&nodes, way, "TCP_STREAM", &options)?, "REMOTE_RECV_THROUGHPUT")? / 1e3)
    })
}

/// The mean round trip of 1 B by netperf's TCP_RR, in microseconds.
pub fn netperf_round_trip(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let options = ["-r", "1,1", "-k", "TRANSACTION_RATE"];
        round_trip(value(&netperf(&nodes, way, "TCP_RR", &options)?, "TRANSACTION_RATE")?)
    })
}

fn netperf(nodes: &Nodes, way: Way, test: &str, options: &[&str]) -> Result<String> {
    let (client, server) = (NETPERF.program("src/netperf")?, NETPERF.program("src/netserver")?);
    let path = |file: &Path| file.to_str().map(str::to_owned).context("netperf's path is no UTF-8");
    let port = nodes.ports();
    let (number, seconds) = (port.to_string(), SECONDS.to_string());
    let mut listener = nodes.server(way, 1, &path(&server)?)?;
    listener.args(["-D", "-4", "-p", &number]);
    let _server = Server::start(listener, "tcp", port)?;
    let mut asker = nodes.client(1, &path(&client)?)?;
    asker.args(["-4", "-H", way.address(), "-p", &number, "-l", &seconds, "-t", test, "-P", "0", "--"]);
    asker.args(options);
    output(asker)
}

fn round_trip(a_second: f64) -> Result<f64> {
    ensure!(a_second > 0.0, "no round trips");
    Ok(1e6 / a_second)
}

/// The number behind `name=` in a line of its own.
fn value(text: &str, name: &str) -> Result<f64> {
    let found = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
    let found = found.with_context(|| format!("no {name} in: {text}"))?;
    found.trim().parse().with_context(|| format!("{name}={found} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_lines_of_their_own() {
        let text = "correlation_coefficient=1.00\nremote_throughput=21.5\nthroughput=43.25\n";
        assert_eq!(value(text, "throughput").unwrap(), 43.25);
        assert_eq!(value(text, "remote_throughput").unwrap(), 21.5);
        assert!(value(text, "latency_mean").is_err() && value("a=b", "a").is_err());
        assert_eq!(round_trip(50_000.0).unwrap(), 20.0);
        assert!(round_trip(0.0).is_err());
    }
}
