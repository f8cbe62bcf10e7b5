//! Ends of agents and controllers, with which the workers end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::process::{Signal, kill_process_group};
use seatrial_cluster::frame::{FrameReader, FrameWriter};
use seatrial_cluster::{
    Command, EndKind, FromWorker, LaunchError, Launcher, LocalLauncher, PROTOCOL, Report, ToWorker, WorkerId,
};
use seatrial_model::Nanos;
use seatrial_sys::process::{inherit, socket_pair};

use crate::ends::folder;
use crate::process::{PATIENCE, assert_dead, assert_gone, kill, process_id, state, wait_until};
use crate::rig::Rig;
use crate::{BUILD, cases, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("an_agent_says_what_the_node_is", an_agent_says_what_the_node_is),
        trial(
            "nothing_printed_in_an_agent_gets_between_the_frames",
            nothing_printed_in_an_agent_gets_between_the_frames,
        ),
        trial("workers_die_with_an_agent_that_is_killed", workers_die_with_an_agent_that_is_killed),
        trial(
            "everything_dies_with_a_controller_that_is_killed",
            everything_dies_with_a_controller_that_is_killed,
        ),
        trial("everything_ends_when_the_pipe_closes", everything_ends_when_the_pipe_closes),
        trial(
            "quit_lets_workers_clean_up_and_says_how_they_ended",
            quit_lets_workers_clean_up_and_says_how_they_ended,
        ),
        trial(
            "an_agent_removes_what_workers_left_before_it_goes",
            an_agent_removes_what_workers_left_before_it_goes,
        ),
        trial("a_worker_below_a_wrapper_dies_with_its_socket", a_worker_below_a_wrapper_dies_with_its_socket),
        trial("a_fleet_that_is_dropped_leaves_nothing", a_fleet_that_is_dropped_leaves_nothing),
        trial("an_agent_that_is_no_agent_is_quoted", an_agent_that_is_no_agent_is_quoted),
        trial("an_agent_that_says_nothing_is_given_up", an_agent_that_says_nothing_is_given_up),
        trial("another_build_is_refused", another_build_is_refused),
        trial("a_missing_program_is_named", a_missing_program_is_named),
    ]
}

fn an_agent_says_what_the_node_is() {
    let rig = Rig::new();
    let hello = &rig.fleet.agents()[0];
    assert_eq!((hello.protocol, hello.build.as_str(), hello.node.as_str()), (PROTOCOL, BUILD, "n1"));
    assert!(hello.machine.cpu.usable().count() > 0, "{:?}", hello.machine.cpu);
    let empty = tempfile::tempdir().expect("a folder");
    let elsewhere = Rig::with(&LocalLauncher::new(BUILD).sysroot(empty.path()).hello_within(PATIENCE));
    let hello = &elsewhere.fleet.agents()[0];
    assert_eq!((hello.node.as_str(), hello.machine.cpu.threads.len()), ("localhost", 0));
}

fn nothing_printed_in_an_agent_gets_between_the_frames() {
    let mut rig = Rig::new();
    let agent = rig.prepare("well").agent;
    let open = |fd: u32| fs::read_link(format!("/proc/{agent}/fd/{fd}")).expect("open");
    assert_eq!(open(0), Path::new("/dev/null"));
    assert_eq!(open(1), open(2), "standard output is not standard error");
}

fn workers_die_with_an_agent_that_is_killed() {
    let mut rig = Rig::new();
    let toys = [rig.measure("loops"), rig.measure("is_stubborn"), rig.measure("starts_a_child")];
    kill(toys[0].agent, Signal::KILL);
    let why = rig.lost();
    assert!(why.contains("closed its pipe") && why.contains("was killed by SIGKILL"), "{why}");
    for toy in &toys {
        assert_dead(toy.pid);
    }
    assert_dead(toys[2].child.expect("a child"));
    // A lost agent ignores commands, and waits still wait.
    rig.kill(toys[0].id);
    let soon = rig.fleet.now().plus(Nanos::millis(10));
    assert_eq!(rig.fleet.next(soon), seatrial_cluster::FleetEvent::Quiet);
    assert!(rig.fleet.now() >= soon);
}

