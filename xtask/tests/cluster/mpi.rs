//! MPI jobs over several nodes, started without ssh between them, with every library that is installed.

use libtest_mimic::Trial;
use seatrial_testkit::starved::{Watch, explains};
use serde_json::Value;

use crate::rig::{Rig, shared, wide};
use crate::started::{Started, outcome, reason, wait_until};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("mpi_messages_between_two_nodes_over_ssh_and_slurm_take_the_interface", messages),
        trial("tcp_and_mpi_of_one_path_stand_side_by_side", layers),
        trial("mpi_ranks_are_started_by_srun_in_an_allocation", by_srun),
        trial("mpi_sums_over_four_nodes_are_exact", sums),
        trial("mpi_puts_between_two_nodes_arrive", puts),
        trial("mpi_jobs_of_every_size_are_started_on_two_nodes", startup),
        trial("mpi_overlap_over_a_slow_link_is_what_the_kernel_receives", overlap),
        trial("mpi_bandwidth_over_a_shaped_link_is_what_the_shaper_lets_through", shaped),
        trial("an_mpi_rank_that_is_killed_on_another_node_is_named_and_nothing_stays", killed_rank),
        trial("an_mpi_job_ends_everywhere_when_the_part_of_a_node_is_killed", killed_part),
        trial("an_mpi_launcher_that_is_not_there_is_told", no_launcher),
        trial("an_mpi_library_that_is_another_one_on_a_node_is_told", other_library),
    ]
}

/// Of a frame of 9014 B, headers of IPv4, TCP and timestamps leave this.
const PAYLOAD: f64 = (9000.0 - 52.0) / 9014.0;

/// Tries of one measurement on a machine that other work keeps busy.
const TRIES: usize = 6;

/// One short trial. The nodes share a kernel.
const ONE_TRIAL: &[&str] = &["--share-hosts", "-p", "trials=1", "-p", "max_trials=1", "-o", "json"];
const SHORT: &[&str] = &["-p", "time=500ms"];

const SSH: &[&str] = &["-w", "n[1-2]"];
const SLURM: &[&str] = &["-N", "2"];

/// Debian's libraries, as `-p` takes them.
fn libraries(rig: &Rig) -> Vec<String> {
    let listed = rig.lab.head("ls /usr/lib/*/libmpi.so.40 /usr/lib/*/libmpich.so.12 2>/dev/null || true");
    listed.lines().map(|path| format!("library={path}")).collect()
}

/// The libraries with the launchers of their installations, and those that need none with our own.
fn ways(rig: &Rig) -> Vec<[String; 2]> {
    let libraries = libraries(rig);
    let own = libraries.iter().filter(|library| library.contains("mpich")).cloned();
    let own: Vec<_> = own.map(|library| [library, "launcher=own".to_owned()]).collect();
    let installed = libraries.into_iter().map(|library| [library, "launcher=auto".to_owned()]);
    installed.chain(own).collect()
}

/// A measurement that comes to its end, of a few: ranks that poll hinder each other on a busy machine.
fn measured(rig: &Rig, words: &[&[&str]]) -> Value {
    for _ in 1..TRIES {
        let ended = rig.run(words);
        if ended.code == Some(0) {
            return ended.document(0)["results"][0].clone();
        }
    }
    rig.run(words).document(0)["results"][0].clone()
}

/// No process of a job is left on a node.
fn assert_nothing_runs(rig: &Rig, nodes: &[&str]) {
    let left = |node: &&str| {
        rig.lab.node(node, "pgrep -a 'orted|hydra|mpiexec|mpirun|prted'; pgrep -fa 'mpi-launc[h]' || true")
    };
    wait_until("the processes of the job to end", || nodes.iter().all(|node| left(node).is_empty()));
}

