//! Agents started all at once by a program of the site's, such as srun or mpirun, which then call us.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use super::linked::LinkedFleet;
use super::process::Process;
use super::rendezvous::RendezvousListener;
use super::startup::AgentStartup;
use crate::fleet::LaunchError;
use crate::frame::encode;
use seatrial_sys::process::leave_with_parent;

/// How long agents may take after the first one: a step starts everywhere within seconds (Slurm's own figure is 30 s
/// for 15,000 nodes), and the binary was copied before.
const STRAGGLING: Duration = Duration::from_secs(45);

/// How long an agent that called may take to look at its machine.
const HELLO_WITHIN: Duration = Duration::from_secs(30);

/// How long one look at the listener takes.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Silence after which what the launcher says is passed on: a job that waits in a queue says so.
const SILENCE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// How many; none when only the launcher knows.
    pub(super) count: Option<usize>,
    /// Their names, as far as they are known.
    pub(super) names: Vec<String>,
    /// Whether these last words of the program mean that the nodes are wanted back.
    pub(super) recalls: fn(&str) -> bool,
}

/// Starts agents with `command` and lets them in until all are there.
///
/// There is no deadline before the first one: a job may wait for its nodes for hours, and the person can end that.
pub(super) fn gather(
    launcher: &str,
    command: &mut Command,
    build: &str,
    expected: &Expected,
) -> Result<LinkedFleet, LaunchError> {
    let failed = |why: String| LaunchError::Launcher { launcher: launcher.to_owned(), why };
    let listener = RendezvousListener::open()
        .map_err(|error| failed(format!("opening a port for its agents: {error}")))?;
    let ticket = listener
        .ticket()
        .map_err(|error| failed(format!("asking for our own addresses: {error}")))
        .and_then(|ticket| encode(&ticket).map_err(|error| failed(error.to_string())))?;
    let (mut step, mut pipes) = Process::start(leave_with_parent(command)).map_err(failed)?;
    // Kept open: an end of file would make some launchers close the agents' input before they have read it.
    let told = pipes.stdin.write_all(&ticket).and_then(|()| pipes.stdin.flush());
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
        match first {
            None if !told_why && started.elapsed() > SILENCE => {
                told_why = true;
                tracing::warn!("waiting for {launcher} to start agents; {}", step.stderr_tail());
            }
            Some(first) if first.elapsed() > STRAGGLING => break,
            _ => {}
        }
        if step.has_ended() {
            // Agents that called before it ended may still be at the listener.
            while let Some((from, stream)) = listener.next(POLL_INTERVAL) {
                gathering.adopt(&label(from), stream);
            }
            ended = Some("it ended before all agents were there".to_owned());
        }
    }
    if listener.rejected() > 0 {
        tracing::warn!(
            "{} callers without the key were turned away while agents were awaited",
            listener.rejected()
        );
    }
    drop(listener);
    gathering.wait(HELLO_WITHIN);
    let gone = ended.map(|why| format!("{why}; {}", step.exit_report()));
    for node in absent(&gathering, expected) {
        let why = gone.clone().unwrap_or_else(|| {
            format!("no agent came within {} s of the first; {}", STRAGGLING.as_secs(), step.stderr_tail())
        });
        gathering.miss(LaunchError::NoHello { node, why });
    }
    if gathering.arrived() == 0
        && let Some(why) = gone
    {
        return Err(failed(why));
    }
    // The input stays open as long as the step runs.
    Ok(gathering.finish()?.carried_by(step, pipes.stdin, expected.recalls))
}

fn label(from: SocketAddr) -> String {
    from.ip().to_string()
}

fn is_complete(gathering: &AgentStartup, expected: &Expected) -> bool {
    let wanted = expected.count.unwrap_or(usize::MAX).max(expected.names.len().max(1));
    gathering.arrived() >= wanted
}

/// Nodes of which no agent came: by name where we know it, else numbered.
fn absent(gathering: &AgentStartup, expected: &Expected) -> Vec<String> {
    if !expected.names.is_empty() {
        let here: Vec<(&str, &str)> = gathering.present().collect();
        return unanswered(&expected.names, &here);
    }
    let count = expected.count.unwrap_or(0);
    (gathering.arrived() + gathering.missed()..count)
        .map(|at| format!("node-{}-of-{count}", at + 1))
        .collect()
}

/// The names that were asked for and that none of the agents `here` (address, host name) stands for. A name may have been
/// given as an address, or with its domain or without; an agent that no name fits stands for the first one left over, which
/// may be another address of its node.
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
        // Addresses of another network: as many came as were asked for.
        assert!(missing(&["192.168.0.1", "192.168.0.2", "192.168.0.3"]).is_empty());
        assert_eq!(missing(&["n1", "n2", "n3", "n4"]), ["n4"]);
        assert_eq!(missing(&["10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.4"]), ["10.77.0.4"]);
        assert_eq!(missing(&["n1.site.org", "n2.other.org", "n3.site.org", "n4.site.org"]), ["n4.site.org"]);
    }
}
