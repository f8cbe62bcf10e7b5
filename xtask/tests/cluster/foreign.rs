//! Callers without the key, one and a flood of them, at the controller's port and at those of a measurement.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::rig::{BOTH, REQUESTS, Rig, shared, with_more_time};
use crate::started::{Ended, Started, record, too_late, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("callers_without_the_key_are_turned_away_and_disturb_nothing", callers_without_the_key),
        trial("a_flood_at_the_controller_s_port_keeps_no_agent_out", a_flood_at_the_controller),
        trial("a_flood_at_the_port_of_a_measurement_keeps_the_peer_in", a_flood_at_a_data_port),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Far more than anybody asks at once for the key.
const FLOOD: usize = 300;

/// Of them, as many as every listening port takes before anybody answers.
const FIRST: usize = 100;

/// As many as the controller asks at once; it hangs up on the others.
const ASKED_AT_ONCE: usize = 128;

/// Ports on which a process listens.
fn listens(pid: u32) -> Vec<u16> {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let open: Vec<String> = open
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .collect();
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let text = tables.map(Result::unwrap_or_default).concat();
    // proc(5): the second column is the local address, the fourth the state (0A: it listens), the tenth the inode.
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours =
        rows.filter(|row| row.len() > 9 && row[3] == "0A" && open.contains(&format!("socket:[{}]", row[9])));
    ours.map(|row| u16::from_str_radix(row[1].rsplit_once(':').unwrap().1, 16).unwrap()).collect()
}

/// Callers on a node, who end when they are hung up on.
fn call(rig: &Rig, port: u16, says: &str) -> Child {
    let call = format!("exec 3<>/dev/tcp/10.77.0.254/{port}; {says}; cat <&3 >/dev/null");
    let mut command = rig.lab.command(&["run", "--node", "n1", "--", "timeout", "300", "bash", "-c", &call]);
    command.stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

/// A flood from a node: so many connections that say nothing, held until each is hung up on.
struct Flood(Child);

impl Flood {
    /// Returns when `up` of them are connected. A port that nobody accepts on yet holds no more of them than listen(2)
    /// was told; the others come as soon as there is room, until the port is closed.
    fn on(rig: &Rig, address: &str, port: u16, up: usize) -> Self {
        let line = format!(
            "for i in $(seq {FLOOD}); do {{ exec {{fd}}<>/dev/tcp/{address}/{port}; }} 2>/dev/null || break; \
             all=\"$all $fd\"; [ $i -ne {up} ] || echo up; done; for fd in $all; do cat <&$fd >/dev/null; done; true"
        );
        let mut command =
            rig.lab.command(&["run", "--node", "n1", "--", "timeout", "300", "bash", "-c", &line]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        let mut word = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut word).unwrap();
        assert_eq!(word, "up\n", "the flood did not get through to {address}:{port}");
        Self(child)
    }

    /// Every one of them was hung up on in the end.
    #[track_caller]
    fn assert_over(mut self) {
        let mut status = None;
        wait_until("the flood to be hung up on", || {
            status = self.0.try_wait().unwrap();
            status.is_some()
        });
        assert!(status.unwrap().success(), "{status:?}");
    }
}

impl Drop for Flood {
    /// A trial that fails leaves no caller behind, nor what it started.
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
            let _ = self.0.wait();
        }
    }
}

/// A run that waits for its nodes, since somebody else's job has one of them, and its port. Also the other job.
fn awaiting(rig: &Rig) -> (Started, u16, String) {
    let sleep = ["run", "--", "sbatch", "--parsable", "--exclusive", "-w", "n2", "-o", "/dev/null"];
    let job = rig.lab.lab(&[&sleep[..], &["--wrap", "sleep 600"]].concat());
    wait_until("the other job", || rig.jobs().contains(" R "));
    let run = rig.start(&[REQUESTS, &["-N2"], JSON]);
    let mut ports = Vec::new();
    wait_until("a port", || {
        ports = listens(run.pid());
        !ports.is_empty()
    });
    let [port] = ports[..] else { panic!("{ports:?}") };
    (run, port, job.trim().to_owned())
}

fn callers_without_the_key() {
    shared(|rig| {
        let (mut run, port, job) = awaiting(rig);
        let mut callers: Vec<Child> = Vec::new();
        for says in ["head -c 4096 /dev/zero >&3", ":", "printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3"] {
            callers.extend((0..4).map(|_| call(rig, port, says)));
        }
        for caller in &mut callers {
            // Nobody lets them in, and their time to prove themselves is short.
            wait_until("a caller to be hung up on", || caller.try_wait().unwrap().is_some());
        }
        assert_eq!(listens(run.pid()), [port], "agents are still awaited");
        rig.lab.head(&format!("scancel {job}"));
        run.wait_for("case_started", "net.rr");
        assert_eq!(listens(run.pid()), Vec::<u16>::new(), "the port is open only while agents are awaited");
        let ended = run.end();
        assert_eq!(record(&ended.document(0), "net.rr")["outcome"], "measured");
        assert_eq!(turned_away(&ended), 12, "{}", ended.complaint);
    });
}

