//! The peers' side: a server for each turn, ended by its PID, and a client whose output is read.

use std::cell::OnceCell;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::nodes::{CONGESTION, Nodes, Way};
use super::server::Server;
use super::{SECONDS, Stream, Turn, Work, read};

/// Trials of each of iperf3's ways before the first turn.
const TRIALS: usize = 3;

/// Runs a client to its end and returns what it wrote.
pub fn output(mut client: Command) -> Result<String> {
    let output = client.output().context("cannot start the peer")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "it ended with {}: {} {}", output.status, said.trim(), text.trim());
    Ok(text)
}

fn iperf3(nodes: &Nodes, way: Way, threads: usize, options: &[&str]) -> Result<Stream> {
    let port = nodes.ports();
    let number = port.to_string();
    let mut server = nodes.server(way, threads, "iperf3")?;
    server.args(["-s", "-p", &number]);
    let _server = Server::start(server, "tcp", port)?;
    let mut client = nodes.client(threads, "iperf3")?;
    client.args(["-c", way.address(), "-p", &number, "-J", "-t", &SECONDS.to_string()]).args(options);
    read::iperf3(&output(client)?)
}

/// TCP by iperf3 as it comes or with `-Z` (sendfile), whichever is faster: before the first turn both are tried. Pinned where ours
/// with this `affinity` is. The first second, with the slow start, is left out of its rate (`-O`), as it is no part of ours; its
/// CPU time is that of all seconds.
pub fn iperf3_best(nodes: &Rc<Nodes>, way: Way, flows: u32, affinity: &'static str) -> Turn {
    let nodes = Rc::clone(nodes);
    let is_zero_copy: OnceCell<bool> = OnceCell::new();
    let threads = if affinity == "none" { 0 } else { flows as usize };
    Rc::new(move || {
        let flows = flows.to_string();
        let run = |is_zero_copy: bool| {
            let mut options = vec!["-P", &flows, "-C", CONGESTION, "-O", "1"];
            options.extend(is_zero_copy.then_some("-Z"));
            iperf3(&nodes, way, threads, &options)
        };
        let faster = if let Some(known) = is_zero_copy.get() {
            *known
        } else {
            let (mut plain, mut zero) = (Vec::new(), Vec::new());
            for _ in 0..TRIALS {
                plain.push(run(false)?.rate);
                zero.push(run(true)?.rate);
            }
            let faster = read::median(zero) > read::median(plain);
            eprintln!(
                "iperf3, {flows} flows, {way}, affinity {affinity}: {} is faster",
                if faster { "-Z" } else { "its default" }
            );
            *is_zero_copy.get_or_init(|| faster)
        };
        run(faster)
    })
}

/// UDP by iperf3 without a rate.
pub fn iperf3_udp(nodes: &Rc<Nodes>, way: Way) -> Turn {
    let nodes = Rc::clone(nodes);
    Rc::new(move || iperf3(&nodes, way, 1, &["-u", "-b", "0", "-l", "1448"]))
}

/// TCP by nuttcp, which has one thread for all flows.
pub fn nuttcp(nodes: &Rc<Nodes>, way: Way, flows: u32) -> Turn {
    let nodes = Rc::clone(nodes);
    Rc::new(move || {
        let port = nodes.ports();
        let (control, data) = (format!("-P{port}"), format!("-p{}", port + 1));
        let mut server = nodes.server(way, flows as usize, "nuttcp")?;
        server.args(["-S", "--nofork", &control]);
        let _server = Server::start(server, "tcp", port)?;
        let mut client = nodes.client(flows as usize, "nuttcp")?;
        client.args([&control, &data, &format!("-T{SECONDS}"), "-fparse"]);
        if flows > 1 {
            client.arg(format!("-N{flows}"));
        }
        client.arg(way.address());
        read::nuttcp(&output(client)?)
    })
}

/// The median round trip by sockperf in microseconds.
pub fn sockperf(nodes: &Rc<Nodes>, way: Way, protocol: &'static str, wait: &'static str) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let port = nodes.ports();
        let mut both = vec!["-i".to_owned(), way.address().to_owned(), "-p".to_owned(), port.to_string()];
        both.extend((protocol == "tcp").then(|| "--tcp".to_owned()));
        both.extend((wait == "spin").then(|| "--nonblocked".to_owned()));
        let mut server = nodes.server(way, 1, "sockperf")?;
        server.arg("server").args(&both);
        let _server = Server::start(server, protocol, port)?;
        let mut client = nodes.client(1, "sockperf")?;
        client.arg("ping-pong").args(&both).args(["-m", "14", "-t", &SECONDS.to_string()]);
        read::sockperf(&output(client)?)
    })
}

/// The mean round trip by qperf in microseconds.
pub fn qperf(nodes: &Rc<Nodes>, way: Way, protocol: &'static str) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || {
        let port = nodes.ports();
        let listen = port.to_string();
        let mut server = nodes.server(way, 1, "qperf")?;
        server.args(["-lp", &listen]);
        let _server = Server::start(server, "tcp", port)?;
        let mut client = nodes.client(1, "qperf")?;
        client.args(["-lp", &listen, "-ip", &(port + 1).to_string(), "-e", "6", "-m", "1"]);
        client.args(["-t", &SECONDS.to_string(), way.address(), &format!("{protocol}_lat")]);
        read::qperf(&output(client)?)
    })
}

/// The highest throughput by NPtcp in Gbit/s.
pub fn netpipe_peak(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || read::netpipe_peak(&netpipe(&nodes, way, "65536", "8388608")?))
}

/// Half the round trip of small messages by NPtcp, in microseconds.
pub fn netpipe_small(nodes: &Rc<Nodes>, way: Way) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || read::netpipe_small(&netpipe(&nodes, way, "1", "48")?))
}

/// The table that NPtcp writes. The sizes need no perturbation: they are ours without `beside`.
fn netpipe(nodes: &Nodes, way: Way, from: &str, to: &str) -> Result<String> {
    let port = nodes.ports();
    let both = ["-P", &port.to_string(), "-l", from, "-u", to, "-p", "0"].map(str::to_owned);
    let mut server = nodes.server(way, 1, "NPtcp")?;
    // Both ends write a table into the folder they are in.
    let file = std::env::temp_dir().join(format!("versus-netpipe-{}-{port}", std::process::id()));
    let ignored = file.with_extension("server");
    server.args(&both).arg("-o").arg(&ignored);
    let listening = Server::start(server, "tcp", port)?;
    let mut client = nodes.client(1, "NPtcp")?;
    client.args(&both).args(["-h", way.address(), "-o"]).arg(&file);
    let ended = output(client);
    drop(listening);
    let table = std::fs::read_to_string(&file);
    for file in [&file, &ignored] {
        let _ = std::fs::remove_file(file);
    }
    ended?;
    table.context("NPtcp wrote no table")
}
