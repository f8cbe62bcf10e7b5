//! The peers' side: a server for each turn, and a client on this machine whose output is read.

use std::cell::Cell;
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow};
use seatrial_sys::cpuset::CpuSet;

use super::{SECONDS, device, read};
use crate::versus::Work;
use crate::versus::cores::cores;
use crate::versus::network::peers::output;
use crate::versus::network::read as read_qperf;
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

/// Runs `program` as a server on `port` and as a client, with these options, on a CPU of its own each, as our ends are; what the
/// client wrote. Left to the scheduler they meet on one CPU now and then, which on a device that software plays makes some rounds
/// faster by half.
fn pair(program: &str, port: u16, server: &[&str], client: &[&str]) -> Result<String> {
    let [server_cpu, client_cpu] = cpus(&device()?)?;
    let command = |cpu: u32, limit: &[&str], options: &[&str]| {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string()]).args(limit).arg(program).args(options);
        command.env("LC_ALL", "C").stdin(Stdio::null());
        command
    };
    let mut server = command(server_cpu, &[], server);
    server.stdout(Stdio::null()).stderr(Stdio::null());
    let _server = Server::start(server, "tcp", port)?;
    output(command(client_cpu, &["timeout", "--kill-after=5", LIMIT_SECONDS], client))
}

/// Two cores next to the device, as it tells, of each its first CPU; where it does not, of those that this process may use.
fn cpus(device: &str) -> Result<[u32; 2]> {
    let near = std::fs::read_to_string(format!("/sys/class/infiniband/{device}/device/local_cpulist"));
    let near = near.ok().and_then(|list| list.trim().parse::<CpuSet>().ok()).unwrap_or_default();
    let mut each = cores(&near)?;
    each.truncate(2);
    each.try_into().map_err(|_| anyhow!("two cores are needed, one for each end"))
}

/// perftest's `program` on the device. `-F`: a clock that changes is no reason to end.
fn perftest(program: &str, more: &[&str]) -> Result<String> {
    let (device, port) = (device()?, port());
    let number = port.to_string();
    let both = [&["-p", number.as_str(), "-d", device.as_str(), "-F"][..], more].concat();
    let client = [both.as_slice(), &["127.0.0.1"]].concat();
    pair(program, port, &both, &client)
}

/// perftest's average, in Gbit/s. It counts the whole time only when it has no margins to leave out (`-f 0`).
///
/// By time (`-D`), as ours. What it counts are the completions that it saw until an alarm ended its window (`run_iter_bw` and
/// `catch_alarm` of `perftest_resources.c`, 4.5), so that a device that stands still for all of it makes a rate of 0; that
/// turn is none, and its round is taken again. A number of messages (`-n`) never gives 0, but the one that lasts as long as
/// ours would have to be found for every device, and a shorter run meets fewer of the moments in which soft-RoCE waits for
/// its timer: of 500 messages it told 0.23 to 0.35 Gbit/s where 2 s told 0.10 to 0.30, four runs each.
pub fn bandwidth(program: &'static str, size: u32) -> Work {
    let (size, seconds) = (size.to_string(), SECONDS.to_string());
    Box::new(move || {
        read::rate_of_bytes(&perftest(program, &["-s", &size, "-D", &seconds, "-f", "0", "-t", "128"])?)
    })
}

/// Round trips that perftest makes. It tells a median only of a number of them (`-D` has none), and of its own thousand that of
/// the first hundredths of a second.
const ROUND_TRIPS: &str = "20000";

/// perftest's typical latency, which is the median, in microseconds.
pub fn typical(program: &'static str) -> Work {
    Box::new(move || read::typical(&perftest(program, &["-s", "2", "-n", ROUND_TRIPS])?))
}

/// perftest's rate of atomics, in millions a second.
pub fn atomics(operation: &'static str) -> Work {
    let seconds = SECONDS.to_string();
    Box::new(move || {
        let options = ["-A", operation, "-D", &seconds, "-f", "0", "-t", "16", "-o", "16"];
        read::rate(&perftest("ib_atomic_bw", &options)?)
    })
}

/// perftest's typical latency of an atomic, in microseconds.
pub fn typical_of_atomics(operation: &'static str) -> Work {
    Box::new(move || read::typical(&perftest("ib_atomic_lat", &["-A", operation, "-n", ROUND_TRIPS])?))
}

/// Why a test of qperf comes to nothing here, where it does.
pub fn no_qperf(test: &str) -> Option<String> {
    qperf(test).err().map(|error| format!("qperf {test}: {error:#}"))
}

/// The mean latency by qperf, in microseconds: half a round trip, or the whole of a read.
pub fn qperf_latency(test: &'static str) -> Work {
    Box::new(move || read_qperf::qperf_latency(&qperf(test)?))
}

/// The bandwidth by qperf with its own size of 64 KiB, in Gbit/s.
pub fn qperf_bandwidth(test: &'static str) -> Work {
    Box::new(move || read::qperf_bandwidth(&qperf(test)?))
}

/// What qperf wrote of a test.
fn qperf(test: &str) -> Result<String> {
    let (port, seconds) = (port(), SECONDS.to_string());
    let listen = port.to_string();
    let client = [ADDRESS, "-lp", &listen, "-cm1", "-t", &seconds, test];
    pair("qperf", port, &["-lp", &listen], &client)
}
