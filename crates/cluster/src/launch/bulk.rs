//! Agents that one program, such as srun or mpirun, starts all at once and that connect back.
//!
//! Nodes may ask for a copy of the binary first: see [`copies`](super::copies).

use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use super::copies::{self, Copies, CopyCommand};
use super::linked::LinkedFleet;
use super::process::Process;
use super::rendezvous::RendezvousListener;
use super::startup::AgentStartup;
use crate::agent::Output;
use crate::fleet::LaunchError;
use crate::frame::encode;
use seatrial_sys::process::leave_with_parent;

/// Time for the other agents after the first one: a step starts everywhere within seconds (Slurm documents 30 s for
/// 15,000 nodes).
const STRAGGLING: Duration = Duration::from_secs(45);

/// Time for a connected agent to read its inventory.
const HELLO_WITHIN: Duration = Duration::from_secs(30);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// After this silence the launcher's output is shown: for example that a job waits in the queue.
const SILENCE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) count: Option<usize>,
    pub(super) names: Vec<String>,
    /// Whether this output of the launcher means that the job was ended by decision.
    pub(super) recalls: fn(&str) -> bool,
}

/// Starts agents with `command` and accepts them until all are there.
///
/// `copy` is the command for nodes that ask for a copy of the binary on its standard output.
///
/// Without a deadline before the first one: a job may wait in the queue for hours, and the user can interrupt.
pub(super) fn gather(
    launcher: &str,
    command: &mut Command,
    build: &str,
    expected: &Expected,
    copy: Option<&CopyCommand>,
) -> Result<LinkedFleet, LaunchError> {
    let failed = |why: String| LaunchError::Launcher { launcher: launcher.to_owned(), why };
    let listener = RendezvousListener::open()
        .map_err(|error| failed(format!("opening a port for its agents: {error}")))?;
    let ticket = listener
        .ticket()
        .map_err(|error| failed(format!("listing the addresses of this machine: {error}")))
        .and_then(|ticket| encode(&ticket).map_err(|error| failed(error.to_string())))?;
    let (mut step, mut pipes) = Process::start(leave_with_parent(command)).map_err(failed)?;
    // Kept open: at end of file some launchers close the agents' input before the agents have read it.
    let told = pipes.stdin.write_all(&ticket).and_then(|()| pipes.stdin.flush());
    // Read in any case: a launcher that finds its output closed may end its tasks.
    let read = match copy {
        Some(copy) => Copies::read(pipes.stdout, copy).map(Some),
        None => Output::drain(pipes.stdout).map(|_| None),
    };
    let mut copies =
        read.map_err(|error| failed(format!("starting a thread that reads its output: {error}")))?;
    let mut gathering = AgentStartup::new(build, HELLO_WITHIN);
    gathering.sort_by_name();
    let mut ended = told.err().map(|error| format!("its input is closed: {error}"));
    let started = Instant::now();
    let mut first = None;
    let mut told_why = false;
    while ended.is_none() && !is_complete(&gathering, expected) {
        if let Some((from, stream)) = listener.next(POLL_INTERVAL) {
            first.get_or_insert_with(Instant::now);
            gathering.adopt(&label(from), stream);
        }
        gathering.wait(Duration::ZERO);
        if let Some(copies) = &mut copies {
            let come = gathering.connected();
            let turn = copies.turn(|asking| wanted(expected).is_some_and(|wanted| come + asking >= wanted));
            turn.lost.into_iter().for_each(|why| gathering.miss(why));
            if turn.is_copied {
                let wake = copies::wake();
                let told = pipes.stdin.write_all(&wake).and_then(|()| pipes.stdin.write_all(&ticket));
                ended = told.err().map(|error| format!("its input is closed: {error}"));
            }
            if copies.is_busy() {
                first = Some(Instant::now());
            }
        }
        match first {
            None if !told_why && started.elapsed() > SILENCE => {
                told_why = true;
                tracing::warn!("waiting for {launcher} to start agents; {}", step.stderr_tail());
            }
            Some(first) if first.elapsed() > STRAGGLING => break,
            _ => {}
        }
        if step.has_ended() {
            // Agents that connected before the launcher ended may still be at the listener.
            while let Some((from, stream)) = listener.next(POLL_INTERVAL) {
                gathering.adopt(&label(from), stream);
            }
            ended = Some("it ended before Seatrial ran on all nodes".to_owned());
        }
    }
    if listener.rejected() > 0 {
        tracing::warn!(
            "{} connections without the key of this run were refused while agents started",
            listener.rejected()
        );
    }
    drop(listener);
    gathering.wait(HELLO_WITHIN);
    let gone = ended.map(|why| format!("{why}; {}", step.exit_report()));
    for node in absent(&gathering, expected) {
        let why = gone.clone().unwrap_or_else(|| {
            format!(
                "no agent connected within {} s of the first; {}",
                STRAGGLING.as_secs(),
                step.stderr_tail()
            )
        });
        gathering.miss(LaunchError::NoHello { node, why });
    }
    if gathering.arrived() == 0
        && let Some(why) = gone
    {
        return Err(failed(why));
    }
    match gathering.finish() {
        // The input stays open as long as the step runs.
        Ok(fleet) => Ok(fleet.carried_by(step, pipes.stdin, expected.recalls)),
        Err(error) => {
            step.end(pipes.stdin);
            Err(error)
        }
    }
}