/// The foreign connections that it says it turned away.
#[track_caller]
fn turned_away(ended: &Ended) -> usize {
    let told = " connections without the key of this run were refused while agents started";
    let before = ended.complaint.split_once(told).unwrap_or_else(|| panic!("{}", ended.complaint)).0;
    before.split_whitespace().next_back().unwrap().parse().unwrap()
}

fn a_flood_at_the_controller() {
    shared(|rig| {
        let (run, port, job) = awaiting(rig);
        let flood = Flood::on(rig, "10.77.0.254", port, FLOOD);
        // The agents connect while silent callers hold every place, and have to connect again.
        rig.lab.head(&format!("scancel {job}"));
        let ended = run.end();
        assert_eq!(record(&ended.document(0), "net.rr")["outcome"], "measured");
        // The controller may still wait for the first ones to authenticate when the last agent is there.
        assert!(turned_away(&ended) >= FLOOD - ASKED_AT_ONCE, "{}", ended.complaint);
        flood.assert_over();
    });
}

/// Ports on which anything listens in the network of a process.
fn open_ports(pid: u32) -> BTreeSet<u16> {
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let text = tables.map(Result::unwrap_or_default).concat();
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let listening = rows.filter(|row| row.len() > 9 && row[3] == "0A");
    listening.map(|row| u16::from_str_radix(row[1].rsplit_once(':').unwrap().1, 16).unwrap()).collect()
}

/// A process that stands still until this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn new(pid: u32) -> Self {
        let pid = Pid::from_raw(pid.cast_signed()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

fn a_flood_at_a_data_port() {
    shared(|rig| with_more_time(rig, |time| a_flood_while(rig, time)));
}

fn a_flood_while(rig: &Rig, time: &str) {
    let n2 = rig.lab.record().host("n2").unwrap().init.unwrap().pid;
    let before = open_ports(n2);
    let benches = ["run", "mem.latency", "net.rr", "-p", "size=64KiB", "-p", time];
    let mut run = rig.start(&[&benches, &["-p", "trials=1", "-p", "max_trials=1"], BOTH, JSON]);
    // While n2 chases pointers, the agent of n1 is idle. It is stopped, so that the server of the next case opens its
    // port and waits, for a client that is not started yet.
    run.wait_for("case_started", "mem.latency@n2");
    let agents: Vec<u32> =
        rig.running().into_iter().filter(|(host, ..)| host == "n1").map(|(_, pid, _)| pid).collect();
    let [agent] = agents[..] else { panic!("{agents:?}") };
    let stopped = Stopped::new(agent);
    let mut opened = Vec::new();
    wait_until("the server's port", || {
        opened = open_ports(n2).difference(&before).copied().collect();
        if opened.is_empty() && run.has("case_ended", "net.rr") {
            too_late("it was over before the flood");
        }
        !opened.is_empty()
    });
    let [port] = opened[..] else { panic!("{opened:?}") };
    let flood = Flood::on(rig, "10.77.0.2", port, FIRST);
    drop(stopped);
    let ended = run.end();
    let document = ended.document(0);
    let case = record(&document, "net.rr");
    assert_eq!(case["outcome"], "measured", "{case:#}");
    let parts = ended.parts("net.rr");
    // Each end counts for itself what it checked: a byte a message. The client asks once more to see that the server
    // still answers, which the server may count before or after it is asked.
    let checked = |name: &str| {
        let part = parts.iter().find(|part| part["part"] == name).unwrap();
        part["integrity"]["verified"]["checked"].as_u64().unwrap_or_else(|| panic!("{part:#}"))
    };
    let (asked, served) = (checked("client"), checked("server"));
    assert!(asked > 0 && asked.abs_diff(served) <= 1, "{asked} asked, {served} served");
    // What it talked to is its peer, and none of the others.
    let from = |end: &Value| end.as_str().unwrap().split_once(':').unwrap().0.to_owned();
    let ends = case["evidence"]["connection"]["ends"].as_array().unwrap();
    assert_eq!(ends.iter().map(from).collect::<Vec<_>>(), ["10.77.0.1", "10.77.0.2"]);
    flood.assert_over();
    assert_eq!(open_ports(n2), before, "the port is closed");
}