fn messages() {
    shared(|rig| {
        for [library, launcher] in ways(rig) {
            for nodes in [SSH, SLURM] {
                let size = ["run", "mpi.point_to_point", "-p", "size=64KiB", "-p", &library, "-p", &launcher];
                let result = measured(rig, &[&size, ONE_TRIAL, SHORT, nodes]);
                assert!(result["metrics"]["latency"]["median"].as_f64() > Some(0.0), "{result}");
                let ranks = result["evidence"]["ranks"].as_array().expect("ranks");
                let on: Vec<&str> = ranks.iter().filter_map(|rank| rank["node"].as_str()).collect();
                assert_eq!(on, ["n1", "n2"], "{library} {nodes:?}");
                assert!(
                    result["evidence"]["integrity"]["verified"]["checked"].as_u64() > Some(0),
                    "{result}"
                );
                // The interface has counted what the ranks moved, both ways.
                for [from, to] in [["n1", "n2"], ["n2", "n1"]] {
                    let rows = result["evidence"]["moved"].as_array().expect("rows");
                    let row = rows.iter().find(|row| row["from"] == from && row["to"] == to).expect("a row");
                    let counts = &result["evidence"]["probes"][from]["nic"]["counts"];
                    let sent = counts["tx_bytes eth0"].as_u64().expect("a count");
                    assert!(
                        row["bytes"].as_u64().expect("bytes") as f64 * 0.98 <= sent as f64,
                        "{row} {counts}"
                    );
                }
                assert_nothing_runs(rig, &["n1", "n2"]);
            }
        }
    });
}

/// One command for the cost of each layer: TCP, and each library over it.
fn layers() {
    shared(|rig| {
        for library in libraries(rig) {
            let words = ["run", "net.pingpong", "-p", "transport=tcp,mpi", "-p", "to=64KiB", "-p", &library];
            let one = ["--share-hosts", "-p", "trials=1", "-p", "max_trials=1", "-p", "time=1s"];
            let mut document = rig.run(&[&words, &one, SSH, &["-o", "json"]]).document(0);
            for _ in 1..TRIES {
                if document["results"].as_array().is_some_and(|all| all.iter().all(has_all_sizes)) {
                    break;
                }
                document = rig.run(&[&words, &one, SSH, &["-o", "json"]]).document(0);
            }
            let results = document["results"].as_array().expect("cases");
            let transports: Vec<_> =
                results.iter().map(|case| case["params"]["transport"].as_str().expect("one")).collect();
            assert_eq!(transports, ["tcp", "mpi"]);
            for case in results {
                assert!(has_all_sizes(case), "{library}: {case}");
                assert_eq!(case["subject"], "n1->n2", "one path");
            }
            let [tcp, mpi] = [&results[0], &results[1]];
            assert!(tcp["evidence"]["connection"].is_object() && tcp["evidence"]["ranks"].is_null(), "{tcp}");
            assert!(mpi["evidence"]["integrity"]["verified"]["checked"].as_u64() > Some(0), "{mpi}");
            let ranks = mpi["evidence"]["ranks"].as_array().expect("ranks");
            let on: Vec<&str> = ranks.iter().filter_map(|rank| rank["node"].as_str()).collect();
            assert_eq!(on, ["n1", "n2"], "{library}");
            // The interface has counted what the ranks moved.
            let moved = mpi["evidence"]["moved"].as_array().expect("rows");
            let bytes = moved.iter().find(|row| row["from"] == "n1").expect("a row")["bytes"].as_u64();
            let sent = mpi["evidence"]["probes"]["n1"]["nic"]["counts"]["tx_bytes eth0"].as_u64();
            assert!(bytes > Some(0) && bytes.map(|bytes| bytes / 100 * 98) <= sent, "{moved:?} {sent:?}");
            assert_nothing_runs(rig, &["n1", "n2"]);
        }
        // The library that is found; the path of one makes the screen too wide.
        let words = ["run", "net.pingpong", "-p", "transport=tcp,mpi", "-p", "to=64KiB", "-p", "time=1s"];
        let once = ["-p", "trials=1", "-p", "max_trials=1", "--share-hosts"];
        let screen = rig.run(&[&words, &once, SSH]).out;
        assert!(screen.contains("time_by_size and by_size by transport"), "{screen}");
        assert!(screen.contains("mpi - tcp"), "{screen}");
        let words = [
            "run",
            "net.pingpong",
            "-p",
            "transport=mpi",
            "-p",
            "to=64B",
            "-p",
            "library=/nowhere/libmpi.so",
        ];
        let document = rig.run(&[&words, ONE_TRIAL, SHORT, SSH]).document(3);
        let case = &document["results"][0];
        assert!(case["reason"].as_str().is_some_and(|why| why.contains("/nowhere/libmpi.so")), "{case}");
    });
}