fn label(from: SocketAddr) -> String {
    from.ip().to_string()
}

/// The number of agents to await, if it is known.
fn wanted(expected: &Expected) -> Option<usize> {
    expected.count.map(|count| count.max(expected.names.len()).max(1))
}

fn is_complete(gathering: &AgentStartup, expected: &Expected) -> bool {
    wanted(expected).is_some_and(|wanted| gathering.arrived() + gathering.missed().count() >= wanted)
}

/// Nodes without an agent: by name where known, else numbered.
fn absent(gathering: &AgentStartup, expected: &Expected) -> Vec<String> {
    let missed = gathering.missed().map(|node| (node, node));
    let known: Vec<(&str, &str)> = gathering.present().chain(missed).collect();
    lacking(&expected.names, expected.count.unwrap_or(0), &known)
}

/// The requested names of nodes that are not `known` to be here or missing, and a number for each node beyond: more may be
/// asked for than have names.
fn lacking(names: &[String], count: usize, known: &[(&str, &str)]) -> Vec<String> {
    let mut left = unanswered(names, known);
    let known = known.len() + left.len();
    left.extend((known..count).map(|at| format!("node-{}-of-{count}", at + 1)));
    left
}

/// The requested names without an agent, given (address, host name) of the agents `here`. A name may be an address,
/// or with or without domain; an agent that matches no name counts for the first name left, as its node may have
/// another address.
fn unanswered(asked: &[String], here: &[(&str, &str)]) -> Vec<String> {
    let mut unnamed = here.to_vec();
    let mut left = asked.to_vec();
    let rules: [fn(&str, &str, &str) -> bool; 3] = [
        |asked, _, name| asked == name,
        |asked, address, _| asked == address,
        |asked, _, name| {
            let short = |name: &str| name.split('.').next().map(str::to_owned);
            let is_address = asked.parse::<std::net::IpAddr>().is_ok();
            !is_address && asked.contains('.') != name.contains('.') && short(asked) == short(name)
        },
    ];
    for fits in rules {
        left.retain(|asked| {
            let of = unnamed.iter().position(|(address, name)| fits(asked, address, name));
            of.map(|at| unnamed.remove(at)).is_none()
        });
    }
    left.drain(..unnamed.len().min(left.len()));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_answer_for_names_addresses_and_names_with_a_domain() {
        let here = [("10.77.0.1", "n1"), ("10.77.0.2", "n2"), ("10.77.0.3", "n3.site.org")];
        let missing = |asked: &[&str]| {
            unanswered(&asked.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), &here)
        };
        assert!(missing(&["n1", "n2", "n3.site.org"]).is_empty());
        assert!(missing(&["10.77.0.2", "10.77.0.1", "n3"]).is_empty());
        assert!(missing(&["n1.site.org", "n2.site.org", "n3"]).is_empty());
        // Addresses of another network: the number of agents matches.
        assert!(missing(&["192.168.0.1", "192.168.0.2", "192.168.0.3"]).is_empty());
        assert_eq!(missing(&["n1", "n2", "n3", "n4"]), ["n4"]);
        assert_eq!(missing(&["10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"]), ["10.77.0.4"]);
        assert_eq!(missing(&["n1.site.org", "n2.other.org", "n3.site.org", "n4.site.org"]), ["n4.site.org"]);
    }

    #[test]
    fn nodes_beyond_those_with_names_are_missed_too() {
        let names = ["n1", "n2"].map(str::to_owned);
        let missing = |known: &[(&str, &str)]| lacking(&names, 4, known);
        let all = [("a", "n1"), ("b", "n2"), ("c", "n5"), ("d", "n6")];
        assert_eq!(missing(&all), [""; 0]);
        assert_eq!(missing(&all[..3]), ["node-4-of-4"]);
        assert_eq!(missing(&all[1..]).len(), 1);
        // A node that is missing already, by its name.
        assert_eq!(missing(&[("a", "n1"), ("n2", "n2"), ("c", "n5")]), ["node-4-of-4"]);
    }
}
