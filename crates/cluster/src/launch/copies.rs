//! Copies of the binary for the nodes of a running step that have none.
//!
//! A node without a copy says so in a line on the step's standard output and waits for [`wake`] on its standard input.
//! A second step of the same job then copies the binary to all of these nodes at once. A node that asks again after that
//! got no copy.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read};
use std::process::{ChildStdout, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_sys::process::leave_with_parent;

use super::cache::MARK;
use super::process::Process;
use crate::agent::Output;
use crate::fleet::LaunchError;

/// Steps that copied. Each has its own file name: slurmd goes on with a file of the same name that an earlier broadcast began.
static STEPS: AtomicUsize = AtomicUsize::new(0);

/// The number of the next step that copies.
pub(super) fn next_step() -> usize {
    STEPS.fetch_add(1, Ordering::Relaxed)
}

/// What the nodes that wait for a copy read: that a round of copies ended, and the number of the next step. The ticket
/// follows again.
pub(super) fn wake() -> Vec<u8> {
    format!("\ncopied {}\n", STEPS.load(Ordering::Relaxed)).into_bytes()
}

/// Longest list of nodes in an argument, in bytes; Linux takes 128 KiB (execve(2)).
const MOST_LIST: usize = 100_000;

/// After this silence, nodes that may still ask are left to the next round.
const QUIET: Duration = Duration::from_secs(1);

/// Time for a step that copies, queueing included.
const WITHIN: Duration = Duration::from_secs(300);

/// After this time the user is told what the step says.
const SILENCE: Duration = Duration::from_secs(3);

/// Copies that a node gets before it is given up. A step that fails because of another node does not count.
const ATTEMPTS: usize = 2;

/// Longest line of a node, in bytes.
const MOST_LINE: u64 = 4096;

/// Where a node wants its copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Destination {
    pub(super) job: String,
    pub(super) folder: String,
}

/// The command that copies the binary to these nodes.
pub(super) type CopyCommand<'a> = dyn Fn(&Destination, &[String]) -> Command + 'a;

#[derive(Debug, PartialEq, Eq)]
enum Request {
    Copy { to: Destination, is_damaged: bool },
    Failed(String),
}

pub(super) struct Copies<'a> {
    command: &'a CopyCommand<'a>,
    said: Receiver<(String, Request)>,
    /// Nodes for the next round.
    asking: BTreeMap<String, Destination>,
    /// Steps of this round that are still to be started: nodes with one destination each.
    round: Vec<(Destination, Vec<String>)>,
    under_way: Option<Step>,
    /// For each node, the number of copies so far and how the last step ended.
    tried: BTreeMap<String, (usize, String)>,
    lost: BTreeSet<String>,
    heard: Instant,
}

struct Step {
    nodes: Vec<String>,
    /// The process, or why there is none.
    process: Result<Process, String>,
    started: Instant,
    is_told: bool,
}

/// What changed.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) lost: Vec<LaunchError>,
    /// Whether a round ended, and waiting nodes have to be woken.
    pub(super) is_copied: bool,
}

