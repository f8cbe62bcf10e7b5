//! Bonds, file servers and shapers of kernels of their own: two guests, one boot.
//!
//! It takes some minutes under emulation. Without the packages it is skipped, in continuous integration it fails.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use xtask::packages::{self, Package};
use xtask::workspace;

/// A measurement of two guests: its name, and what stands behind `seatrial run`.
const STREAM: &str =
    "net.tcp_stream -w g1,g2 -p send=write -p receive=read -p congestion=cubic -p trials=1 -p max_trials=1";

/// Flows over a bond: enough that both members have some by almost any draw of ports.
const FLOWS: usize = 6;

/// The binary under test without what only a debugger reads: an emulated machine takes a minute to look through that before
/// it starts an agent. With it, where nobody can take it out.
fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial");
    let small = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("seatrial-of-guests");
    let stripped = Command::new("strip").arg("-o").arg(&small).arg(&built).status();
    if stripped.is_ok_and(|status| status.success()) { small } else { built }
}

/// The job of the first guest. Each `told` is one document on standard output.
fn job() -> String {
    let program = program();
    let services = workspace::root().join("lab/guest/services");
    format!(
        r#"
export SEATRIAL_HOME=/tmp/home
told() {{ {program} "$@" -o json 2> /tmp/told.err || {{ code=$?; cat /tmp/told.err >&2; echo "exit $code of $*" >&2; }}; }}
here() {{ sh {services} "$@"; }}
there() {{ ssh g2 sh {services} "$@"; }}
set -e

there nfs_server
here nfs_client
told run storage.peer_read -w g1,g2 -p directory=/srv/shared -p size=4MiB -p block=256KiB -p threads=2 -p time=500ms \
    -p trials=1 -p max_trials=1

modprobe sch_fq
tc qdisc replace dev eth1 root fq maxrate 8mbit
told run {STREAM} -p interface=eth1 -p flows=2 -p time=1s
modprobe sch_hfsc
tc qdisc replace dev eth1 root handle 1: hfsc default 10
tc class add dev eth1 parent 1: classid 1:1 hfsc ls rate 40mbit ul rate 40mbit
tc class add dev eth1 parent 1:1 classid 1:10 hfsc ls rate 30mbit ul rate 20mbit
told run {STREAM} -p interface=eth1 -p time=1s
tc qdisc delete dev eth1 root

there bond 802.3ad layer3+4 2 1
here bond 802.3ad layer3+4 1 2
here bonded 2
told inventory
told run {STREAM} -p interface=bond0 -p flows={FLOWS} -p time=2s

there bond balance-rr none 2 1
here bond balance-rr none 1 2
here bonded 2
told run {STREAM} -p interface=bond0 -p time=2s

there bond active-backup none 2 1
here bond active-backup none 1 2
here bonded 2
sent() {{ cat /sys/class/net/bond0/statistics/tx_bytes; }}
before=$(sent)
told run {STREAM} -p interface=bond0 -p time=15s > /tmp/told.out &
while [ $(($(sent) - before)) -lt 30000000 ] && kill -0 $!; do sleep 0.2; done
sleep 3
ip link set eth1 down
wait $!
cat /tmp/told.out
"#,
        program = program.display(),
        services = services.display(),
    )
}

#[test]
fn bonds_file_servers_and_shapers_between_two_guests_are_what_their_kernels_count() {
    let needed: Vec<Package> = packages::GUEST
        .iter()
        .chain(
            packages::LAB
                .iter()
                .chain(packages::LAB_TESTS)
                .filter(|it| ["mkfs.ext4", "ping"].contains(&it.program)),
        )
        .copied()
        .collect();
    let missing = packages::missing_now(&needed);
    if !missing.is_empty() && !workspace::is_ci() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("skipped: guests need {}", names.join(" "));
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["guest", "run", "--guests", "2", "--nics", "3", "--disks", "scsi:1", "--limit", "1500"]);
    let output = command.args(["--", "sh", "-c", &job()]).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let documents: Vec<Value> =
        serde_json::Deserializer::from_slice(&output.stdout).into_iter().filter_map(Result::ok).collect();
    let [read, fq, hfsc, inventory, grouped, turns, failed_over] = documents.as_slice() else {
        panic!("{} documents: {complaint}", documents.len());
    };
    another_guests_files(read);
    each_flow_held(fq);
    held_by_its_class(hfsc);
    a_bond_and_its_members(inventory);
    by_hash(grouped);
    in_turn(turns);
    one_member_down(failed_over);
}

/// The only result of a run, which measured.
#[track_caller]
fn measured(document: &Value) -> &Value {
    let result = &document["results"][0];
    assert_eq!(result["outcome"], "measured", "{result:#}");
    result
}

