//! `versus transfer`: `seatrial copy` against scp, `rsync -a`, tar over ssh, rclone and bbcp.
//!
//! All copy the same directory from one node of the lab to an empty one on the other, file system to file system, and are timed
//! on the node itself, from the start of the command to its end: with its login over ssh, and without a flush. The set
//! of one empty file shows what the start alone takes. The data of ours goes in the clear unless a row says `--encrypt`, that of
//! the peers, but bbcp, through ssh. Number and bytes of the files that arrived are compared with the source's after every turn.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::{Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::{Area, Figure, Hardware, Row, ours};
use crate::nodes::Nodes;
use crate::packages::{self, Package};

pub const TRANSFER: Area = Area {
    name: "transfer",
    about: "seatrial copy against scp, rsync -a, tar over ssh, rclone and bbcp: the same files between two nodes of the lab",
    packages: PEERS,
    peers: &[],
    rows,
    prepare,
    alone: None,
    machine: Hardware::here,
};

const PEERS: &[Package] = &[
    Package { name: "rsync", program: "rsync", reason: "what most people copy directories with" },
    Package { name: "rclone", program: "rclone", reason: "several files at once, over sftp" },
];

/// Room for one set, in MiB.
const SCRATCH_MIB: u32 = 1536;

/// Files of a set, and how its sizes follow from the number of a file, in awk(1).
struct Set {
    name: &'static str,
    folder: &'static str,
    files: u32,
    size: &'static str,
    /// What is asked for against scp and rsync.
    goal: Option<f64>,
}

static SETS: [Set; 5] = [
    Set { name: "an empty file", folder: "empty", files: 1, size: "0", goal: None },
    Set {
        name: "1024 files of 64 KiB to 1 MiB",
        folder: "small",
        files: 1024,
        size: "65536 * 16 ^ (i / 1023)",
        goal: None,
    },
    // `set=losf` of `transfer.move`, of which the goal speaks.
    Set { name: "1024 files of 1 MiB", folder: "losf", files: 1024, size: "1048576", goal: Some(3.0) },
    Set { name: "16 files of 16 MiB", folder: "medium", files: 16, size: "16777216", goal: Some(1.0) },
    Set { name: "one file of 512 MiB", folder: "large", files: 1, size: "536870912", goal: Some(1.0) },
];

/// A program, its line of shell with the folder of the set as `SET`, and whether the goals of the sets are asked for against it
/// and it is compared with `--encrypt` as well.
type Peer = (&'static str, &'static str, bool);

const ALL_PEERS: [Peer; 5] = [
    ("scp -r", "scp -qr /scratch/SET n2:/scratch/target", true),
    ("rsync -a", "rsync -a /scratch/SET n2:/scratch/target", true),
    ("tar over ssh", "tar -C /scratch -cf - SET | ssh n2 tar -C /scratch/target -xf -", false),
    (
        "rclone copy",
        "rclone --config /dev/null copy /scratch/SET :sftp:/scratch/target/SET --sftp-host n2 --sftp-user \"$(id -un)\" \
         --sftp-key-file \"$(ssh -G n2 | sed -n 's/^identityfile //p' | head -n 1)\" --sftp-disable-hashcheck",
        false,
    ),
    (
        "bbcp",
        "bbcp -r -s 4 -T 'ssh -x -a -o BatchMode=yes %I -l %U %H bbcp' /scratch/SET n2:/scratch/target/",
        false,
    ),
];

fn prepare() -> Result<()> {
    packages::require(packages::LAB)?;
    packages::require(PEERS)?;
    ours::build()
}

