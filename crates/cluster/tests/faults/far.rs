//! Remote agents: over a stand-in for ssh, behind gateways, and at the end of a connection that is cut.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use libtest_mimic::Trial;
use rustix::process::Signal;
use seatrial_bench::Offer;
use seatrial_cluster::frame::{FrameReader, FrameWriter};
use seatrial_cluster::{
    Command, Fleet, FleetEvent, FromWorker, LaunchError, Launcher, NodeIndex, Report, SshLauncher, ToWorker,
    WorkerId,
};
use seatrial_model::Nanos;
use tempfile::TempDir;

use crate::process::{PATIENCE, assert_dead, kill, wait_until};
use crate::{BUILD, cases, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("nodes_behind_gateways_are_as_good_as_others", behind_gateways),
        trial("a_gateway_that_dies_takes_its_share_and_no_more", a_gateway_that_dies),
        trial("a_child_that_dies_or_says_nonsense_is_lost_and_its_sisters_stay", a_child_that_dies),
        trial("a_child_that_takes_nothing_is_lost_and_its_sisters_stay", a_child_that_takes_nothing),
        trial("a_child_that_floods_leaves_its_sisters_their_turn", a_child_that_floods),
        trial("what_a_gateway_cannot_reach_is_tried_directly", not_from_a_gateway),
        trial("a_gateway_that_is_down_is_missing_and_its_share_is_not", a_gateway_that_is_down),
        trial("a_node_behind_a_gateway_fails_as_it_would_without", fails_as_without),
        trial("a_copy_that_is_spoilt_is_sent_anew_once", a_spoilt_copy),
        trial("an_agent_leaves_when_its_controller_falls_silent", a_silent_controller),
        trial("a_relay_leaves_when_its_controller_falls_silent", a_silent_controller_of_a_relay),
    ]
}

/// Stand-in for ssh. The node is the last argument but one, the line the last. It records caller, callee and the
/// process id of the agent. Every node has its own home, where the copy of the binary is stored.
///
/// A node `down...` does not exist, `walled...` not for the controller, `mad...` prints nonsense after its agent, and agents of
/// `scripted...` follow a script.
const SSH: &str = r#"
for word; do node=$line; line=$word; done
echo "${ON:-controller} $node $$" >>"$FOLDER/calls"
case "$node:${ON:-}" in
down*|walled*:?*) echo "ssh: connect to host $node port 22: No route to host" >&2; exit 255 ;;
esac
export ON="$node" HOME="$FOLDER/$node"
unset XDG_CACHE_HOME
mkdir -p "$HOME"
case "$node" in
scripted*) export SCRIPTED=1; exec sh -c "$line" ;;
mad*) sh -c "$line"; echo "and now for something completely different" ;;
*) exec sh -c "$line" ;;
esac
"#;

pub struct Site {
    folder: TempDir,
}