fn has_latency(case: &Value) -> bool {
    case["metrics"]["latency"]["median"].as_f64() > Some(0.0)
}

/// 1 B to 64 KiB: 15 powers and midpoints between them, with their neighbours. A busy machine leaves no time for some.
fn has_all_sizes(case: &Value) -> bool {
    has_latency(case) && case["series"]["time_by_size"]["rows"].as_array().map(Vec::len) > Some(60)
}

/// Debian's Slurm offers pmi2 and pmix; the libraries speak to one each.
fn by_srun() {
    shared(|rig| {
        let offered = rig.lab.head("srun --mpi=list 2>&1");
        for library in libraries(rig) {
            let wanted = if library.ends_with("libmpi.so.40") { "pmix" } else { "pmi2" };
            let words =
                ["run", "mpi.point_to_point", "-p", "size=64KiB", "-p", &library, "-p", "launcher=srun"];
            if !offered.contains(wanted) {
                let result = &rig.run(&[&words, ONE_TRIAL, SHORT, SLURM]).document(3)["results"][0];
                let why = result["reason"].as_str().expect("a reason");
                assert!(why.contains(&format!("--mpi={wanted}")) && why.contains("offers"), "{why}");
                continue;
            }
            for params in [&["-p", "ranks_per_node=1"], &["-p", "ranks_per_node=2"]] {
                let result = measured(rig, &[&words, params, ONE_TRIAL, SHORT, SLURM]);
                assert_eq!(result["evidence"]["launcher"]["family"], "slurm", "{result}");
                assert_eq!(result["evidence"]["launcher"]["plugin"], wanted, "{result}");
                let ranks = result["evidence"]["ranks"].as_array().expect("ranks");
                let on: Vec<&str> = ranks.iter().filter_map(|rank| rank["node"].as_str()).collect();
                let half = ranks.len() / 2;
                assert!(on[..half].iter().all(|node| *node == "n1"), "{on:?}");
                assert!(on[half..].iter().all(|node| *node == "n2"), "{on:?}");
                let checked = result["evidence"]["integrity"]["verified"]["checked"].as_u64();
                assert!(checked > Some(0), "{result}");
                assert_nothing_runs(rig, &["n1", "n2"]);
            }
            // Over ssh there is no allocation.
            let result = &rig.run(&[&words, ONE_TRIAL, SHORT, SSH]).document(3)["results"][0];
            assert!(result["reason"].as_str().is_some_and(|why| why.contains("SLURM_JOB_ID")), "{result}");
        }
    });
}

fn sums() {
    wide(|rig| {
        for [library, launcher] in ways(rig) {
            let words = [
                "run",
                "mpi.collective",
                "-N",
                "4",
                "-p",
                "ranks_per_node=1",
                "-p",
                "size=1KiB",
                "-p",
                &library,
                "-p",
                &launcher,
            ];
            let result = measured(rig, &[&words, ONE_TRIAL, SHORT]);
            assert_eq!(result["evidence"]["ranks"].as_array().map(Vec::len), Some(4), "{library}: {result}");
            assert!(result["evidence"]["integrity"]["verified"]["checked"].as_u64() > Some(0), "{result}");
            assert!(result["metrics"].get("completion").is_none(), "the clocks differ");
            let slowest = result["evidence"]["slowest_rank"].as_u64().expect("a rank");
            assert_eq!(result["evidence"]["slowest_node"], format!("n{}", slowest + 1));
            assert_nothing_runs(rig, &["n1", "n2", "n3", "n4"]);
        }
    });
}

