//! Guests, real: `cargo xtask guest` boots them, a job runs inside, and nothing of them stays.
//!
//! Each trial boots; under emulation that takes 15 s and more. Without the packages they are skipped, in continuous
//! integration they fail.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use xtask::packages;

/// What a command in a guest gave, or none where guests cannot be had.
fn guest(options: &[&str], script: &str) -> Option<Output> {
    let missing = packages::missing_now(packages::GUEST);
    if !missing.is_empty() && !xtask::workspace::is_ci() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("skipped: guests need {}", names.join(" "));
        return None;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["guest", "run"]).args(options).args(["--", "sh", "-c", script]);
    Some(command.output().unwrap())
}

/// The binary under test, which lies where the tests' own does.
fn seatrial() -> String {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_xtask"));
    built.with_file_name("seatrial").display().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_guest_has_nodes_of_memory_disks_and_rdma_and_we_find_them() {
    // Latency between all nodes is measured on memory that the kernel of the guest has been asked the place of.
    let chase =
        "mem.latency -p scope=matrix,size=16MiB,time=100ms,trials=1,max_trials=1".replace(',', " -p ");
    // The machine's own kernel may have no SCTP; Debian's has.
    let stream = "net.tcp_stream -p protocol=sctp -p time=300ms -p trials=1 -p max_trials=1";
    let script = format!(
        "export SEATRIAL_HOME=/tmp/home; {0} inventory -o json; {0} run {chase} -o json; {0} run {stream} -o json; \
         echo told >&2; exit 7",
        seatrial()
    );
    let options = ["--numa", "2", "--disks", "sata:1,scsi:1,nvme:1", "--nics", "2"];
    let Some(output) = guest(&options, &script) else { return };
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(text(&output.stderr).contains("told"), "{output:?}");
    let mut documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let told = documents.next().unwrap().unwrap();
    let machine = &told["nodes"][0]["machine"];
    let names = |list: &Value| -> Vec<String> {
        let items = list["known"].as_array().or(list.as_array()).cloned().unwrap_or_default();
        items.iter().map(|item| item["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(machine["numa"].as_array().map(Vec::len), Some(2), "{machine:#}");
    let disks = names(&machine["disks"]);
    assert!(["sda", "sdb", "nvme0n1"].iter().all(|name| disks.iter().any(|disk| disk == name)), "{disks:?}");
    let cards = names(&machine["nics"]);
    assert!(["eth0", "eth1"].iter().all(|name| cards.iter().any(|card| card == name)), "{cards:?}");
    let adapters = names(&machine["hcas"]);
    assert!(
        ["rxe0", "rxe1"].iter().all(|name| adapters.iter().any(|adapter| adapter == name)),
        "{adapters:?}"
    );

    let result = &documents.next().unwrap().unwrap()["results"][0];
    assert_eq!(result["outcome"], "measured", "{result:#}");
    assert_eq!(result["series"]["matrix"]["rows"].as_array().map(Vec::len), Some(4), "{result:#}");

    let result = &documents.next().unwrap().unwrap()["results"][0];
    assert_eq!(result["outcome"], "measured", "{result:#}");
}

#[test]
fn two_guests_reach_each_other_by_name_over_every_card() {
    let script =
        "ssh g2 hostname && ping -q -c 1 -s 8000 -M do 10.78.1.2 > /dev/null && rdma link show rxe1/1";
    let Some(output) = guest(&["--guests", "2", "--nics", "2"], script) else { return };
    assert!(output.status.success(), "{output:?}");
    let told = text(&output.stdout);
    assert!(told.starts_with("g2\n") && told.contains("state ACTIVE"), "{told}");
}

#[test]
fn a_job_that_does_not_end_is_ended_and_the_console_is_told() {
    let Some(output) = guest(&["--limit", "3"], "sleep 1000") else { return };
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = text(&output.stderr);
    assert!(told.contains("did not end within 3s") && told.contains("g1: the last of its console"), "{told}");
}