impl Site {
    pub fn new() -> Self {
        // Not on a file system mounted noexec.
        let site = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::write(site.path().join("ssh"), SSH).expect("written");
        site
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn launcher(&self, nodes: &[&str], fanout: usize) -> SshLauncher {
        let nodes = nodes.iter().map(|node| (*node).to_owned()).collect();
        SshLauncher::new(BUILD, nodes).client(self.client()).fanout(fanout)
    }

    fn client(&self) -> [String; 4] {
        let set = format!("FOLDER={}", self.path().display());
        ["env".to_owned(), set, "sh".to_owned(), self.path().join("ssh").display().to_string()]
    }

    fn calls(&self) -> Vec<(String, String, u32)> {
        let text = fs::read_to_string(self.path().join("calls")).unwrap_or_default();
        let words = text.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        words.map(|w| (w[0].to_owned(), w[1].to_owned(), w[2].parse().expect("a pid"))).collect()
    }

    pub fn called(&self, by: &str, node: &str) -> Option<u32> {
        self.calls().iter().find(|(who, whom, _)| who == by && whom == node).map(|(.., pid)| *pid)
    }

    fn callers(&self, node: &str) -> Vec<String> {
        self.calls().into_iter().filter(|(_, whom, _)| whom == node).map(|(who, ..)| who).collect()
    }
}

pub fn launch(launcher: &SshLauncher) -> Box<dyn Fleet> {
    launcher.launch().expect("agents come")
}

fn names(fleet: &dyn Fleet) -> Vec<&str> {
    fleet.agents().iter().map(|hello| hello.node.as_str()).collect()
}

pub fn next(fleet: &mut dyn Fleet) -> FleetEvent {
    let deadline = fleet.now().plus(PATIENCE.into());
    match fleet.next(deadline) {
        FleetEvent::Quiet => panic!("nothing came for {PATIENCE:?}"),
        notice => notice,
    }
}

/// Starts a worker on a node and sends `Prepare`.
fn begin(fleet: &mut dyn Fleet, node: usize, id: u64, does: &str) {
    let (node, worker) = (NodeIndex(node), WorkerId(id));
    let case = Box::new(cases::case(does));
    fleet.send(node, Command::Spawn { worker, case, place: 0, trial: 0 });
    fleet.send(node, Command::Tell { worker, message: ToWorker::Prepare });
}

fn prepare(fleet: &mut dyn Fleet, node: usize, id: u64, does: &str) -> Offer {
    begin(fleet, node, id, does);
    loop {
        match next(fleet) {
            FleetEvent::From(_, Report::Said { worker, message: FromWorker::Prepared { offer } })
                if worker == WorkerId(id) =>
            {
                return offer;
            }
            FleetEvent::Lost(NodeIndex(at), why) if at == node => panic!("lost: {why}"),
            FleetEvent::From(NodeIndex(at), Report::Ended { end, .. }) if at == node => {
                panic!("ended: {end:?}")
            }
            _ => {}
        }
    }
}

fn pid(offer: &Offer, whose: &str) -> u32 {
    offer.data[whose].as_u64().expect("a pid") as u32
}

/// Reasons for the loss of these nodes, in their order, ignoring other events.
fn lost<const N: usize>(fleet: &mut dyn Fleet, nodes: [usize; N]) -> [String; N] {
    let mut whys = nodes.map(|_| None);
    while whys.contains(&None) {
        if let FleetEvent::Lost(NodeIndex(at), why) = next(fleet) {
            let Some(known) = nodes.iter().position(|node| *node == at) else {
                panic!("node {at} is lost: {why}")
            };
            whys[known] = Some(why);
        }
    }
    whys.map(Option::unwrap_or_default)
}

/// Four nodes, of which two lead to the others.
fn up() -> (Site, Box<dyn Fleet>) {
    let site = Site::new();
    let fleet = launch(&site.launcher(&["n1", "n2", "n3", "n4"], 3));
    (site, fleet)
}

fn behind_gateways() {
    // Without CPU for some seconds, a clock stays unknown; the next launch may measure it.
    let knows_clocks = |fleet: &dyn Fleet| (0..4).all(|node| fleet.offset(NodeIndex(node)).is_some());
    let (mut site, mut fleet) = up();
    for _ in 0..10 {
        if knows_clocks(&*fleet) {
            break;
        }
        drop(fleet);
        (site, fleet) = up();
    }
    assert_eq!(names(&*fleet), ["n1", "n2", "n3", "n4"]);
    assert!(fleet.missing().is_empty(), "{:?}", fleet.missing());
    let mut calls: Vec<_> = site.calls().into_iter().map(|(by, node, _)| (by, node)).collect();
    calls.sort();
    let wanted = [("controller", "n1"), ("controller", "n3"), ("n1", "n2"), ("n3", "n4")];
    assert_eq!(calls, wanted.map(|(by, node)| (by.to_owned(), node.to_owned())));
    let mut pids = Vec::new();
    for node in 0..4 {
        // One machine, so one clock; the error is small since the round trip is short.
        let offset = fleet.offset(NodeIndex(node)).expect("compared");
        assert!(offset.nanos.unsigned_abs() <= offset.error.get(), "{offset:?}");
        pids.push(pid(&prepare(&mut *fleet, node, node as u64, "well"), "pid"));
    }
    drop(fleet);
    pids.extend(site.calls().iter().map(|(.., pid)| *pid));
    pids.into_iter().for_each(assert_dead);
    // Two connections carried nodes only, so copies are stored where there was one.
    assert!(site.path().join("n4/.cache/seatrial").join(BUILD).exists());
}

fn a_gateway_that_dies() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["n1", "n2", "n3", "n4"], 3));
    let workers = [0, 1, 2].map(|node| prepare(&mut *fleet, node, node as u64, "well"));
    // A node without a worker.
    fleet.send(NodeIndex(1), Command::Kill { worker: WorkerId(1) });
    while !matches!(next(&mut *fleet), FleetEvent::From(_, Report::Ended { .. })) {}
    kill(site.called("controller", "n1").expect("called"), Signal::KILL);
    // The node without workers first, or the scheduler would start a case on it.
    for node in [1, 0] {
        let [why] = lost(&mut *fleet, [node]);
        assert!(
            why.contains("its gateway n1 was lost: it closed its pipe") && why.contains("SIGKILL"),
            "{why}"
        );
    }
    assert_dead(pid(&workers[0], "pid"));
    assert_dead(pid(&workers[1], "pid"));
    assert_dead(site.called("n1", "n2").expect("called"));
    // Other agents continue, and a lost node ignores commands.
    fleet.send(NodeIndex(1), Command::Kill { worker: WorkerId(1) });
    prepare(&mut *fleet, 3, 7, "well");
    let message = ToWorker::Connect { offers: vec![workers[2].clone()].into() };
    fleet.send(NodeIndex(2), Command::Tell { worker: WorkerId(2), message });
    let answer = next(&mut *fleet);
    let wanted = Report::Said { worker: WorkerId(2), message: FromWorker::Connected };
    assert_eq!(answer, FleetEvent::From(NodeIndex(2), wanted));
}

