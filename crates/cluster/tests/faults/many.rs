//! A relay that many parts are behind: agents that follow a script, without workers, so that the parts of many nodes fit into
//! one machine.

use std::fs;
use std::io::{stdin, stdout};
use std::process::ExitCode;

use libtest_mimic::Trial;
use seatrial_cluster::frame::{FrameReader, FrameWriter};
use seatrial_cluster::{
    Command, FleetEvent, FromWorker, Hello, NodeIndex, PROTOCOL, Report, ToWorker, WorkerId,
};
use seatrial_model::machine::Machine;
use seatrial_model::{Nanos, Params, Quantity, Sample};
use seatrial_sys::clock::{now_ns, time_of_day_ns};

use crate::far::{Site, launch, next};
use crate::{BUILD, cases, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial("a_relay_of_a_thousand_parts_holds_their_commands_and_no_samples", a_thousand_parts)]
}

/// Set where agents follow the script.
pub const SCRIPTED: &str = "SCRIPTED";

/// Messages with samples of a part, and samples of each: three trials of `net.all_to_all` with one thread.
const BATCHES: usize = 3;
const SLICES: usize = 40;

/// An agent that says what its parts would say.
pub fn agent(node: Option<String>) -> ExitCode {
    let (mut commands, mut reports) = (FrameReader::new(stdin()), FrameWriter::new(stdout()));
    let (build, node) = (BUILD.to_owned(), node.unwrap_or_default());
    let machine = Machine::default();
    let hello = Hello { protocol: PROTOCOL, build, node, machine, settings: Vec::new() };
    let mut say = |report: &Report| reports.write(report).is_ok();
    let mut is_heard = say(&Report::Hello(Box::new(hello)));
    while is_heard && let Ok(Some(command)) = commands.read::<Command>() {
        is_heard = match command {
            Command::Ping { round } => {
                say(&Report::Pong { round, clock: Nanos(now_ns()), time_of_day: Nanos(time_of_day_ns()) })
            }
            Command::Tell { worker, message } => {
                answers(message).into_iter().all(|message| say(&Report::Said { worker, message }))
            }
            Command::Quit => false,
            _ => true,
        };
    }
    ExitCode::SUCCESS
}

fn answers(message: ToWorker) -> Vec<FromWorker> {
    let batch = || {
        let at: Params = [("thread".to_owned(), 0_u64.into())].into_iter().collect();
        let slice = |number: u64| {
            let span = (Nanos(number * 25_000_000), Nanos((number + 1) * 25_000_000));
            Sample::new("received", at.clone(), span, Quantity::bytes(312_500_000 + number))
        };
        FromWorker::Samples { batch: (0..SLICES as u64).map(slice).collect() }
    };
    match message {
        ToWorker::Prepare => vec![FromWorker::Prepared { offer: cases::offer() }],
        ToWorker::Connect { .. } => vec![FromWorker::Connected],
        ToWorker::Measure { .. } => (0..BATCHES).map(|_| batch()).chain([FromWorker::Measured]).collect(),
        _ => Vec::new(),
    }
}

const PARTS: u64 = 1000;

/// Bytes of memory of the relay for each part: what is sent to it once, and no samples, of which each part has 20 KB.
const MOST_OF_PART: u64 = 8 << 10;

/// The most memory that a process has held, in bytes (`VmHWM` of proc_pid_status(5)).
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib << 10
}

fn a_thousand_parts() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["scripted1", "scripted2", "scripted3", "scripted4"], 3));
    let relay = site.called("controller", "scripted1").expect("called");
    let before = peak(relay);
    // Nothing is read before all is sent: the relay has no way out for reports, and its nodes, which wait to get rid of theirs,
    // read no further commands.
    for part in 0..PARTS {
        let (node, worker) = (NodeIndex(part as usize % 2), WorkerId(part));
        fleet.send(node, Command::Spawn { worker, case: Box::new(cases::case("well")), place: 0, trial: 0 });
        let connect = ToWorker::Connect { offers: vec![cases::offer(); 2].into() };
        let measure = ToWorker::Measure { span: Nanos::secs(1), at: None };
        for message in [ToWorker::Prepare, connect, measure] {
            fleet.send(node, Command::Tell { worker, message });
        }
    }
    let (mut measured, mut samples) = (0, 0);
    while measured < PARTS {
        match next(&mut *fleet) {
            FleetEvent::From(_, Report::Said { message: FromWorker::Samples { batch }, .. }) => {
                samples += batch.len();
            }
            FleetEvent::From(_, Report::Said { message: FromWorker::Measured, .. }) => measured += 1,
            FleetEvent::Lost(node, why) => panic!("{node:?}: {why}"),
            _ => {}
        }
    }
    assert_eq!(samples, PARTS as usize * BATCHES * SLICES);
    let grown = peak(relay) - before;
    #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
    {
        println!("a relay without parts: {before} B; with {PARTS}: {grown} B more");
    }
    assert!(grown <= PARTS * MOST_OF_PART, "{grown} B for {PARTS} parts");
}