fn startup() {
    shared(|rig| {
        for library in libraries(rig) {
            for nodes in [SSH, SLURM] {
                let words = ["run", "mpi.startup", "-p", &library];
                let result = measured(rig, &[&words, ONE_TRIAL, nodes]);
                // One rank on each node, then more up to one for each core.
                let rows = result["series"]["init_by_ranks"]["rows"].as_array().expect("rows");
                let ranks: Vec<_> = rows.iter().map(|row| row["at"]["ranks"].as_u64()).collect();
                assert_eq!(ranks[0], Some(2), "{library}: {result}");
                for metric in ["init", "launch", "load", "startup", "finalize", "exit"] {
                    let median = result["metrics"][metric]["median"].as_f64();
                    assert!(median > Some(0.0), "{library} {metric}: {result}");
                }
                let slowest = result["evidence"]["slowest_node"].as_str().expect("a node");
                assert!(["n1", "n2"].contains(&slowest), "{result}");
                assert!(
                    result["evidence"]["integrity"]["verified"]["checked"].as_u64() > Some(0),
                    "{result}"
                );
                assert_nothing_runs(rig, &["n1", "n2"]);
            }
        }
    });
}

/// What the root of a broadcast sends over a slow link, the kernel of the other node receives while its rank computes.
fn overlap() {
    // 8 KiB at 5 Mbit/s are 13 ms, of which what the bucket of the shaper holds is saved now and then.
    const LEAST_US: f64 = 4000.0;
    shared(|rig| {
        rig.lab.node("n1", "tc qdisc replace dev eth0 root tbf rate 5mbit burst 10kb latency 1s");
        for library in libraries(rig) {
            let words =
                ["run", "mpi.collective", "-p", "op=ibcast", "-p", "ranks_per_node=1", "-p", "size=8KiB"];
            let (mut seen, mut met) = (Vec::new(), false);
            while !met && seen.len() < TRIES {
                let result = measured(rig, &[&words, &["-p", &library, "-p", "time=2s"], ONE_TRIAL, SSH]);
                let median = |metric: &str| result["metrics"][metric]["median"].as_f64().expect("a median");
                assert_eq!(result["evidence"]["slowest_rank"], 1, "the root waits for nobody: {result}");
                assert!(median("slowest_latency") >= LEAST_US, "{library}: {result}");
                met = median("overlap") > 50.0;
                seen.push(median("overlap"));
            }
            #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
            {
                println!("{library}: overlap of {seen:?} %");
            }
            // What other work takes of the cores lengthens the computation.
            assert!(met, "{library}: overlap of {seen:?} %");
        }
        rig.lab.node("n1", "tc qdisc delete dev eth0 root");
    });
}

fn puts() {
    shared(|rig| {
        for library in libraries(rig) {
            let words = ["run", "mpi.one_sided", "-p", "size=4KiB", "-p", &library];
            let mut command = rig.command(&[], &rig.program, &[&words, ONE_TRIAL, SHORT, SLURM]);
            // The component that Open MPI 4 takes first makes no window over TCP.
            command.env("OMPI_MCA_osc", "pt2pt");
            let result = Started::new(command).end().document(0)["results"][0].clone();
            let checked = result["evidence"]["integrity"]["verified"]["checked"].as_u64();
            assert!(checked > Some(0), "{library}: {result}");
            assert_nothing_runs(rig, &["n1", "n2"]);
        }
    });
}