fn a_child_that_dies() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["n1", "n2", "mad", "n4"], 1));
    kill(site.called("n1", "n2").expect("called"), Signal::KILL);
    let [why] = lost(&mut *fleet, [1]);
    // Like a link without a gateway.
    assert!(why.starts_with("the agent closed its pipe; its process was killed by SIGKILL"), "{why}");
    // The agent of a gateway's node is an ordinary one; the agent of the mad node has a shell above it.
    let agent = pid(&prepare(&mut *fleet, 2, 5, "well"), "agent");
    kill(agent, Signal::KILL);
    let [why] = lost(&mut *fleet, [2]);
    assert!(why.contains("closed its pipe") && !why.contains("gateway"), "{why}");
    prepare(&mut *fleet, 0, 8, "well");
    prepare(&mut *fleet, 3, 9, "well");
    drop(fleet);
    // Behind a gateway, output after the end is nonsense, and ends this child alone.
    let mut fleet = launch(&site.launcher(&["n1", "mad", "n3"], 2));
    let agent = pid(&prepare(&mut *fleet, 1, 5, "well"), "agent");
    kill(agent, Signal::KILL);
    let [why] = lost(&mut *fleet, [1]);
    assert!(why.contains("sent something that is not a message: a frame of"), "{why}");
    prepare(&mut *fleet, 0, 3, "well");
}

fn a_child_that_takes_nothing() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["n1", "n2", "n3"], 2));
    let agent = site.called("n1", "n2").expect("called");
    kill(agent, Signal::STOP);
    let mut why = None;
    for round in 0.. {
        // Far less at a time than may wait, then a sign that the gateway has passed on all of it.
        for worker in 0..1_000 {
            fleet.send(NodeIndex(1), Command::Kill { worker: WorkerId(1_000_000 + worker) });
        }
        begin(&mut *fleet, 0, round, "well");
        loop {
            match next(&mut *fleet) {
                FleetEvent::Lost(NodeIndex(1), text) => why = Some(text),
                FleetEvent::From(NodeIndex(0), Report::Said { .. }) => break,
                other => panic!("{other:?}"),
            }
        }
        if why.is_some() {
            break;
        }
        assert!(round < 100, "it takes a hundred thousand messages");
    }
    let why = why.expect("told");
    assert!(why.contains("16384 messages are queued for it, and it reads none"), "{why}");
    prepare(&mut *fleet, 2, 200, "well");
    // The agent ends with its connection, as soon as it notices.
    let _ = rustix::process::kill_process(crate::process::process_id(agent), Signal::CONT);
    assert_dead(agent);
}

fn a_child_that_floods() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["n1", "n2", "n3"], 2));
    let worker = WorkerId(1);
    let offers = vec![prepare(&mut *fleet, 1, worker.0, "floods_its_samples")];
    let span = Nanos::secs(3600);
    for message in [ToWorker::Connect { offers: offers.into() }, ToWorker::WarmUp { span: Nanos::millis(1) }]
    {
        fleet.send(NodeIndex(1), Command::Tell { worker, message });
    }
    fleet.send(NodeIndex(1), Command::Tell { worker, message: ToWorker::Measure { span, at: None } });
    let mut batches = 0;
    while batches < 200 {
        let notice = next(&mut *fleet);
        batches += u32::from(matches!(
            notice,
            FleetEvent::From(NodeIndex(1), Report::Said { message: FromWorker::Samples { .. }, .. })
        ));
    }
    // The other child of the gateway is heard, and so is the order to end the flood.
    prepare(&mut *fleet, 0, 2, "well");
    fleet.send(NodeIndex(1), Command::Kill { worker });
    loop {
        if let FleetEvent::From(NodeIndex(1), Report::Ended { worker: who, .. }) = next(&mut *fleet) {
            assert_eq!(who, worker);
            break;
        }
    }
}

