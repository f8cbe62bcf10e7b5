//! Nodes that cannot be reached, and agents that must not be listened to.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;

use crate::rig::{BOTH, CHASE, Rig, shared};
use crate::started::{outcome, reason};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_node_without_a_link_is_never_reached_and_the_other_is_measured", a_node_without_a_link),
        trial("a_wrong_host_key_is_named", a_wrong_host_key),
        trial("a_wrong_user_key_is_named", a_wrong_user_key),
        trial("an_agent_of_another_build_is_refused_with_both_named", another_build),
        trial("a_copy_that_lost_its_content_is_sent_anew", a_copy_that_lost_its_content),
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
        assert!(why.starts_with("n2 not reachable: ") && why.ends_with(" (ssh, port 22)"), "{why}");
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
        let other = rig.lab.folder().join("seatrial-other");
        let mut bytes = fs::read(&rig.program).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::copy(&rig.program, &other).unwrap();
        fs::write(&other, bytes).unwrap();
        // What runs on n2 is that one, also when the copy there was sent anew.
        let change = format!(
            r#"case "$word" in *"--node n2"*) word=$(printf %s "$word" | sed 's|exec "$d/$f"|exec {}|g');; esac"#,
            other.display()
        );
        let ours = with_copy(rig, ":");
        let why = why_n2_is_missing(rig, &rig.client_that("client-other", &change));
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
