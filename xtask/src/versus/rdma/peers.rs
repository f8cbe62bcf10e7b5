//! The peers' side: a server for each turn, and a client on this machine whose output is read.

use std::cell::Cell;
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::{SECONDS, read};
use crate::versus::Work;
use crate::versus::network::read::qperf_latency;
use crate::versus::network::server::Server;

/// A client that does not end is ended after so many seconds.
const LIMIT_SECONDS: &str = "60";

/// Where the guest, or the only interface of a small machine, has its address; rdma_cm finds the device by it.
const ADDRESS: &str = "10.78.0.1";

thread_local! {
    /// The port of the next turn: the last one's may still be waiting to close.
    static PORT: Cell<u16> = const { Cell::new(18_600) };
}

fn port() -> u16 {
    PORT.with(|port| {
        port.set(if port.get() > 28_000 { 18_600 } else { port.get() + 1 });
        port.get()
    })
}

/// Runs `program` as a server and as a client; what the client wrote.
fn pair(program: &str, options: &[String]) -> Result<String> {
    let port = port();
    let command = |program: &str| {
        let mut command = Command::new(program);
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    };
    let all = |command: &mut Command| {
        command.args(["-p", &port.to_string()]).args(options);
    };
    let mut server = command(program);
    all(&mut server);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Server::start(server, "tcp", port)?;
    let mut client = command("timeout");
    client.args(["--kill-after=5", LIMIT_SECONDS, program]);
    all(&mut client);
    client.arg("127.0.0.1");
    output(client)
}

fn output(mut client: Command) -> Result<String> {
    let output = client.output().context("cannot start the peer")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the peer ended with {}: {said} {text}", output.status);
    Ok(text)
}

/// `-F`: a clock that changes is no reason to end. `-D`: by time, as ours.
fn options(device: &str, more: &[&str]) -> Vec<String> {
    let own = ["-d", device, "-F"];
    own.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

/// perftest's average, in Gbit/s. It counts the whole time only when it has no margins to leave out.
pub fn bandwidth(device: &Rc<str>, program: &'static str, size: u32) -> Work {
    let (size, seconds) = (size.to_string(), SECONDS.to_string());
    let options = options(device, &["-s", &size, "-D", &seconds, "-f", "0", "--report_gbits", "-t", "128"]);
    Box::new(move || read::average(&pair(program, &options)?))
}

/// perftest's typical latency, which is the median, in microseconds.
pub fn typical(device: &Rc<str>, program: &'static str) -> Work {
    let options = options(device, &["-s", "2", "-n", "1000"]);
    Box::new(move || read::typical(&pair(program, &options)?))
}

/// perftest's rate of atomics, in millions a second.
pub fn atomics(device: &Rc<str>) -> Work {
    let seconds = SECONDS.to_string();
    let options =
        options(device, &["-A", "FETCH_AND_ADD", "-D", &seconds, "-f", "0", "-t", "16", "-o", "16"]);
    Box::new(move || read::rate(&pair("ib_atomic_bw", &options)?))
}

/// qperf, which is a peer where it gets a connection at all.
pub struct Peer;

impl Peer {
    /// Whether a test of qperf ends with a figure here.
    pub fn qperf_works(test: &str) -> bool {
        let told = one_of_qperf(test);
        if let Err(error) = &told {
            eprintln!("left out: qperf {test}: {error:#}");
        }
        told.is_ok()
    }
}

/// The mean latency by qperf, in microseconds: half a round trip, or the whole of a read.
pub fn qperf(test: &'static str) -> Work {
    Box::new(move || one_of_qperf(test))
}

fn one_of_qperf(test: &str) -> Result<f64> {
    let port = port();
    let listen = port.to_string();
    let mut server = Command::new("qperf");
    server.args(["-lp", &listen]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Server::start(server, "tcp", port)?;
    let mut client = Command::new("timeout");
    let seconds = SECONDS.to_string();
    client.args([
        "--kill-after=5",
        LIMIT_SECONDS,
        "qperf",
        ADDRESS,
        "-lp",
        &listen,
        "-cm1",
        "-t",
        &seconds,
        test,
    ]);
    qperf_latency(&output(client)?)
}