impl<'a> Copies<'a> {
    /// Reads the output of the step on a thread, to its end.
    pub(super) fn read(from: ChildStdout, command: &'a CopyCommand<'a>) -> io::Result<Self> {
        let (hear, said) = mpsc::channel();
        thread::Builder::new().name("copies".to_owned()).spawn(move || {
            let mut lines = BufReader::new(from);
            let mut line = Vec::new();
            while lines.by_ref().take(MOST_LINE).read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                if let Some(request) = parse(&String::from_utf8_lossy(&line)) {
                    // Requests after the start are for nobody.
                    let _ = hear.send(request);
                }
                line.clear();
            }
        })?;
        Ok(Self {
            command,
            said,
            asking: BTreeMap::new(),
            round: Vec::new(),
            under_way: None,
            tried: BTreeMap::new(),
            lost: BTreeSet::new(),
            heard: Instant::now(),
        })
    }

    /// Whether copies are under way or about to be.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some() || !self.asking.is_empty()
    }

    /// Reads what nodes said, and starts and ends steps; never waits. `is_all`: whether this number of asking nodes is
    /// all that are left.
    pub(super) fn turn(&mut self, is_all: impl Fn(usize) -> bool) -> Turn {
        let mut turn = Turn::default();
        while let Ok((node, request)) = self.said.try_recv() {
            self.heard = Instant::now();
            turn.lost.extend(self.hear(node, request));
        }
        if let Some(step) = &mut self.under_way {
            if !step.has_ended() {
                return turn;
            }
            let why = step.exit_report();
            // A node that the step names is given up when it asks again.
            let is_of_one = step.nodes.iter().any(|node| names(&why, node));
            for node in std::mem::take(&mut step.nodes) {
                let (attempts, last) = self.tried.entry(node).or_default();
                *attempts += usize::from(!is_of_one);
                last.clone_from(&why);
            }
            self.under_way = None;
            turn.is_copied = self.round.is_empty();
            if turn.is_copied {
                self.heard = Instant::now();
                return turn;
            }
        }
        if self.round.is_empty()
            && !self.asking.is_empty()
            && (is_all(self.asking.len()) || self.heard.elapsed() > QUIET)
        {
            let mut groups = BTreeMap::<_, Vec<String>>::new();
            for (node, to) in std::mem::take(&mut self.asking) {
                groups.entry(to).or_default().push(node);
            }
            let steps = |(to, nodes): (Destination, Vec<String>)| {
                lists(nodes).into_iter().map(move |nodes| (to.clone(), nodes))
            };
            self.round = groups.into_iter().flat_map(steps).collect();
        }
        if let Some((to, nodes)) = self.round.pop() {
            let mut command = (self.command)(&to, &nodes);
            let started = Process::start(leave_with_parent(&mut command));
            // A prolog may print: srun would end the step if nobody read that.
            let process = started.and_then(|(process, pipes)| {
                Output::drain(pipes.stdout).map_err(|error| error.to_string()).map(|_| process)
            });
            self.under_way = Some(Step { nodes, process, started: Instant::now(), is_told: false });
        }
        turn
    }

    /// Takes a node's request; the error if the node is given up.
    fn hear(&mut self, node: String, request: Request) -> Option<LaunchError> {
        // Nodes that wait for a later step of this round were woken by the end of an earlier one.
        let is_in_round =
            self.round.iter().map(|(_, nodes)| nodes).chain(self.under_way.as_ref().map(|step| &step.nodes));
        if self.lost.contains(&node) || is_in_round.flatten().any(|name| *name == node) {
            return None;
        }
        let why = match request {
            Request::Failed(why) => why,
            Request::Copy { to, is_damaged } => match self.tried.get(&node) {
                Some((attempts, why)) if *attempts >= ATTEMPTS || names(why, &node) => {
                    format!("the binary cannot be copied to {}: {why}", to.folder)
                }
                _ => {
                    if is_damaged {
                        tracing::warn!("copying the binary to {node} again: the copy there is damaged");
                    }
                    self.asking.insert(node, to);
                    return None;
                }
            },
        };
        self.asking.remove(&node);
        self.lost.insert(node.clone());
        Some(LaunchError::NoHello { node, why })
    }
}

impl Step {
    fn has_ended(&mut self) -> bool {
        let Ok(process) = &mut self.process else { return true };
        if !self.is_told && self.started.elapsed() > SILENCE {
            self.is_told = true;
            let count = self.nodes.len();
            tracing::warn!("waiting for the binary to be copied to {count} nodes; {}", process.stderr_tail());
        }
        process.has_ended() || self.started.elapsed() > WITHIN
    }

    fn exit_report(&mut self) -> String {
        match &mut self.process {
            Ok(process) => process.exit_report(),
            Err(why) => why.clone(),
        }
    }
}

/// The nodes in lists that each fit in an argument.
fn lists(nodes: Vec<String>) -> Vec<Vec<String>> {
    let mut lists: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for node in nodes {
        bytes += node.len() + 1;
        match lists.last_mut() {
            Some(list) if bytes <= MOST_LIST => list.push(node),
            _ => {
                bytes = node.len() + 1;
                lists.push(vec![node]);
            }
        }
    }
    lists
}

/// A line of a node: job, node, and `fail` with the reason, or `send` or `again` with a folder.
fn parse(line: &str) -> Option<(String, Request)> {
    let (_, line) = line.trim_end().split_once(MARK)?;
    let mut words = line.splitn(4, ' ');
    let (job, node, kind, rest) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let request = match kind {
        "fail" => Request::Failed(rest.to_owned()),
        "send" | "again" => Request::Copy {
            to: Destination { job: job.to_owned(), folder: rest.to_owned() },
            is_damaged: kind == "again",
        },
        _ => return None,
    };
    Some((node.to_owned(), request))
}