fn not_from_a_gateway() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["n1", "walled1", "n3", "walled2"], 3));
    assert_eq!(names(&*fleet), ["n1", "walled1", "n3", "walled2"], "the order is that of the list");
    assert!(fleet.missing().is_empty(), "{:?}", fleet.missing());
    assert_eq!(site.callers("walled1"), ["n1", "controller"]);
    assert_eq!(site.callers("walled2"), ["n3", "controller"]);
    // They do not depend on the gateway.
    kill(site.called("controller", "n1").expect("called"), Signal::KILL);
    lost(&mut *fleet, [0]);
    prepare(&mut *fleet, 1, 1, "well");
}

fn a_gateway_that_is_down() {
    let site = Site::new();
    let mut fleet = launch(&site.launcher(&["down1", "n2", "n3", "n4"], 3));
    assert_eq!(names(&*fleet), ["n2", "n3", "n4"]);
    let missing: Vec<_> = fleet.missing().iter().map(|missing| missing.node.as_str()).collect();
    assert_eq!(missing, ["down1"]);
    assert_eq!(site.callers("down1"), ["controller"], "it was tried once");
    assert_eq!(site.callers("n2"), ["controller"]);
    prepare(&mut *fleet, 0, 1, "well");
}

fn fails_as_without() {
    let why = |nodes: &[&str], fanout| {
        let fleet = launch(&Site::new().launcher(nodes, fanout));
        let [missing] = fleet.missing() else { panic!("{:?}", fleet.missing()) };
        assert!(matches!(missing.why, LaunchError::Unreachable { .. }), "{missing:?}");
        missing.why.to_string()
    };
    let (nodes, gateway) = (["n1", "down2", "n3"], ["down2", "n1", "n3"]);
    let direct = why(&nodes, 64);
    assert_eq!(direct, "down2 not reachable: No route to host (ssh, port 22)");
    assert_eq!(why(&nodes, 2), direct);
    assert_eq!(why(&gateway, 2), direct);
}

fn a_spoilt_copy() {
    let site = Site::new();
    let nodes = ["n1", "n2", "n3"];
    drop(launch(&site.launcher(&nodes, 2)));
    let copy = |node: &str| site.path().join(node).join(".cache/seatrial").join(BUILD);
    let good = fs::read(copy("n1")).expect("there");
    let spoil = || {
        for node in nodes {
            let mut bytes = b"#!/bin/sh\nexit 3\n".to_vec();
            bytes.resize(good.len(), b'\n');
            // A new file of that name, since the old one may still run.
            fs::remove_file(copy(node)).expect("there");
            fs::write(copy(node), bytes).expect("written");
            let mut mode = fs::metadata(copy(node)).expect("there").permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o700);
            fs::set_permissions(copy(node), mode).expect("set");
        }
    };
    for fanout in [64, 2] {
        spoil();
        let fleet = launch(&site.launcher(&nodes, fanout));
        assert_eq!((names(&*fleet), fleet.missing().len()), (nodes.to_vec(), 0), "fan-out {fanout}");
        for node in nodes {
            assert!(fs::read(copy(node)).expect("there") == good, "the copy on {node} is still spoilt");
        }
    }
    // A fresh copy that fails is not sent again for ever.
    fs::remove_file(site.path().join("calls")).expect("there");
    let other = SshLauncher::new("another", vec!["n1".to_owned()]).client(site.client());
    let error = other.launch().err().expect("the binary says that it is the build of the toys");
    assert!(matches!(error, LaunchError::Build { .. }), "{error}");
    assert_eq!(site.callers("n1").len(), 1, "it was sent just now");
    let error = other.launch().err().expect("still so");
    assert!(matches!(error, LaunchError::Build { .. }), "{error}");
    assert_eq!(site.callers("n1").len(), 3, "it was there, and was sent once more");
}

/// An agent with these options exits when its controller is silent and keeps the pipe open.
fn leaves_by_itself(options: &[&str]) {
    let mut agent = Process::new("/proc/self/exe")
        .args(["agent", "--node", "n1", "--silence", "1"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let stdin = agent.stdin.take().expect("a pipe");
    if options.is_empty() {
        let mut reports = FrameReader::new(agent.stdout.take().expect("a pipe"));
        // A worker does not keep the agent alive. On a slow machine the agent may have exited by now.
        if let Ok(Some(Report::Hello(_))) = reports.read::<Report>() {
            let case = Box::new(cases::case("well"));
            let spawn = Command::Spawn { worker: WorkerId(1), case, place: 0, trial: 0 };
            let _ = FrameWriter::new(&stdin).write(&spawn);
        }
    }
    wait_until("the agent to leave", || matches!(crate::process::state(agent.id()), None | Some('Z')));
    assert!(agent.wait().expect("reaped").success());
    drop(stdin);
}

fn a_silent_controller() {
    leaves_by_itself(&[]);
}

fn a_silent_controller_of_a_relay() {
    leaves_by_itself(&["--relay"]);
}
