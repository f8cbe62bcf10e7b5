//! Ranks that hang, die or send wrong data, and a launcher of another library.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, getuid, kill_process};
use seatrial_model::{Bytes, Case, Cause, Integrity, Nanos, Outcome, Phase, Reason};
use seatrial_mpi_job::Moment;

use crate::case::{POINT_TO_POINT, TRIES, benchmark, case, measured, trial};
use crate::installed::{Installed, installed, mpich, open_mpi, skipped};

pub const TESTS: &[(&str, fn())] = &[
    ("a_rank_that_never_comes_out_of_mpi_init_ends_at_the_deadline", never_joins),
    ("a_rank_that_is_killed_in_any_phase_is_named", killed),
    ("a_job_that_hangs_in_mpi_finalize_has_its_result_and_is_told", never_leaves),
    ("a_rank_that_calls_mpi_abort_is_told_with_its_code_or_the_words_of_the_library", aborts),
    ("a_launcher_of_another_library_is_told", wrong_launcher),
    ("a_launcher_that_starts_nothing_is_told", no_launcher),
    ("a_library_without_a_function_is_told_with_its_name", without_function),
    ("a_job_with_a_full_dev_shm_has_a_result_or_the_words_of_the_library", full_shared_memory),
    ("a_planted_wrong_word_is_found", wrong_word),
    ("one_rank_and_an_odd_number_are_refused", odd),
];

/// The rank that is disturbed.
const VICTIM: usize = 1;

/// What a late rank sleeps before it joins the job.
pub const LATE: Duration = Duration::from_millis(400);

/// Names the fault to a rank.
const FAULT: &str = "SEATRIAL_TEST_MPI_FAULT";

/// In a rank: inflicts the fault that the environment names.
pub fn inflict(moment: Moment<'_>) {
    let Ok(fault) = std::env::var(FAULT) else { return };
    let kill = || {
        let _ = kill_process(getpid(), Signal::KILL);
    };
    match (fault.as_str(), moment) {
        ("late", Moment::Joining(Some(VICTIM))) => std::thread::sleep(LATE),
        ("hang", Moment::Joining(Some(VICTIM))) | ("hang leaving", Moment::Leaving(VICTIM)) => {
            std::thread::sleep(Duration::from_secs(600));
        }
        ("kill joining", Moment::Joining(Some(VICTIM)))
        | ("kill warming up", Moment::Running(VICTIM, Phase::WarmUp, _))
        | ("kill measuring", Moment::Running(VICTIM, Phase::Measure, _))
        | ("kill checking", Moment::Verifying(VICTIM))
        | ("kill leaving", Moment::Leaving(VICTIM)) => kill(),
        ("abort", Moment::Running(VICTIM, Phase::Measure, mpi)) => {
            // The call does not return.
            let _ = mpi.abort(7);
        }
        ("wrong word", Moment::Filled(0, memory)) | ("wrong word at rank 1", Moment::Filled(1, memory)) => {
            memory[1] ^= 0x10;
        }
        ("wrong word", Moment::FilledElements(0, memory)) => memory[1] += 1.0,
        ("wrong word", Moment::FilledWords(_, memory)) => memory[0] += 1,
        _ => {}
    }
}

/// The launcher of `of` behind a script that names the fault to the ranks.
pub fn disturbed(of: &Installed, fault: &str, folder: &Path) -> Installed {
    let script = format!(
        "#!/bin/sh\n{FAULT}='{fault}' SEATRIAL_TEST_FOLDER='{}' exec {} \"$@\"\n",
        folder.display(),
        of.launcher.display()
    );
    Installed { launcher: program(folder, &script), library: of.library.clone() }
}

pub fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("mpiexec");
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("executable");
    path
}

/// Why the trial with the fault has no number; no process of the job is left.
fn reason(of: &Installed, fault: &str, prepare: Option<Nanos>) -> Reason {
    reason_of(of, fault, |disturbed| {
        let params = [("op", "bandwidth"), ("size", "1KiB"), ("window", "4")];
        let mut case = case(&params, Some(disturbed)).expect("a case");
        case.planned.set("region", Bytes::kib(64));
        case.budget.prepare = prepare.unwrap_or(case.budget.prepare);
        case
    })
}