/// The texts of findings of a kind, those of the run and those of its case.
fn told(document: &Value, kind: &str) -> Vec<String> {
    let lists = [&document["findings"], &document["results"][0]["findings"]];
    let all = lists.into_iter().filter_map(Value::as_array).flatten();
    let own = all.filter(|finding| finding["kind"] == kind);
    own.map(|finding| finding["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What an interface of a guest counted during the case.
#[track_caller]
fn counted(result: &Value, node: &str, name: &str) -> f64 {
    let counts = &result["evidence"]["probes"][node]["nic"]["counts"];
    counts[name].as_f64().unwrap_or_else(|| panic!("{node} tells no {name}: {counts:#}"))
}

fn another_guests_files(document: &Value) {
    let result = measured(document);
    assert_eq!(result["chosen"]["written_on"], "g2");
    assert!(result["evidence"]["integrity"].to_string().contains("verified"), "{}", result["evidence"]);
    // Two kernels: no cache of the reader's has seen it.
    assert_eq!(told(document, "same-client"), [""; 0]);
    // What bounds it is the card that leads to the server; one that is imitated has no wire, and that is the reason.
    let limit = &result["metrics"]["throughput"]["limit"];
    let reason = limit["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("10.78.0.2:/ is reached over eth0"), "{limit}");
}

/// Flows of 8 Mbit/s each, of frames with 14 B of header.
fn each_flow_held(document: &Value) {
    let limit = limit(document, "qdisc fq");
    assert!((limit - 2.0 * 0.008 * 8948.0 / 9014.0).abs() < 1e-9, "{limit}");
}

fn held_by_its_class(document: &Value) {
    let limit = limit(document, "qdisc hfsc");
    assert!((limit - 0.020 * 8948.0 / 9014.0).abs() < 1e-9, "{limit}");
}

/// The limit of the throughput, which is of this provenance and was kept.
#[track_caller]
fn limit(document: &Value, provenance: &str) -> f64 {
    let throughput = &measured(document)["metrics"]["throughput"];
    assert_eq!(throughput["limit"]["provenance"], provenance, "{throughput:#}");
    let value = throughput["limit"]["value"].as_f64().expect("a limit");
    let mean = throughput["mean"].as_f64().expect("a rate");
    assert!(mean > 0.0 && mean <= value * 1.01, "{mean} of {value}");
    value
}

fn a_bond_and_its_members(document: &Value) {
    let nics = document["nodes"][0]["machine"]["nics"]["known"].as_array().expect("interfaces");
    let bond = nics.iter().find(|nic| nic["name"] == "bond0").expect("the bond");
    assert_eq!(bond["kind"], "bond", "{bond:#}");
    assert_eq!(bond["bond"]["mode"]["known"], "802.3ad", "{bond:#}");
    assert_eq!(bond["bond"]["hash_policy"]["known"], "layer3+4", "{bond:#}");
    let members = bond["bond"]["members"].as_array().expect("members");
    let names: Vec<&Value> = members.iter().map(|member| &member["name"]).collect();
    assert_eq!(names, ["eth1", "eth2"], "{bond:#}");
    assert!(members.iter().all(|member| member["link"]["known"] == "up"), "{bond:#}");
    assert_eq!(members[0]["aggregator"], members[1]["aggregator"], "{bond:#}");
}

/// The member that Linux sends a flow over, by its number, of two (drivers/net/bonding/bond_main.c, `bond_xmit_hash` with
/// `BOND_XMIT_POLICY_LAYER34`): ports and addresses as they stand in the packet, read as numbers of this machine.
fn member_of(local: &str, peer: &str) -> usize {
    let end = |text: &str| -> (u32, [u8; 2]) {
        let address: std::net::SocketAddrV4 = text.parse().expect("an address");
        (u32::from_ne_bytes(address.ip().octets()), address.port().to_be_bytes())
    };
    let ((from, from_port), (to, to_port)) = (end(local), end(peer));
    let mut hash = u32::from_ne_bytes([from_port[0], from_port[1], to_port[0], to_port[1]]);
    hash ^= from ^ to;
    hash ^= hash >> 16;
    hash ^= hash >> 8;
    ((hash >> 1) % 2) as usize
}

fn by_hash(document: &Value) {
    let result = measured(document);
    assert_eq!(told(document, "path-unconfirmed"), [""; 0]);
    let counts = ["eth1", "eth2"].map(|name| counted(result, "g1", &format!("tx_bytes {name}")));
    let whole = counted(result, "g1", "tx_bytes bond0");
    assert!(((counts[0] + counts[1]) / whole - 1.0).abs() < 0.02, "{counts:?} of {whole}");
    // What the flows sent, on the members that the policy puts them on. Which of both comes first is the kernel's affair.
    let flows = result["evidence"]["flows_of_last_trial"].as_array().expect("flows");
    assert_eq!(flows.len(), FLOWS);
    let mut expected = [0.0; 2];
    for flow in flows {
        let socket = &flow["sender"]["socket"];
        let end = |name: &str| socket[name].as_str().expect("an address").to_owned();
        expected[member_of(&end("local"), &end("peer"))] += flow["sender"]["bytes"].as_f64().expect("bytes");
    }
    let off =
        |counts: [f64; 2]| (0..2).map(|at| ((counts[at] - expected[at]) / whole).abs()).fold(0.0, f64::max);
    let best = off(counts).min(off([counts[1], counts[0]]));
    assert!(best < 0.1, "the members sent {counts:?}, and by the policy it is {expected:?}");
}

fn in_turn(document: &Value) {
    let result = measured(document);
    let counts = ["eth1", "eth2"].map(|name| counted(result, "g1", &format!("tx_bytes {name}")));
    let share = counts[0] / (counts[0] + counts[1]);
    assert!((0.4..0.6).contains(&share), "one flow goes over both in turn: {counts:?}");
}

fn one_member_down(document: &Value) {
    let result = measured(document);
    assert_eq!(told(document, "path-unconfirmed"), [""; 0], "the bond carried it all");
    let found = told(document, "link-lost");
    assert!(
        found.iter().any(|text| text.starts_with("eth1 of g1, a member of a bond, lost its link")),
        "{found:?}"
    );
    // Before and behind.
    for name in ["eth1", "eth2"] {
        let bytes = counted(result, "g1", &format!("tx_bytes {name}"));
        assert!(bytes > 1e6, "{name} sent {bytes} bytes");
    }
}
