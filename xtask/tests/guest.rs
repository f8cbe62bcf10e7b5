//! Guests, real: `cargo xtask guest` boots them, a job runs inside, and nothing of them stays.
//!
//! Each trial boots; under emulation that takes 15 s and more. Without the packages they are skipped, in continuous
//! integration they fail.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "common/guest.rs"]
#[expect(dead_code, reason = "shared with the tests that measure in guests, which use all of it")]
mod common;

use common::guest;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn two_guests_reach_each_other_by_name_over_every_card_and_write_to_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let script = format!(
        "ssh g2 'hostname; echo of g2 > {place}/told' && ping -q -c 1 -s 8000 -M do 10.78.1.2 > /dev/null &&
         rdma link show rxe1/1"
    );
    let args = ["--guests", "2", "--nics", "2", "--writable", &place.to_string()];
    let Some(output) = guest(&args, &script) else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("told")).unwrap(), "of g2\n");
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