fn shaped() {
    shared(|rig| {
        rig.lab.node("n1", "tc qdisc replace dev eth0 root tbf rate 200mbit burst 128kb latency 20ms");
        for library in libraries(rig) {
            let words = [
                "run",
                "mpi.point_to_point",
                "-p",
                "op=bandwidth",
                "-p",
                "size=64KiB",
                "-p",
                "window=16",
                "-p",
                &library,
                "-p",
                "time=2s",
            ];
            let (mut seen, mut met, mut is_explained) = (Vec::new(), false, true);
            while !met && seen.len() < TRIES {
                let watch = Watch::begin();
                let result = measured(rig, &[&words, ONE_TRIAL, SSH]);
                let starved = watch.end();
                // GB/s.
                let nominal = 0.2 / 8.0 * PAYLOAD;
                let bandwidth = &result["metrics"]["bandwidth"];
                let limit = bandwidth["limit"]["value"].as_f64().expect("a limit");
                assert!((limit / nominal - 1.0).abs() < 1e-6, "{limit}");
                assert_eq!(bandwidth["limit"]["provenance"], "qdisc tbf");
                let off = bandwidth["median"].as_f64().expect("a rate") / nominal - 1.0;
                met = off.abs() < 0.01;
                is_explained &= explains(starved, off.abs() - 0.01);
                seen.push(format!("{off:+.5} of nominal, starved for {starved:.2} of the time"));
            }
            #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
            {
                println!("{library}: {}", seen.join("; "));
            }
            assert!(met || is_explained, "{library}: {}", seen.join("; "));
        }
        rig.lab.node("n1", "tc qdisc delete dev eth0 root");
    });
}

const CASE: &str = "mpi.point_to_point@n1+n2";

/// The document of a run of which `command` ends a process on n2 while it measures.
fn disturbed(rig: &Rig, [library, launcher]: &[String; 2], command: &str) -> Value {
    let words = ["run", "mpi.point_to_point", "-p", "size=1KiB", "-p", library, "-p", launcher];
    let mut run = rig.start(&[&words, ONE_TRIAL, &["-p", "time=60s"], SSH]);
    run.wait_for_phase(CASE, "measure");
    rig.lab.node("n2", command);
    run.end().document(1)
}

fn killed_rank() {
    shared(|rig| {
        for way in ways(rig) {
            let document = disturbed(rig, &way, "pkill -KILL -f 'mpi-[r]ank$'");
            assert_eq!(outcome(&document, CASE), ("failed", "crash"));
            let why = reason(&document, CASE);
            assert!(why.contains("rank 1 of 2 on n2 ended while measuring"), "{way:?}: {why}");
            assert_nothing_runs(rig, &["n1", "n2"]);
        }
    });
}

fn killed_part() {
    shared(|rig| {
        for way in ways(rig) {
            let document = disturbed(rig, &way, "pkill -KILL -f 'worker [-]-fd'");
            assert_eq!(outcome(&document, CASE), ("failed", "crash"));
            assert!(reason(&document, CASE).contains("on n2"), "{way:?}: {document}");
            assert_nothing_runs(rig, &["n1", "n2"]);
        }
    });
}

fn no_launcher() {
    shared(|rig| {
        let words = ["run", "mpi.point_to_point", "-p", "launcher=/nowhere/mpiexec"];
        let document = rig.run(&[&words, ONE_TRIAL, SHORT, SSH]).document(3);
        assert_eq!(outcome(&document, CASE), ("unmeasured", "missing"));
        assert!(reason(&document, CASE).contains("launcher=/nowhere/mpiexec"));
    });
}

/// At the path of the library the second node has another one.
fn other_library() {
    shared(|rig| {
        let [one, other] = &libraries(rig)[..] else { panic!("Debian's libraries are two") };
        let path = |library: &str| library.trim_start_matches("library=").to_owned();
        for [asked, there] in [[one, other], [other, one]] {
            rig.lab.node("n2", &format!("mount --bind {} {}", path(there), path(asked)));
            let ended = rig.run(&[
                &["run", "mpi.point_to_point", "-p", "size=8", "-p", asked],
                ONE_TRIAL,
                SHORT,
                SSH,
            ]);
            rig.lab.node("n2", &format!("umount {}", path(asked)));
            let document = ended.document(3);
            let why = document["results"][0]["reason"].as_str().expect("a reason");
            assert!(why.contains("n2") && why.contains("all nodes need the same library"), "{why}");
            assert!(why.contains("MPICH") && why.contains("Open MPI"), "{why}");
            assert_nothing_runs(rig, &["n1", "n2"]);
        }
    });
}
