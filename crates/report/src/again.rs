//! The commands that go on with a run and that repeat a case of it, with all that gave the run its meaning.

use seatrial_model::record::{CaseRecord, RunInfo};

use crate::labels::named_params;
use crate::words::{clean, shell_word};

/// Options with a value that say how the agents were started.
const LAUNCHING: [&str; 7] =
    ["--launcher", "--partition", "--account", "--reservation", "--time", "--ssh", "--mpirun"];

/// The command that goes on with a run. The run folder keeps the plan, the profile, the reference and where the run ran;
/// how strictly it is to be judged stands in its command line alone.
pub(crate) fn resume(run: &RunInfo) -> String {
    let word = match &run.profile {
        Some(_) if options(run).any(|word| word == "--strict") => "check --strict",
        Some(_) => "check",
        None => "run",
    };
    clean(&format!("seatrial {word} --resume {}", shell_word(&run.id)))
}

/// The command that runs `case` alone, where and as it ran in `run`.
pub(crate) fn repeat(case: &CaseRecord, run: &RunInfo) -> String {
    let mut command = format!("seatrial run {}", case.bench);
    for pair in named_params(case) {
        command += &format!(" -p {}", shell_word(&pair));
    }
    let (is_elsewhere, launching) = launching(run);
    if is_elsewhere || run.nodes.len() > 1 {
        command += &format!(" -w {}", shell_word(&case.nodes.join(",")));
    }
    for word in launching {
        command += &format!(" {word}");
    }
    clean(&command)
}

/// The words of a run's command line that may be options.
fn options(run: &RunInfo) -> impl Iterator<Item = &str> {
    run.command.iter().skip(1).map(String::as_str).take_while(|word| *word != "--")
}

/// Whether a run was told to run on other nodes than this machine, and the options by which it reached them.
fn launching(run: &RunInfo) -> (bool, Vec<String>) {
    let (mut is_elsewhere, mut is_counted, mut is_chosen) = (false, false, false);
    let mut kept = Vec::new();
    let mut words = options(run);
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        // A short option may have its value behind it.
        let is_short = |letter: &str| word.starts_with(letter) && !word.starts_with("--");
        if LAUNCHING.contains(&name) {
            let value = value.or_else(|| words.next()).unwrap_or_default();
            is_chosen |= name == "--launcher";
            is_elsewhere |= name == "--launcher" && value != "local";
            kept.push(format!("{name} {}", shell_word(value)));
        } else if name == "--share-hosts" {
            kept.push(name.to_owned());
        } else if name == "--nodelist" || is_short("-w") {
            is_elsewhere = true;
        } else if name == "--nodes" || is_short("-N") {
            (is_elsewhere, is_counted) = (true, true);
        }
    }
    // A number of nodes asks Slurm for them; their names alone would be reached by ssh.
    if is_counted && !is_chosen {
        kept.insert(0, "--launcher slurm".to_owned());
    }
    (is_elsewhere, kept)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use seatrial_model::record::ProfileRef;
    use seatrial_model::{Outcome, Params, Subject};

    use super::*;

    fn run(command: &str, nodes: &[&str], judged: bool) -> RunInfo {
        let profile = ProfileRef { id: "host".to_owned(), title: String::new(), file: None };
        RunInfo {
            id: "20260921-083015-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command: command.split('|').map(str::to_owned).collect(),
            profile: judged.then_some(profile),
            nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
            started: jiff::Timestamp::UNIX_EPOCH,
            ended: None,
        }
    }

    #[test]
    fn what_goes_on_with_a_run_is_as_strict_as_it_was() {
        let of = |command: &str, judged| resume(&run(command, &["n1"], judged));
        assert_eq!(of("seatrial|run|mem.bandwidth", false), "seatrial run --resume 20260921-083015-bcdf");
        assert_eq!(of("seatrial|check", true), "seatrial check --resume 20260921-083015-bcdf");
        let strict = "seatrial check --strict --resume 20260921-083015-bcdf";
        assert_eq!(of("seatrial|check|--strict|host", true), strict);
        assert_eq!(of("seatrial|check|cluster|-w|n[1-4]|--strict", true), strict);
        // The name of a profile.
        assert_eq!(of("seatrial|check|--|--strict", true), "seatrial check --resume 20260921-083015-bcdf");
    }

    #[test]
    fn a_case_is_repeated_where_it_ran_and_reached_as_it_was() {
        let case = case();
        let of = |command: &str, nodes: &[&str]| repeat(&case, &run(command, nodes, false));
        assert_eq!(of("seatrial|run|cpu.clock", &["n7"]), "seatrial run cpu.clock", "this machine");
        assert_eq!(
            of("seatrial|run|cpu.clock|--launcher=local", &["n7"]),
            "seatrial run cpu.clock --launcher local"
        );
        // Another machine than the one that the command is typed on.
        for typed in ["-w|n7", "-wn7", "--nodelist|n7", "--nodelist=n7"] {
            assert_eq!(
                of(&format!("seatrial|run|cpu.clock|{typed}"), &["n7"]),
                "seatrial run cpu.clock -w n7"
            );
        }
        assert_eq!(
            of("seatrial|check|-w|n[6-7]|--ssh|ssh -F my.conf|--share-hosts", &["n6", "n7"]),
            "seatrial run cpu.clock -w n7 --ssh 'ssh -F my.conf' --share-hosts"
        );
        assert_eq!(
            of("seatrial|check|-N|2|--partition=long|--time|10", &["n6", "n7"]),
            "seatrial run cpu.clock -w n7 --launcher slurm --partition long --time 10"
        );
        assert_eq!(
            of("seatrial|check|-N2|--launcher|mpirun", &["n6", "n7"]),
            "seatrial run cpu.clock -w n7 --launcher mpirun"
        );
    }

    fn case() -> CaseRecord {
        let Ok(id) = "cpu.clock@n7/node".parse();
        CaseRecord {
            case: id,
            bench: "cpu.clock".to_owned(),
            version: 1,
            subject: Subject::node(),
            key: None,
            nodes: vec!["n7".to_owned()],
            lost: Vec::new(),
            retry_of: None,
            group: String::new(),
            params: Params::default(),
            chosen: Params::default(),
            facts: Params::default(),
            outcome: Outcome::Measured,
            cause: None,
            reason: None,
            metrics: BTreeMap::new(),
            series: BTreeMap::new(),
            evidence: BTreeMap::new(),
            findings: Vec::new(),
            seconds: 1.0,
        }
    }
}
