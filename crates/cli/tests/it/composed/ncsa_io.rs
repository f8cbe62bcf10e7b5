//! Two nodes of a cluster of the brief, with one file system.

use serde_json::{Value, json};

use super::parts::{known, threads};
use super::{Fault, System, hold};
use crate::rig::machine;

fn node(name: &str) -> Value {
    let mut machine = machine();
    machine["memory"]["effective_available_bytes"] = known(60_000_000_000_u64);
    json!({ "name": name, "machine": machine })
}

/// Twenty threads saturate the file system, whatever they do.
fn sound() -> System {
    let mut rules = Vec::new();
    for (case, [read, written]) in [("writes:*", [0.0, 10e6]), ("*", [10e6, 0.0])] {
        let of = |case: String, count: u64| {
            let factor = count.min(20) as f64;
            json!({ "when": { "case": case }, "samples": threads(count, read * factor, written * factor) })
        };
        rules.extend([5, 10, 20, 40, 50, 60, 80].map(|count| of(format!("{case}threads={count}*"), count)));
        rules.push(of(case.to_owned(), 1));
    }
    System { command: "ncsa-io", nodes: vec![node("n1"), node("n2")], rules }
}

fn hang(system: &mut System, when: Value) {
    system.rules.insert(0, json!({ "when": when, "fault": { "hangs": { "phase": "measure" } } }));
}

#[test]
fn a_sound_file_system_passes_and_each_cell_that_fails_is_a_row() {
    hold(
        sound,
        &[
            Fault {
                name: "random reads of 80 threads hang, as in the brief",
                plant: |system| {
                    hang(system, json!({ "case": "matrix:*n1/*block=4 MiB*pattern=random*threads=80*" }));
                },
                exit: 1,
                rows: &["every-cell-works n1 fs:auto fail"],
            },
            Fault {
                name: "a worker that dies in one file for all threads",
                plant: |system| {
                    let when = json!({ "case": "one-file:*n2/*block=512 KiB*threads=60*" });
                    let fault = json!({ "crashes": { "phase": "measure", "signal": 7 } });
                    system.rules.insert(0, json!({ "when": when, "fault": fault }));
                },
                exit: 1,
                rows: &["every-cell-in-one-file-works n2 fs:auto fail"],
            },
            Fault {
                name: "writes that come back wrong",
                plant: |system| {
                    let wrong = json!({ "corrupt": { "wrong": 1, "of": 1024, "first": "bit 3 of block 9" } });
                    system.rules.insert(
                        0,
                        json!({
                            "when": { "case": "writes:*n1/*pattern=random*threads=20*" }, "integrity": wrong,
                            "samples": threads(20, 0.0, 200e6),
                        }),
                    );
                },
                exit: 1,
                rows: &["every-write-works n1 fs:auto fail"],
            },
            Fault {
                name: "an error of the disk in what another node has written",
                plant: |system| {
                    let reason = json!({ "cause": "io_error", "text": "reading at offset 0: EIO" });
                    let fault = json!({ "fails": { "phase": "measure", "reason": reason } });
                    system.rules.insert(0, json!({
                        "when": { "case": "from-another-node:*threads=20*", "part": "reader" }, "fault": fault,
                    }));
                },
                exit: 1,
                rows: &["another-node-can-be-read - fs:auto fail"],
            },
            Fault {
                name: "a file system that answers next to nothing",
                plant: |system| {
                    system.instead(json!({ "case": "matrix:*n2/*threads=40*" }), threads(40, 2000.0, 0.0));
                },
                exit: 1,
                rows: &["every-cell-works n2 fs:auto fail"],
            },
        ],
    );
}
