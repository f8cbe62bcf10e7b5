//! Bonds, file servers and shapers of kernels of their own: two guests, one boot.
//!
//! It takes some minutes under emulation. Without the packages it is skipped, in continuous integration it fails.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "common/guest.rs"]
mod common;

use common::{documents, guest, measured};
use serde_json::Value;
use xtask::workspace;

/// A measurement of two guests: its name, and what stands behind `seatrial run`.
const STREAM: &str =
    "net.tcp_stream -w g1,g2 -p send=write -p receive=read -p congestion=cubic -p trials=1 -p max_trials=1";

/// Flows over a bond: both members have some by almost any draw of ports.
const FLOWS: usize = 6;

/// Of a file system: short, in small blocks, since each is checked by an emulated processor.
const FILES: &str = "-p directory=/srv/shared -p size=4MiB -p block=256KiB -p threads=2 -p time=500ms \
                     -p trials=1 -p max_trials=1";

/// The same, for longer than the server stands still.
const LONG: &str = "-p directory=/srv/shared -p size=4MiB -p block=256KiB -p threads=2 -p time=6s -p trials=1 -p max_trials=1";

/// The cards: one for ssh, then four with a rate.
const CARDS: &str = "virtio:1,e1000e:4";

/// The job of the first guest. Each `told` is one document on standard output.
fn job() -> String {
    let services = workspace::root().join("lab/guest/services");
    format!(
        r#"
here() {{ sh {services} "$@"; }}
there() {{ ssh g2 sh {services} "$@"; }}
set -e

there nfs_server 10.78.1.1
here nfs_client 10.78.1.2 10.78.1.1
came() {{ cat /sys/class/net/eth1/statistics/rx_bytes; }}
before=$(came)
told run storage.peer_read -w g1,g2 {FILES}
echo "{{\"came\": $(($(came) - before))}}"
told run storage.file -p operation=write {FILES}
# The file system of the server stands still, again and again, while the network is as it was.
touch /run/guest/slow
ssh g2 'while [ -e /run/guest/slow ]; do fsfreeze -f /srv/shared; sleep 1.9; fsfreeze -u /srv/shared; sleep 0.05; done' &
told run storage.file -p operation=write {LONG}
rm /run/guest/slow
wait
umount /srv/shared

modprobe sch_fq
modprobe sch_hfsc
tc qdisc replace dev eth1 root fq maxrate 8mbit
tc qdisc replace dev eth2 root handle 1: hfsc default 10
tc class add dev eth2 parent 1: classid 1:1 hfsc ls rate 40mbit ul rate 40mbit
tc class add dev eth2 parent 1:1 classid 1:10 hfsc ls rate 30mbit ul rate 20mbit
told run {STREAM} -p interface=eth1,eth2 -p flows=2 -p time=1s

there bond bond0 802.3ad layer3+4 2 eth1 eth2
here bond bond0 802.3ad layer3+4 1 eth1 eth2
there bond bond1 balance-rr none 2 eth3 eth4
here bond bond1 balance-rr none 1 eth3 eth4
here bonded bond0 2
here bonded bond1 2
told inventory
ip link add bond9 type bond mode balance-rr
shown() {{ echo "\"$(cat /sys/class/net/bond9/bonding/mode /sys/class/net/bond9/bonding/xmit_hash_policy | tr '\n' ' ')\""; }}
told settings apply nic.bond_mode@bond9=802.3ad nic.bond_hash_policy@bond9=layer3+4 --yes
shown
told settings restore
shown
told settings apply nic.bond_mode@bond0=balance-xor --yes
told settings restore
ip link delete bond9
# Each flow is held to one rate, so that what a member sent tells how many flows it had.
for card in eth1 eth2 eth3 eth4; do tc qdisc replace dev $card root fq maxrate 8mbit; done
told run {STREAM} -p interface=bond0,bond1 -p flows={FLOWS} -p time=1500ms

for card in eth1 eth2; do tc qdisc delete dev $card root; done
there bond bond0 active-backup none 2 eth1 eth2
here bond bond0 active-backup none 1 eth1 eth2
here bonded bond0 2
sent() {{ cat /sys/class/net/bond0/statistics/tx_bytes; }}
before=$(sent)
told run {STREAM} -p interface=bond0 -p time=10s > /tmp/told.out &
# A cable that is cut has two ends.
ssh g2 'until [ -e /run/guest/cut ]; do sleep 0.1; done; ip link set eth1 down' &
while [ $(($(sent) - before)) -lt 5000000 ]; do sleep 0.2; done
sleep 3
touch /run/guest/cut
ip link set eth1 down
wait
cat /tmp/told.out
"#,
        services = services.display(),
    )
}

