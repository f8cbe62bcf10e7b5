//! A guest with two NUMA nodes, disks, soft-RoCE and an imitated GPU: what is found and measured there is what it has.
//!
//! It takes some minutes under emulation. Without the packages it is skipped, in continuous integration it fails.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "common/guest.rs"]
mod common;
#[path = "../../crates/sys/tests/fake_gpu/compile.rs"]
mod fake;

use common::{documents, guest, measured};
use fake::Fake;
use serde_json::Value;
use xtask::workspace;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// GB/s of the imitated GPU, which is next to node 1, to memory of that node; of another it is so many percent.
const NEAR: f64 = 50.0;
const FAR_PERCENT: f64 = 40.0;

/// Bytes a second that a control group lets through.
const THROTTLE: u64 = 2 << 20;

/// The job of a guest with two NUMA nodes. Each `told` is one document on standard output.
fn job(fake: &Fake) -> String {
    let services = workspace::root().join("lab/guest/services");
    let quick = "-p trials=1 -p max_trials=1";
    let gpu = format!("gpu.host_copy -p size=1MiB -p direction=h2d -p time=100ms {quick}");
    // Long enough to be looked at meanwhile, and once more: of a starved guest a trial may lack a node.
    let long = gpu.replace("100ms", "2s").replace("trials=1", "trials=2");
    format!(
        r#"
sh {services} gpu
export LD_LIBRARY_PATH={folder}
told inventory
told run mem.latency -p scope=matrix -p size=16MiB -p time=1s {quick}
# The machine's own kernel may have no SCTP; Debian's has.
told run net.tcp_stream --pattern alone -p protocol=sctp -p message=32KiB -p time=300ms {quick}
told run net.rr --pattern alone -p protocol=sctp -p request=32KiB -p response=1B -p time=300ms {quick}

# A clock that is a timer of the board, as where the kernel distrusts the processors' counters.
clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
usual=$(cat $clock)
echo hpet > $clock
told run rdma.write_poll_lat --pattern alone -p device=rxe0 -p time=300ms {quick}
echo $usual > $clock

# Where memory is bound and where it lies, by the kernel's own list, while it is used.
while [ ! -e /tmp/over ]; do nice -n 19 grep -h bind: /proc/[0-9]*/numa_maps; sleep 1; done > /tmp/maps 2> /dev/null &
told run {long} -p scope=matrix
touch /tmp/over
wait
grep -o 'bind:.*' /tmp/maps | sort -u | sed 's/^/numa_maps: /' >&2

# Cores of the other node only.
taskset -p -c 0,1 $$ > /dev/null
told run {gpu}
taskset -p -c 0-3 $$ > /dev/null

# Cores and memory of the other node only, and a disk that is held back.
modprobe ext4
mkfs.ext4 -q -F /dev/sda
mkdir -p /srv/disk
mount /dev/sda /srv/disk
echo "+cpuset +io" > /sys/fs/cgroup/cgroup.subtree_control
group=/sys/fs/cgroup/confined
mkdir $group
echo 0-1 > $group/cpuset.cpus
echo 0 > $group/cpuset.mems
echo "$(cat /sys/block/sda/dev) rbps={THROTTLE}" > $group/io.max
echo $$ > $group/cgroup.procs
told run {gpu}
told run {gpu} -p scope=matrix
told run storage.file -p directory=/srv/disk -p size=4MiB -p block=64KiB -p threads=1 -p time=2s {quick}
echo told >&2
exit 7
"#,
        services = services.display(),
        folder = fake.library().parent().expect("a folder").display(),
    )
}

