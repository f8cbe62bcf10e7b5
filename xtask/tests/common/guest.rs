//! What tests in guests share: a boot with a script, the binary under test inside it, the documents that it wrote.

#[path = "boot.rs"]
mod boot;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use xtask::packages::{self, Package};

pub use boot::complaint;

/// What a script in a guest gave, or none where guests cannot be had. In it `told ARGUMENTS` runs the binary under test with
/// its document on standard output; what it complains of goes to standard error, and its exit status nowhere. `$with` stands
/// before the program, for another program that starts it; `$program` is its path.
pub fn guest(options: &[&str], script: &str) -> Option<Output> {
    // Scripts make file systems, and ask whether the other guest answers.
    let of_scripts = packages::LAB.iter().chain(packages::LAB_TESTS);
    let of_scripts = of_scripts.filter(|package| ["mkfs.ext4", "ping"].contains(&package.program));
    let besides: Vec<Package> = of_scripts.copied().collect();
    let script = format!(
        "export SEATRIAL_HOME=/tmp/home\n\
         program='{}' with=\n\
         told() {{ $with \"$program\" \"$@\" -o json 2> /tmp/told.err || {{ echo \"exit $? of $*\" >&2; cat /tmp/told.err >&2; }}; }}\n\
         {script}",
        program().display()
    );
    boot::boot(options, &["sh", "-c", &script], &besides)
}

/// The binary under test without what only a debugger reads: an emulated machine takes a minute to look through that before
/// it starts an agent. With it, where nobody can take it out.
fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial");
    let small = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("seatrial-of-guests");
    let changed = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
    if changed(&small) > changed(&built) {
        return small;
    }
    // Several trials may come at the same moment: each makes its own, and the last rename wins.
    let fresh = small.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    let stripped = Command::new("strip").arg("-o").arg(&fresh).arg(&built).status();
    let is_made = stripped.is_ok_and(|status| status.success()) && fs::rename(&fresh, &small).is_ok();
    if is_made { small } else { built }
}

/// The documents on standard output, in their order.
pub fn documents(output: &Output) -> Vec<Value> {
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    documents
        .map(|document| document.unwrap_or_else(|error| panic!("{}: {error}", complaint(output))))
        .collect()
}

/// A result of a run, by its number, which measured.
#[track_caller]
pub fn measured(document: &Value, number: usize) -> &Value {
    let result = &document["results"][number];
    assert_eq!(result["outcome"], "measured", "{result:#}");
    result
}