#[test]
fn bonds_file_servers_and_shapers_between_two_guests_are_what_their_kernels_count() {
    // They deny to be guests, so that their cards have the limits of real ones.
    let options = ["--guests", "2", "--bare", "--nics", CARDS, "--disks", "scsi:1", "--limit", "1200"];
    let Some(output) = guest(&options, &job()) else { return };
    let documents = documents(&output);
    let [
        read,
        came,
        written,
        stalled,
        shaped,
        inventory,
        applied,
        set,
        restored,
        as_before,
        refused,
        _,
        bonded,
        failed_over,
    ] = documents.as_slice()
    else {
        panic!("{} documents: {}", documents.len(), String::from_utf8_lossy(&output.stderr));
    };
    another_guests_files(read, came["came"].as_f64().expect("a count"));
    to_a_server(written);
    to_a_server_that_stands_still(stalled);
    each_flow_held(measured(shaped, 0));
    held_by_its_class(measured(shaped, 1));
    bonds_and_their_members(inventory);
    assert_eq!(states(applied), ["done", "done"], "{applied:#}");
    assert_eq!(set, "802.3ad 4 layer3+4 1 ");
    assert_eq!(states(restored), ["done", "done"], "{restored:#}");
    assert_eq!(as_before, "balance-rr 0 layer2 0 ");
    // A bond with members keeps its mode.
    assert_eq!(states(refused), ["failed"], "{refused:#}");
    by_hash(bonded);
    in_turn(bonded);
    one_member_down(failed_over);
}

/// What became of each value that was set on the guest.
fn states(document: &Value) -> Vec<&str> {
    let outcomes = document["nodes"][0]["answer"]["outcomes"].as_array().into_iter().flatten();
    outcomes.map(|outcome| outcome["state"].as_str().unwrap_or_default()).collect()
}

/// The texts of findings of a kind, those of the run and those of its cases.
fn findings(document: &Value, kind: &str) -> Vec<String> {
    let cases = document["results"].as_array().into_iter().flatten().map(|result| &result["findings"]);
    let all = std::iter::once(&document["findings"]).chain(cases).filter_map(Value::as_array).flatten();
    let own = all.filter(|finding| finding["kind"] == kind);
    own.map(|finding| finding["text"].as_str().unwrap_or_default().to_owned()).collect()
}

/// What an interface of a guest counted during the case.
#[track_caller]
fn counted(result: &Value, node: &str, name: &str) -> f64 {
    let counts = &result["evidence"]["probes"][node]["nic"]["counts"];
    counts[name].as_f64().unwrap_or_else(|| panic!("{node} tells no {name}: {counts:#}"))
}

/// The limit of the throughput, of this provenance, and its formula.
#[track_caller]
fn limit<'a>(result: &'a Value, provenance: &str) -> (f64, &'a str) {
    let limit = &result["metrics"]["throughput"]["limit"];
    assert_eq!(limit["provenance"], provenance, "{limit:#}");
    (limit["value"].as_f64().expect("a value"), limit["formula"].as_str().expect("a formula"))
}

/// That a figure is another, up to the rounding of what is written down.
#[track_caller]
fn close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 1e-6, "{found} is not {wanted}");
}