/// The same of the case that `of_launcher` makes.
pub fn reason_of(of: &Installed, fault: &str, of_launcher: impl FnOnce(&Installed) -> Case) -> Reason {
    let folder = tempfile::tempdir().expect("a folder");
    let case = of_launcher(&disturbed(of, fault, folder.path()));
    let attempt = |_| trial(&case).err().unwrap_or_else(|| panic!("{fault}: nothing failed"));
    // On a busy machine ranks may hang before the fault.
    let mut attempts = (0..TRIES).map(attempt);
    let reason = attempts.find(|reason| fault == "hang" || reason.cause != Cause::Hang).expect("all hung");
    assert_nothing_left(fault, folder.path());
    reason
}

/// No process of the job is left: the launcher's file is in the folder of one test alone.
fn assert_nothing_left(fault: &str, folder: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while let Some(left) = left_of(folder) {
        assert!(Instant::now() < until, "{fault}: still runs: {left}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The command line of a process that names the folder, or whose environment does as that of the launcher and its ranks.
fn left_of(folder: &Path) -> Option<String> {
    let name = folder.display().to_string();
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let read = |path: &Path, file: &str| fs::read(path.join(file)).unwrap_or_default();
    processes.map(|entry| entry.path()).find_map(|path| {
        let (line, environment) = (read(&path, "cmdline"), read(&path, "environ"));
        let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(&name);
        (!line.is_empty() && (holds(&line) || holds(&environment)))
            .then(|| String::from_utf8_lossy(&line).replace('\0', " "))
    })
}

fn never_joins() {
    for of in installed() {
        let start = Instant::now();
        let reason = reason(&of, "hang", Some(Nanos::secs(12)));
        assert_eq!(reason.cause, Cause::Hang, "{reason}");
        assert!(reason.text.contains("rank 1") && reason.text.contains("MPI_Init"), "{reason}");
        assert!(start.elapsed() < Duration::from_secs(120), "the deadline was kept");
    }
}

fn never_leaves() {
    for of in installed() {
        let folder = tempfile::tempdir().expect("a folder");
        let disturbed = disturbed(&of, "hang leaving", folder.path());
        let trial = measured(&case(&[("size", "8B")], Some(&disturbed)).expect("a case"));
        assert!(trial.is_verified());
        let told = trial.measures.findings.iter().find(|finding| finding.kind == "finalize-hung");
        let text = &told.expect("the finding").text;
        assert!(
            text.contains("1 of 1 jobs") && text.contains("rank 1") && text.contains("MPI_Finalize"),
            "{text}"
        );
        assert_nothing_left("hang leaving", folder.path());
    }
}

/// Whether what launcher and library said is told. Launchers lose it now and then; their exit code stays.
fn has_words(reason: &Reason) -> bool {
    ["launcher and library printed: ", "the launcher ended with exit code "]
        .iter()
        .any(|told| reason.text.contains(told))
}

fn killed() {
    for of in installed() {
        for (phase, doing) in [
            ("joining", "in MPI_Init"),
            ("warming up", "warming up"),
            ("measuring", "measuring"),
            ("checking", "checking data"),
            ("leaving", "in MPI_Finalize"),
        ] {
            let reason = reason(&of, &format!("kill {phase}"), None);
            assert_eq!(reason.cause, Cause::Crash, "{of:?} {phase}: {reason}");
            assert!(
                reason.text.starts_with(&format!("rank 1 of 2 ended while {doing}")),
                "{of:?} {phase}: {reason}"
            );
            assert!(has_words(&reason), "{of:?} {phase}: {reason}");
        }
    }
}

fn aborts() {
    for of in installed() {
        let reason = reason(&of, "abort", None);
        assert_eq!(reason.cause, Cause::Crash, "{reason}");
        assert!(reason.text.contains("ended while measuring"), "{of:?}: {reason}");
        // Launchers lose the library's words now and then, mpiexec of MPICH one time in six; the code of the call stays.
        let words = reason.text.to_lowercase();
        let has_code = words.contains("the launcher ended with exit code 7");
        assert!(has_code || words.contains("abort"), "{of:?}: {reason}");
    }
}

fn wrong_launcher() {
    let (Some(open), Some(mpich)) = (open_mpi(), mpich()) else { return };
    for (library, launcher) in [(&open, &mpich), (&mpich, &open)] {
        let mixed = Installed { library: library.library.clone(), launcher: launcher.launcher.clone() };
        let reason = trial(&case(&[("size", "8B")], Some(&mixed)).expect("a case")).err().expect("no job");
        assert_eq!(
            (reason.cause, reason.cause.outcome()),
            (Cause::Launcher, Outcome::Unmeasured),
            "{reason}"
        );
        assert!(reason.text.starts_with("launcher and library are not of one installation"), "{reason}");
        // The one that belongs to the library, which may have several names.
        let advice = reason.text.split("set -p launcher=").nth(1).expect("advice");
        let path = advice.split(',').next().expect("a path");
        let own = Installed { launcher: path.into(), ..mixed };
        let trial = measured(&case(&[("size", "8B")], Some(&own)).expect("a case"));
        assert!(trial.is_verified());
    }
}

fn no_launcher() {
    let Some(of) = open_mpi() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let launcher = program(folder.path(), "#!/bin/sh\necho there are no slots left >&2\nexit 3\n");
    let refusing = Installed { launcher, ..of };
    let reason = trial(&case(&[("size", "8B")], Some(&refusing)).expect("a case")).err().expect("no job");
    assert_eq!(reason.cause, Cause::Launcher, "{reason}");
    assert!(reason.text.contains("ended before all ranks had started: 0 of 2 did"), "{reason}");
    assert!(reason.text.contains("there are no slots left"), "{reason}");
}

/// A library that has no function but these.
const FEW_FUNCTIONS: &str = "#include <string.h>\n\
    int MPI_Get_library_version(char *text, int *length) { *length = strlen(strcpy(text, \"few functions\")); return 0; }\n\
    int MPI_Get_version(int *major, int *minor) { *major = 3; *minor = 1; return 0; }\n";

fn without_function() {
    let Some(of) = mpich() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (source, library) = (folder.path().join("few.c"), folder.path().join("libmpi.so.12"));
    fs::write(&source, FEW_FUNCTIONS).expect("written");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.expect("cc runs").success());
    let reason = |of: &Installed| {
        trial(&case(&[("size", "8B")], Some(of)).expect("a case")).err().expect("no job of such a library")
    };
    let few = reason(&Installed { library, ..of.clone() });
    assert_eq!((few.cause, few.cause.outcome()), (Cause::Missing, Outcome::Unmeasured), "{few}");
    assert!(few.text.contains("libmpi.so.12 has no MPI_Init_thread"), "{few}");
    let none = reason(&Installed { library: "libc.so.6".into(), ..of });
    assert_eq!(none.cause, Cause::Missing, "{none}");
    assert!(none.text.contains("is no MPI library: libc.so.6 has no MPI_Get_library_version"), "{none}");
}

fn full_shared_memory() {
    if !getuid().is_root() {
        skipped("needs root for a small file system at /dev/shm");
        return;
    }
    for of in installed() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!(
            "#!/bin/sh\nexport SEATRIAL_TEST_FOLDER='{}'\nexec unshare --mount sh -c \
             'mount -t tmpfs -o size=4k tmpfs /dev/shm && exec {} \"$@\"' sh \"$@\"\n",
            folder.path().display(),
            of.launcher.display()
        );
        let launcher = program(folder.path(), &script);
        let full = Installed { launcher, ..of.clone() };
        match trial(&case(&[("size", "8B")], Some(&full)).expect("a case")) {
            Ok(trial) => assert!(trial.is_verified(), "{of:?}: {:?}", trial.integrity),
            Err(reason) => {
                assert!(matches!(reason.cause, Cause::Crash | Cause::IoError), "{of:?}: {reason}");
                assert!(has_words(&reason), "{of:?}: {reason}");
            }
        }
        assert_nothing_left("/dev/shm full", folder.path());
    }
}

fn wrong_word() {
    let folder = tempfile::tempdir().expect("a folder");
    for of in installed() {
        for op in ["latency", "bandwidth", "both_directions"] {
            let of = disturbed(&of, "wrong word", folder.path());
            let case = case(&[("op", op), ("size", "256B"), ("buffers", "one")], Some(&of)).expect("a case");
            let trial = measured(&case);
            let Integrity::Corrupt { wrong: 1.., first, .. } = &trial.integrity else {
                panic!("{of:?} {op}: {:?}", trial.integrity)
            };
            assert!(first.starts_with("messages of rank 0, byte 0 of the memory: ["), "{first}");
        }
    }
}

fn odd() {
    let reason = case(&[("ranks", "3")], None).expect_err("no pairs");
    assert_eq!(reason.cause, Cause::Contradiction);
    assert!(reason.text.starts_with("ranks=3: "), "{reason}");
    let ranks = benchmark(POINT_TO_POINT).about.params.iter().find(|spec| spec.name == "ranks");
    assert!(ranks.expect("a parameter").parse("1").is_err(), "a usage error");
}