fn rows() -> Vec<Row> {
    let nodes = Rc::new(Nodes::named("transfer", 2).with_scratch(SCRATCH_MIB));
    let copy =
        |options: &str| format!("{} copy{options} /scratch/SET n2:/scratch/target", ours::binary().display());
    let (plain, encrypted) = (copy(""), copy(" --encrypt"));
    let mut rows = Vec::new();
    for set in &SETS {
        // The first of both sides that comes makes the set.
        let is_made = Rc::new(Cell::new(false));
        let mut add = |name: String, seatrial: &str, peer: &'static str, goal| {
            let needed = peer.split(' ').next().unwrap_or(peer);
            let figure = Figure { name, unit: Unit::Second, better: Better::Lower, goal };
            let [ours, peer] = [seatrial, peer].map(|line| {
                let (nodes, is_made) = (Rc::clone(&nodes), Rc::clone(&is_made));
                let (line, plain) = (line.replace("SET", set.folder), plain.replace("SET", set.folder));
                move || {
                    if !is_made.replace(true) {
                        make(&nodes, set, &plain)?;
                    }
                    turn(&nodes, set, &line)
                }
            });
            rows.push(Row::one(figure, ours, peer).unless(move || absent(needed)));
        };
        for (name, line, is_judged) in ALL_PEERS {
            let figure = format!("{}, in the clear vs {name}", set.name);
            add(figure, &plain, line, set.goal.filter(|_| is_judged));
            if is_judged {
                add(format!("{}, --encrypt vs {name}", set.name), &encrypted, line, None);
            }
        }
    }
    rows.push(large_in_memory(&nodes));
    rows
}

/// Why a row is left out whose peer is in no package, where it is not installed.
fn absent(program: &str) -> Option<String> {
    let is_there = packages::search_path().iter().any(|folder| folder.join(program).is_file());
    (!is_there)
        .then(|| format!("{program} is not in PATH; where no package has it, build it from its source"))
}

/// The mover without its start, memory to memory, against as many streams that are thrown away.
fn large_in_memory(nodes: &Rc<Nodes>) -> Row {
    let figure = Figure {
        name: "one file of 1 GiB, memory to memory vs net.tcp_stream".to_owned(),
        unit: Unit::GigabitsPerSecond,
        better: Better::Higher,
        goal: Some(0.95),
    };
    let mut moves = trial(nodes, "transfer.move", MOVE, "goodput");
    // MB/s.
    let ours = move || Ok(moves()? * 8e-3);
    Row::one(figure, ours, trial(nodes, "net.tcp_stream", STREAM, "throughput"))
}

/// The median of `metric` of one trial between both nodes.
fn trial(
    nodes: &Rc<Nodes>,
    benchmark: &'static str,
    params: &'static [&'static str],
    metric: &'static str,
) -> impl FnMut() -> Result<f64> + use<> {
    let nodes = Rc::clone(nodes);
    move || {
        let binary = ours::binary().display().to_string();
        let command = nodes.command(&[&binary, "run", "-w", "n[1-2]"])?;
        ours::trial(command, benchmark, params, |record, _| ours::median(record, metric))
    }
}

const MOVE: &[&str] = &[
    "set=large",
    "files=1",
    "size=1GiB",
    "depth=0",
    "source=/dev/shm",
    "target=/dev/shm",
    "cache=warm",
    "streams=4",
    "time=1s",
];

const STREAM: &[&str] = &["flows=4", "time=1s"];

/// Makes the set in eight directories on the first node, in the place of the one before, and lets our binary find its copy on the second.
fn make(nodes: &Nodes, set: &Set, seatrial: &str) -> Result<()> {
    let Set { folder, files, size, .. } = set;
    let line = format!(
        "cd /scratch && rm -rf empty small losf medium large && mkdir {folder} && cd {folder} && mkdir 0 1 2 3 4 5 6 7 && \
         awk 'BEGIN {{ for (i = 0; i < {files}; i++) printf \"%d %d\\n\", i, {size} }}' | \
         while read -r number bytes; do head -c $bytes /dev/urandom >$((number % 8))/file$number || exit 1; done; sync"
    );
    nodes.on("n1", &line)?;
    turn(nodes, set, seatrial).map(drop)
}

/// Copies the set once; seconds.
fn turn(nodes: &Nodes, set: &Set, line: &str) -> Result<f64> {
    nodes.on("n2", "rm -rf /scratch/target && mkdir /scratch/target && sync")?;
    let took = nodes.time("n1", line)?;
    let [sent, arrived] = [("n1", ""), ("n2", "target/")].map(|(node, above)| {
        let folder = set.folder;
        nodes.on(node, &format!("cd /scratch/{above}{folder} && find . -type f -printf '%s %p\\n' | sort"))
    });
    ensure!(sent? == arrived?, "{line}: names or sizes of files differ from those of the source");
    Ok(took)
}