/// What a wire of 1 Gbit/s carries of TCP in frames of 9000 bytes: 9000 less two headers of 20 and one stamp of 12 bytes, of
/// what frame, check sum, preamble and gap make of it.
const PAYLOAD: f64 = 8948.0 / 9038.0;

fn another_guests_files(document: &Value, came: f64) {
    let result = measured(document, 0);
    assert_eq!(result["layout"]["written_on"], "g2");
    assert!(result["evidence"]["integrity"].to_string().contains("verified"), "{}", result["evidence"]);
    // Two kernels: no cache of the reader's has seen it, and past its cache it came over the wire, all of it.
    assert_eq!(findings(document, "same-client"), [""; 0]);
    let bytes = result["evidence"]["bytes"]["read"].as_f64().expect("a count");
    assert!(bytes > 0.0 && came >= bytes, "{bytes} were read, and {came} came");
    let (value, formula) = limit(result, "nic nic speed");
    close(value, 125.0 * PAYLOAD);
    assert!(formula.starts_with("eth1 to 10.78.1.2: 1000 Mbit/s x 8948"), "{formula}");
}

fn to_a_server(document: &Value) {
    let result = measured(document, 0);
    assert!(result["evidence"]["integrity"].to_string().contains("verified"), "{}", result["evidence"]);
    let (value, _) = limit(result, "nic nic speed");
    close(value, 125.0 * PAYLOAD);
}

/// What the client counted of its requests says whose time it was: the server's.
fn to_a_server_that_stands_still(document: &Value) {
    let nfs = &measured(document, 0)["evidence"]["probes"]["g1"]["nfs"];
    let count = |name: &str| {
        let found = nfs["counts"][format!("{name} WRITE 10.78.1.2:/ /srv/shared")].as_u64();
        found.unwrap_or_else(|| panic!("no {name}: {nfs:#}"))
    };
    assert!(count("operations") > 0 && count("retransmissions") == 0, "{nfs:#}");
    // It stands still for 1.9 s of 2 s.
    assert!(2 * count("rtt_ms") > count("execute_ms"), "{nfs:#}");
    assert!(2 * count("execute_ms") > nfs["counts"]["elapsed_ms"].as_u64().expect("a time"), "{nfs:#}");
    assert_eq!(findings(document, "nfs-retransmissions"), [""; 0]);
    let slow = findings(document, "slow-nfs-server");
    let says = "the NFS server of 10.78.1.2:/, seen from g1: ";
    assert!(slow.first().is_some_and(|text| text.starts_with(says)), "{slow:?}: {nfs:#}");
}

/// Two flows of 8 Mbit/s each, of frames with 14 B of header.
fn each_flow_held(result: &Value) {
    let (value, _) = limit(result, "qdisc fq");
    close(value, 2.0 * 0.008 * 8948.0 / 9014.0);
    kept(result, value);
}

fn held_by_its_class(result: &Value) {
    let (value, _) = limit(result, "qdisc hfsc");
    close(value, 0.020 * 8948.0 / 9014.0);
    kept(result, value);
}

/// A shaper lets no more through than it says; what stood in its queue before may come in the window.
#[track_caller]
fn kept(result: &Value, limit: f64) {
    let throughput = &result["metrics"]["throughput"];
    let mean = throughput["mean"].as_f64().expect("a rate");
    assert!(mean > 0.0 && mean <= limit * 1.05, "{mean} of {limit}");
}