/// Controller for `everything_dies_with_a_controller_that_is_killed`: prints the processes it started, and waits.
#[expect(clippy::print_stdout, reason = "it is a program of its own")]
pub fn doomed_controller() -> ExitCode {
    let mut rig = Rig::new();
    let (toy, other) = (rig.measure("starts_a_child"), rig.measure("is_stubborn"));
    println!("{} {} {} {}", toy.agent, toy.pid, toy.child.unwrap_or(0), other.pid);
    std::thread::sleep(Duration::from_secs(3600));
    ExitCode::SUCCESS
}

fn everything_dies_with_a_controller_that_is_killed() {
    let mut controller =
        Process::new("/proc/self/exe").arg("controller").stdout(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    let stdout = controller.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("it says whom it started");
    let pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect();
    assert_eq!(pids.len(), 4, "{line}");
    assert!(pids.iter().all(|pid| state(*pid).is_some()), "{pids:?}");
    controller.kill().expect("killed");
    assert_eq!(controller.wait().expect("reaped").signal(), Some(9));
    for pid in pids {
        assert_dead(pid);
    }
}

/// An agent started by hand with one measuring worker, its pipes, and the worker's process.
fn agent_with_worker(does: &str) -> (Child, FrameWriter<ChildStdin>, FrameReader<ChildStdout>, u32) {
    let mut agent = Process::new("/proc/self/exe")
        .args(["agent", "--node", "n1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut commands = FrameWriter::new(agent.stdin.take().expect("a pipe"));
    let mut reports = FrameReader::new(agent.stdout.take().expect("a pipe"));
    assert!(matches!(reports.read().expect("a frame"), Some(Report::Hello(_))));
    let worker = WorkerId(1);
    let case = Box::new(cases::case(does));
    commands.write(&Command::Spawn { worker, case, place: 0, trial: 0 }).expect("sent");
    let connect = ToWorker::Connect { offers: vec![cases::offer()].into() };
    for message in [ToWorker::Prepare, connect, ToWorker::Measure { span: Nanos::secs(3600), at: None }] {
        commands.write(&Command::Tell { worker, message }).expect("sent");
    }
    let prepared = reports.read().expect("a frame");
    let Some(Report::Said { message: FromWorker::Prepared { offer }, .. }) = prepared else {
        panic!("{prepared:?}")
    };
    let pid = offer.data["pid"].as_u64().expect("a pid") as u32;
    let connected = reports.read().expect("a frame");
    assert!(matches!(connected, Some(Report::Said { message: FromWorker::Connected, .. })), "{connected:?}");
    (agent, commands, reports, pid)
}

fn everything_ends_when_the_pipe_closes() {
    let (mut agent, commands, _reports, pid) = agent_with_worker("is_stubborn");
    drop(commands);
    wait_until("the agent to leave", || has_ended(&agent));
    assert!(agent.wait().expect("reaped").success());
    assert_dead(pid);
}

fn quit_lets_workers_clean_up_and_says_how_they_ended() {
    // Where the worker gets no CPU for half a second, SIGKILL comes before it has died by SIGTERM.
    let by_sigterm = (0..40).any(|_| {
        let (mut agent, mut commands, mut reports, pid) = agent_with_worker("loops");
        commands.write(&Command::Quit).expect("sent");
        let Some(Report::Ended { end, .. }) = reports.read().expect("a frame") else { panic!("not ended") };
        assert_eq!(reports.read::<Report>().expect("a clean end"), None);
        assert!(agent.wait().expect("reaped").success());
        assert_gone(pid);
        end.how == EndKind::Signalled { signal: 15, name: "SIGTERM".to_owned() }
    });
    assert!(by_sigterm, "it never had the time to clean up");
}

/// The controller is gone, sends `Quit`, or Slurm ends the agent.
fn an_agent_removes_what_workers_left_before_it_goes() {
    type Pipe = FrameWriter<ChildStdin>;
    let gone: fn(&Child, Pipe) = |_, commands| drop(commands);
    let quit: fn(&Child, Pipe) = |_, mut commands| commands.write(&Command::Quit).expect("sent");
    let ended: fn(&Child, Pipe) = |agent, commands| {
        kill(agent.id(), Signal::TERM);
        wait_until("the agent to leave", || has_ended(agent));
        drop(commands);
    };
    for leave in [gone, quit, ended] {
        let (_parent, path) = folder();
        let (mut agent, commands, _reports, pid) =
            agent_with_worker(&format!("leaves_a_folder {}", path.display()));
        // It does not handle SIGTERM before it continues.
        kill(pid, Signal::STOP);
        assert!(path.join("thread.0/file.0.0.0").exists());
        leave(&agent, commands);
        assert!(agent.wait().expect("reaped").success());
        assert_dead(pid);
        assert!(!path.exists());
    }
}

/// As under mpirun or srun: the supervisor is not the parent, so there is no parent-death signal.
fn a_worker_below_a_wrapper_dies_with_its_socket() {
    let (ours, theirs) = socket_pair().expect("a pair");
    let mut wrapper = Process::new("sh");
    let fd = inherit(&mut wrapper, theirs).to_string();
    let program = std::env::current_exe().expect("our own path");
    wrapper.args(["-c", r#""$0" worker --fd "$1"; sleep 600"#]).arg(program).arg(fd);
    let mut shell = wrapper.stdin(Stdio::null()).process_group(0).spawn().expect("started");
    drop(wrapper);
    let mut to_worker = FrameWriter::new(ours.try_clone().expect("cloned"));
    let mut from_worker = FrameReader::new(ours);
    for message in [
        ToWorker::Task { case: Box::new(cases::case("loops")), place: 0, trial: 0 },
        ToWorker::Prepare,
        ToWorker::Connect { offers: vec![cases::offer()].into() },
        ToWorker::Measure { span: Nanos::secs(3600), at: None },
    ] {
        to_worker.write(&message).expect("sent");
    }
    let Some(FromWorker::Prepared { offer }) = from_worker.read().expect("a frame") else {
        panic!("not prepared")
    };
    let pid = offer.data["pid"].as_u64().expect("a pid") as u32;
    drop((to_worker, from_worker));
    assert_dead(pid);
    assert!(!has_ended(&shell), "the wrapper's group is not ours to kill");
    kill_process_group(process_id(shell.id()), Signal::KILL).expect("sent");
    shell.wait().expect("reaped");
}

fn has_ended(child: &Child) -> bool {
    matches!(state(child.id()), None | Some('Z'))
}

fn a_fleet_that_is_dropped_leaves_nothing() {
    let mut rig = Rig::new();
    let toys = [rig.measure("floods_its_samples"), rig.measure("is_stubborn"), rig.measure("well")];
    drop(rig);
    for toy in toys {
        assert_gone(toy.agent);
        assert_dead(toy.pid);
    }
}

fn launch_error(launcher: &LocalLauncher) -> LaunchError {
    match launcher.launch() {
        Ok(fleet) => panic!("an agent came up: {:?}", fleet.agents()),
        Err(error) => error,
    }
}

fn an_agent_that_is_no_agent_is_quoted() {
    let script = "echo 'Welcome to n7!'; echo 'seatrial: command not found' >&2; exit 127";
    let launcher = LocalLauncher::new(BUILD).command("sh", ["-c", script]).node("n7").hello_within(PATIENCE);
    let error = launch_error(&launcher);
    let LaunchError::NoHello { node, why } = &error else { panic!("{error}") };
    assert_eq!(node, "n7");
    assert!(why.contains("above the limit") && why.contains("exited with code 127"), "{why}");
    assert!(why.contains("seatrial: command not found"), "{why}");
}

fn an_agent_that_says_nothing_is_given_up() {
    let quiet = LocalLauncher::new(BUILD).command("sleep", ["600"]).hello_within(Duration::from_millis(50));
    let error = launch_error(&quiet).to_string();
    assert!(error.contains("it said nothing for 0.05 s"), "{error}");
    assert!(error.contains("unrecognized option '--node'") || error.contains("killed by SIGKILL"), "{error}");
}

fn another_build_is_refused() {
    let launcher = LocalLauncher::new(BUILD).command("/proc/self/exe", ["agent", "--build", "older"]);
    let error = launch_error(&launcher.node("n1").hello_within(PATIENCE));
    let LaunchError::Build { theirs, ours, .. } = &error else { panic!("{error}") };
    assert_eq!((theirs.as_str(), ours.as_str()), ("older (protocol 1)", "toys (protocol 1)"));
}

fn a_missing_program_is_named() {
    let error = launch_error(&LocalLauncher::new(BUILD).command("/no/such/program", ["agent"]));
    assert!(matches!(error, LaunchError::Start { .. }), "{error}");
    assert!(error.to_string().contains("'/no/such/program': No such file"), "{error}");
}