/// Whether `text` contains the name of `node` as a word.
fn names(text: &str, node: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)))
        .any(|word| word.trim_end_matches('.') == node)
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// Turns until something changes. The nodes say `lines`; a step is `sh -c step`.
    fn turns(lines: &str, step: &str, enough: impl Fn(&mut Copies<'_>, &Turn) -> bool) -> Vec<String> {
        let script = format!("printf '{lines}'; exec sleep 3600");
        let mut nodes =
            Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().expect("a shell");
        let copy = |to: &Destination, nodes: &[String]| {
            let mut command = Command::new("sh");
            command.args(["-c", step, "sh", &to.job, &to.folder]).args(nodes);
            command
        };
        let mut copies = Copies::read(nodes.stdout.take().expect("a pipe"), &copy).expect("a thread");
        let until = Instant::now() + Duration::from_secs(120);
        let mut lost = Vec::new();
        loop {
            assert!(Instant::now() < until, "{lost:?}");
            let turn = copies.turn(|asking| asking == 3);
            let is_enough = enough(&mut copies, &turn);
            lost.extend(turn.lost.iter().map(ToString::to_string));
            if is_enough {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let _ = nodes.kill();
        let _ = nodes.wait();
        lost
    }

    #[test]
    fn the_nodes_that_ask_are_copied_to_at_once_and_woken_when_each_folder_had_its_step() {
        let folder = tempfile::tempdir().expect("a folder");
        let noted = folder.path().join("noted");
        let lines = "hello\\nseatrial-boot 7 n1 send /tmp/a b\\nseatrial-boot 7 n3 again /tmp/a b\\n\
                     > seatrial-boot 7 n2 send /dev/shm/c\\nseatrial-boot 7 n4 have x\\n";
        let step = format!("echo \"$@\" >>{}", noted.display());
        let lost = turns(lines, &step, |copies, turn| {
            assert_eq!(
                copies.is_busy(),
                copies.asking.len() + copies.round.len() > 0 || copies.under_way.is_some()
            );
            turn.is_copied
        });
        assert_eq!(lost, [""; 0]);
        let noted = std::fs::read_to_string(noted).expect("noted");
        let mut steps: Vec<&str> = noted.lines().collect();
        steps.sort_unstable();
        assert_eq!(steps, ["7 /dev/shm/c n2", "7 /tmp/a b n1 n3"]);
    }

    #[test]
    fn a_node_that_the_step_names_is_given_up_and_the_others_get_another_step() {
        let asks = "seatrial-boot 7 n1 send /tmp/a\\nseatrial-boot 7 n2 send /tmp/a\\nseatrial-boot 7 n3 fail no folder\\n";
        let step = "echo 'srun: error: REQUEST_FILE_BCAST(n2): No space left on device' >&2; exit 1";
        let rounds = std::cell::Cell::new(0);
        let lost = turns(asks, step, |copies, turn| {
            if turn.is_copied {
                rounds.set(rounds.get() + 1);
                let to = Destination { job: "7".to_owned(), folder: "/tmp/a".to_owned() };
                let request = || Request::Copy { to: to.clone(), is_damaged: false };
                let named = copies.hear("n2".to_owned(), request());
                let other = copies.hear("n1".to_owned(), request());
                if rounds.get() == 2 {
                    // The first failure was that of another node.
                    assert!(named.is_none() && other.is_none() && copies.asking.len() == 1);
                } else if rounds.get() == 1 {
                    let why = named.expect("given up").to_string();
                    assert!(why.contains("/tmp/a") && why.contains("No space left on device"), "{why}");
                    assert!(other.is_none() && copies.asking.len() == 1);
                } else {
                    // Known to be lost, and lost now.
                    assert!(named.is_none() && other.is_some() && !copies.is_busy());
                }
            }
            rounds.get() == 3
        });
        assert_eq!(lost, ["the agent on n3 did not start up: no folder"]);
    }

    #[test]
    fn other_nodes_than_those_that_a_step_names_are_not_given_up() {
        let asks = "seatrial-boot 7 n1 send /tmp/a\\nseatrial-boot 7 n2 send /tmp/a\\nseatrial-boot 7 n3 send /tmp/a\\n";
        // Each round the last node is named.
        let step = "for node; do :; done; echo \"srun: error: bcast to $node\" >&2; exit 1";
        let rounds = std::cell::RefCell::new(Vec::new());
        turns(asks, step, |copies, turn| {
            let mut rounds = rounds.borrow_mut();
            if turn.is_copied {
                let request = || Request::Copy {
                    to: Destination { job: "7".to_owned(), folder: "/tmp/a".to_owned() },
                    is_damaged: false,
                };
                rounds.push(["n1", "n2", "n3"].map(|node| copies.hear(node.to_owned(), request()).is_some()));
            }
            rounds.len() == 3
        });
        let lost = rounds.into_inner();
        assert_eq!(lost, [[false, false, true], [false, true, false], [true, false, false]]);
    }

    #[test]
    fn a_list_of_nodes_fits_in_an_argument() {
        let nodes: Vec<String> = (0..20_000).map(|number| format!("a-long-name-{number:05}")).collect();
        let lists = lists(nodes.clone());
        assert!(lists.iter().all(|list| list.join(",").len() <= MOST_LIST) && lists.len() == 4);
        assert_eq!(lists.concat(), nodes);
    }

    #[test]
    fn a_name_is_a_word() {
        let text = "srun: error: bcast to n12, on r1-n3.site.org: denied. n4.";
        assert!(["n12", "r1-n3.site.org", "n4"].iter().all(|node| names(text, node)));
        assert!(!["n1", "n3", "r1"].iter().any(|node| names(text, node)));
    }
}