fn bonds_and_their_members(document: &Value) {
    let nics = document["nodes"][0]["machine"]["nics"]["known"].as_array().expect("interfaces");
    let named = |name: &str| nics.iter().find(|nic| nic["name"] == name).expect("the bond");
    for (name, mode, expected) in
        [("bond0", "802.3ad", ["eth1", "eth2"]), ("bond1", "balance-rr", ["eth3", "eth4"])]
    {
        let bond = named(name);
        assert_eq!(bond["kind"], "bond", "{bond:#}");
        assert_eq!(bond["bond"]["mode"]["known"], mode, "{bond:#}");
        let members = bond["bond"]["members"].as_array().expect("members");
        let names: Vec<&Value> = members.iter().map(|member| &member["name"]).collect();
        assert_eq!(names, expected, "{bond:#}");
        assert!(members.iter().all(|member| member["link"]["known"] == "up"), "{bond:#}");
    }
    let grouped = &named("bond0")["bond"];
    assert_eq!(grouped["hash_policy"]["known"], "layer3+4", "{grouped:#}");
    assert!(grouped["members"][0]["aggregator"].is_u64(), "{grouped:#}");
    assert_eq!(grouped["members"][0]["aggregator"], grouped["members"][1]["aggregator"], "{grouped:#}");
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

/// What part of what two members sent went over the first. Their bond counts what they do, at another moment.
fn share(result: &Value, bond: &str, members: [&str; 2]) -> f64 {
    let counts = members.map(|name| counted(result, "g1", &format!("tx_bytes {name}")));
    let whole = counted(result, "g1", &format!("tx_bytes {bond}"));
    assert!(whole > 1e6 && ((counts[0] + counts[1]) / whole - 1.0).abs() < 0.2, "{counts:?} of {whole}");
    counts[0] / (counts[0] + counts[1])
}

fn by_hash(document: &Value) {
    let result = measured(document, 0);
    assert_eq!(findings(document, "path-unconfirmed"), [""; 0]);
    let (value, formula) = limit(result, "bond");
    close(value, 2.0 * PAYLOAD);
    let names = "eth1 1000 Mbit/s + eth2 1000 Mbit/s (802.3ad: 6 flows on 2 members, each flow on one of \
                 them by layer3+4)";
    assert!(formula.contains(names), "{formula}");
    // The flows have one rate. Which member comes first is the kernel's affair.
    let flows = result["evidence"]["flows_of_last_trial"].as_array().expect("flows");
    assert_eq!(flows.len(), FLOWS);
    let first = flows.iter().filter(|flow| {
        let end = |name: &str| flow["sender"]["socket"][name].as_str().expect("an address").to_owned();
        member_of(&end("local"), &end("peer")) == 0
    });
    let expected = first.count() as f64 / FLOWS as f64;
    let found = share(result, "bond0", ["eth1", "eth2"]);
    let off = (found - expected).abs().min((found - (1.0 - expected)).abs());
    // Less than half a flow.
    assert!(
        off < 0.5 / FLOWS as f64,
        "eth1 sent {found} of it, and by the policy it is {expected} or the rest"
    );
}

fn in_turn(document: &Value) {
    let result = measured(document, 1);
    let (value, formula) = limit(result, "bond");
    close(value, 2.0 * PAYLOAD);
    assert!(formula.contains("(balance-rr: every flow is spread over all members)"), "{formula}");
    let found = share(result, "bond1", ["eth3", "eth4"]);
    assert!((0.4..0.6).contains(&found), "the flows go over both in turn, and eth3 sent {found} of it");
}

fn one_member_down(document: &Value) {
    let result = measured(document, 0);
    assert_eq!(findings(document, "path-unconfirmed"), [""; 0], "the bond carried it all");
    let (value, formula) = limit(result, "bond");
    close(value, PAYLOAD);
    assert!(formula.contains("eth1 1000 Mbit/s (active-backup: one member carries all)"), "{formula}");
    let found = findings(document, "link-lost");
    for node in ["g1", "g2"] {
        let begin = format!("eth1 of {node}, a member of a bond, lost its link");
        assert!(found.iter().any(|text| text.starts_with(&begin)), "{found:?}");
    }
    // Before and behind.
    for name in ["eth1", "eth2"] {
        let bytes = counted(result, "g1", &format!("tx_bytes {name}"));
        assert!(bytes > 1e6, "{name} sent {bytes} bytes");
    }
}
