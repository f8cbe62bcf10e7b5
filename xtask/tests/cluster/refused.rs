//! Nodes that cannot be reached, agents that must not be listened to, and callers without the key.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Trial;

use crate::rig::{BOTH, CHASE, REQUESTS, Rig, shared};
use crate::started::{outcome, reason, record, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_without_a_link_is_never_reached_and_the_other_is_measured", a_node_without_a_link),
        trial("a_wrong_host_key_is_named", a_wrong_host_key),
        trial("a_wrong_user_key_is_named", a_wrong_user_key),
        trial("an_agent_of_another_build_is_refused_with_both_named", another_build),
        trial("a_copy_that_lost_its_content_is_sent_anew", a_copy_that_lost_its_content),
        trial("callers_without_the_key_are_turned_away_and_disturb_nothing", callers_without_the_key),
    ]
}

const JSON: &[&str] = &["-o", "json"];

/// Runs with `client`; n1 has to be measured, n2 not to be reached. Returns the reason.
#[track_caller]
fn why_n2_is_missing(rig: &Rig, client: &str) -> String {
    let document = rig.run(&[CHASE, BOTH, &[client], JSON]).document(3);
    assert_eq!(outcome(&document, "mem.latency@n1"), ("measured", ""));
    assert_eq!(outcome(&document, "mem.latency@n2"), ("unmeasured", "never_reached"));
    reason(&document, "mem.latency@n2").to_owned()
}

fn a_node_without_a_link() {
    shared(|rig| {
        rig.lab.lab(&["fault", "n2", "down"]);
        let client = rig.client("-o ConnectTimeout=2");
        let why = why_n2_is_missing(rig, &client);
        assert!(why.contains("connect to host n2 port 22"), "{why}");
    });
}

fn a_wrong_host_key() {
    shared(|rig| {
        let known = fs::read_to_string(rig.lab.folder().join("ssh/known_hosts")).unwrap();
        let key = |name: &str| {
            let mut lines = known.lines().map(|line| line.split_once(' ').unwrap());
            lines.find(|(hosts, _)| hosts.split(',').any(|host| host == name)).unwrap().1.to_owned()
        };
        let file = rig.lab.folder().join("ssh/known_wrongly");
        fs::write(&file, format!("n1 {}\nn2 {}\n", key("n1"), key("n1"))).unwrap();
        let client = rig.client(&format!("-o UserKnownHostsFile={}", file.display()));
        let why = why_n2_is_missing(rig, &client);
        assert!(why.contains("Host key verification failed"), "{why}");
    });
}

fn a_wrong_user_key() {
    shared(|rig| {
        let keys = rig.lab.folder().join("ssh");
        let (good, wrong) = (keys.join("id_ed25519"), keys.join("id_wrong"));
        if !wrong.exists() {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&wrong);
            assert!(keygen.status().unwrap().success());
        }
        let text = fs::read_to_string(keys.join("ssh_config")).unwrap();
        let rest: Vec<&str> = text.lines().filter(|line| !line.contains("IdentityFile ")).collect();
        let config = keys.join("config_wrong");
        let text = format!(
            "Host n1\n    IdentityFile {}\nHost n2\n    IdentityFile {}\n{}\n",
            good.display(),
            wrong.display(),
            rest.join("\n")
        );
        fs::write(&config, text).unwrap();
        let why = why_n2_is_missing(rig, &rig.client(&format!("-F {}", config.display())));
        assert!(why.contains("Permission denied (publickey)"), "{why}");
    });
}

/// Brings copies to both nodes, does `line` to that of n2 (`$f`), and returns its name.
fn with_copy(rig: &Rig, line: &str) -> String {
    rig.lab.node("n2", "rm -rf /tmp/cache");
    rig.run(&[&["inventory"], BOTH, JSON]).document(0);
    let name = rig.lab.node("n2", &format!("cd /tmp/cache/seatrial; f=$(echo *); {line}; echo $f"));
    name.trim().to_owned()
}

fn another_build() {
    shared(|rig| {
        // The last byte of the file belongs to a table that running it does not need.
        let size = fs::metadata(&rig.program).unwrap().len();
        let spoil = format!("printf x | dd of=$f bs=1 seek={} conv=notrunc status=none", size - 1);
        let ours = with_copy(rig, &spoil);
        let why = why_n2_is_missing(rig, &rig.client(""));
        rig.lab.node("n2", "rm -rf /tmp/cache");
        let (theirs, rest) = why.split_once("is build ").unwrap().1.split_once(" (protocol ").unwrap();
        assert!(rest.contains(&format!(", this is {ours} (protocol ")), "{why}");
        let version = ours.split_once('+').unwrap().0;
        assert!(theirs != ours && theirs.starts_with(&format!("{version}+")), "{why}");
    });
}

fn a_copy_that_lost_its_content() {
    shared(|rig| {
        let name = with_copy(rig, ": > $f");
        let document = rig.run(&[CHASE, BOTH, JSON]).document(0);
        assert_eq!(outcome(&document, "mem.latency@n2"), ("measured", ""));
        let size = rig.lab.node("n2", &format!("stat --format=%s /tmp/cache/seatrial/{name}"));
        assert_eq!(size.trim(), fs::metadata(&rig.program).unwrap().len().to_string());
    });
}

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
    let mut command = rig.lab.command(&["run", "--node", "n1", "--", "timeout", "60", "bash", "-c", &call]);
    command.stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

fn callers_without_the_key() {
    shared(|rig| {
        // Somebody else's job, for which ours has to wait.
        let sleep = ["run", "--", "sbatch", "--parsable", "--exclusive", "-w", "n2", "-o", "/dev/null"];
        let job = rig.lab.lab(&[&sleep[..], &["--wrap", "sleep 600"]].concat());
        wait_until("the other job", || rig.jobs().contains(" R "));
        let mut run = rig.start(&[REQUESTS, &["-N2"], JSON]);
        let mut ports = Vec::new();
        wait_until("a port", || {
            ports = listens(run.pid());
            !ports.is_empty()
        });
        let [port] = ports[..] else { panic!("{ports:?}") };
        let mut callers: Vec<Child> = Vec::new();
        for says in ["head -c 4096 /dev/zero >&3", ":", "printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3"] {
            callers.extend((0..4).map(|_| call(rig, port, says)));
        }
        for caller in &mut callers {
            // Nobody lets them in, and their time to prove themselves is short.
            wait_until("a caller to be hung up on", || caller.try_wait().unwrap().is_some());
        }
        assert_eq!(listens(run.pid()), [port], "agents are still awaited");
        rig.lab.head(&format!("scancel {}", job.trim()));
        run.wait_for("case_started", "net.rr");
        assert_eq!(listens(run.pid()), Vec::<u16>::new(), "the port is open only while agents are awaited");
        let ended = run.end();
        assert_eq!(record(&ended.document(0), "net.rr")["outcome"], "measured");
        let told = "12 callers without the key were turned away while agents were awaited";
        assert!(ended.complaint.contains(told), "{}", ended.complaint);
    });
}