#[test]
fn a_guest_has_nodes_of_memory_disks_and_rdma_and_we_find_and_measure_them() {
    let fake = Fake::new(&format!("node=1 far={FAR_PERCENT} h2d={NEAR}"));
    let options = ["--numa", "2", "--disks", "sata:1,scsi:1,nvme:1", "--nics", "2", "--limit", "1200"];
    let Some(output) = guest(&options, &job(&fake)) else { return };
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let errors = text(&output.stderr);
    assert!(errors.contains("told"), "{output:?}");
    let documents = documents(&output);
    let [inventory, latency, sctp, sctp_rr, clock, matrix, far_cores, confined, no_matrix, throttled] =
        documents.as_slice()
    else {
        panic!("{} documents: {errors}", documents.len());
    };
    parts(&inventory["nodes"][0]["machine"]);
    let rows = measured(latency, 0)["series"]["matrix"]["rows"].as_array().map(Vec::len);
    assert_eq!(rows, Some(4), "{latency:#}");
    // The kernel's own 208 KiB are full after three messages, and each packet more costs a second.
    let receiver = &measured(sctp, 0)["evidence"]["flows_of_last_trial"][0]["receiver"];
    assert!(receiver["socket"]["receive_buffer"].as_u64() >= Some(4 << 20), "{receiver:#}");
    measured(sctp_rr, 0);
    a_slow_clock_is_told_where_it_is_a_part_of_the_times(clock);

    memory_of_every_node(measured(matrix, 0));
    bound_memory_lies_where_it_is_bound(&errors);
    // The memory next to the GPU is there still, and what copies it does so from afar.
    let result = measured(far_cores, 0);
    assert_eq!((rate(result), kinds(result)), (NEAR, vec!["remote-cores"]));
    let result = measured(confined, 0);
    assert_eq!(
        (rate(result), kinds(result)),
        (NEAR * FAR_PERCENT / 100.0, vec!["remote-cores", "remote-memory"])
    );
    let result = &no_matrix["results"][0];
    assert_eq!(result["outcome"], "skipped", "{result:#}");
    let reason = result["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("of 2 a cpuset leaves 1"), "{reason}");
    held_back(measured(throttled, 0));
}

/// A look at the HPET takes microseconds, a message tens of them or, on a machine that does other things too, thousands.
fn a_slow_clock_is_told_where_it_is_a_part_of_the_times(clock: &Value) {
    let result = measured(clock, 0);
    let probes = result["evidence"]["probes"].as_object().expect("probes");
    let look_ns = probes["g1"]["clock"]["levels"]["look_ns"].as_f64().expect("the clock was looked at");
    assert!(look_ns > 0.0, "{result:#}");
    let times = result["metrics"].as_object().expect("metrics").values();
    let micros = times.filter(|metric| metric["unit"] == "us").filter_map(|metric| metric["median"].as_f64());
    let shortest_ns = 1e3 * micros.fold(f64::MAX, f64::min);
    let told = clock["findings"].as_array().into_iter().flatten().any(|one| one["kind"] == "slow-clock");
    assert_eq!(told, look_ns >= 0.1 * shortest_ns, "{look_ns} ns of {shortest_ns}: {clock:#}");
}

fn parts(machine: &Value) {
    let names = |list: &Value| -> Vec<String> {
        let items = list["known"].as_array().or(list.as_array()).cloned().unwrap_or_default();
        items.iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let has = |list: &Value, wanted: &[&str]| {
        let found = names(list);
        assert!(wanted.iter().all(|name| found.iter().any(|one| one == name)), "{wanted:?} in {found:?}");
    };
    assert_eq!(machine["numa"].as_array().map(Vec::len), Some(2), "{machine:#}");
    has(&machine["disks"], &["sda", "sdb", "nvme0n1"]);
    has(&machine["nics"], &["eth0", "eth1"]);
    has(&machine["hcas"], &["rxe0", "rxe1"]);
    let gpu = &machine["gpus"]["known"][0];
    assert_eq!(gpu["pci"]["numa_node"]["known"], 1, "{gpu:#}");
}

/// GB/s to the device, which the imitated driver makes exact up to the rounding of its times.
#[track_caller]
fn rate(result: &Value) -> f64 {
    let mean = result["metrics"]["h2d"]["mean"].as_f64().expect("a rate");
    (mean * 10.0).round() / 10.0
}

fn kinds(result: &Value) -> Vec<&str> {
    let findings = result["findings"].as_array().into_iter().flatten();
    findings
        .filter_map(|finding| finding["kind"].as_str())
        .filter(|kind| kind.starts_with("remote"))
        .collect()
}

/// The driver asks the kernel where the memory lies that it copies, so that a row under a wrong name is seen.
fn memory_of_every_node(result: &Value) {
    assert_eq!(result["layout"]["memory_nodes"], "1 0", "{result:#}");
    assert_eq!((rate(result), kinds(result)), (NEAR, Vec::new()));
    let place = &result["evidence"]["place"];
    assert_eq!(place["right_percent_by_node"], serde_json::json!({ "0": 100.0, "1": 100.0 }), "{place:#}");
    let rows = result["series"]["matrix"]["rows"].as_array().expect("rows");
    let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.01;
    for (node, wanted) in [(1, NEAR), (0, NEAR * FAR_PERCENT / 100.0)] {
        let row = rows.iter().find(|row| row["at"]["memory_node"] == node).expect("a row of the node");
        let mean = row["summary"]["mean"].as_f64().expect("a rate");
        assert!(near(mean, wanted), "node {node}: {mean} is not {wanted}");
    }
    let share = result["evidence"]["h2d_remote_percent_of_near"].as_f64().expect("a share");
    assert!(near(share, FAR_PERCENT), "{share}");
}

/// `numa_maps: bind:1 anon=256 dirty=256 N1=256 ...`: no page of it is on another node, and both nodes have some.
fn bound_memory_lies_where_it_is_bound(errors: &str) {
    let mut seen = [false; 2];
    for line in errors.lines().filter_map(|line| line.strip_prefix("numa_maps: bind:")) {
        let (bound, rest) = line.split_once(' ').unwrap_or((line, ""));
        let nodes = rest.split_whitespace().filter_map(|word| word.strip_prefix('N')?.split_once('='));
        for (node, _) in nodes {
            assert_eq!(node, bound, "{line}");
            seen[node.parse::<usize>().expect("a node")] = true;
        }
    }
    assert_eq!(seen, [true; 2], "{errors}");
}

/// The disk of a hypervisor has no link, so that what the control group lets through is what bounds it.
fn held_back(result: &Value) {
    let read = &result["metrics"]["throughput"];
    let limit = &read["limit"];
    assert_eq!(limit["provenance"], "control group", "{read:#}");
    assert_eq!(limit["formula"], format!("{THROTTLE} B/s allowed by cgroups"));
    let (value, mean) = (limit["value"].as_f64().expect("a value"), read["mean"].as_f64().expect("a rate"));
    assert!((value - THROTTLE as f64 / 1e6).abs() < 1e-9, "{value}");
    // The kernel lets slices of 100 ms and more through at once (block/blk-throttle.c).
    assert!(mean > 0.0 && mean < 1.3 * value, "{mean} of {value}");
    let kinds: Vec<&Value> =
        result["findings"].as_array().into_iter().flatten().map(|it| &it["kind"]).collect();
    assert!(kinds.iter().any(|kind| *kind == "storage-throttled"), "{kinds:?}");
}
