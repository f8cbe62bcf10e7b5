//! Command lines offered to the user, to resume a run and to repeat a case, quoted for a shell. All such commands are
//! made here.

use seatrial_analysis::named_params;
use seatrial_model::profile::fold;
use seatrial_model::record::{CaseRecord, LauncherChoice, NodeOptions, RunInfo, option_words};
use seatrial_model::{Cause, quoted};

use crate::words::clean;

/// The command that resumes a run. Its folder keeps the plan, the profile, the reference and the options, so that no
/// other argument is needed.
pub fn resume(run: &RunInfo) -> String {
    let command = if run.profile.is_some() { "check" } else { "run" };
    line(["seatrial", command, "--resume", &run.id])
}

/// The command that runs `case` alone, where and as it ran in `run`. For a record without options it is the original
/// command line, which runs all cases: how the nodes were reached is unknown otherwise.
pub fn repeat(case: &CaseRecord, run: &RunInfo) -> String {
    if run.options.is_none() {
        return line(&run.command);
    }
    command(&case.bench, named_params(case).into_iter(), &case.nodes, run)
}

/// The command that runs `bench` with `params` on `nodes`, which are reached as in `run`.
fn command(bench: &str, params: impl Iterator<Item = String>, nodes: &[String], run: &RunInfo) -> String {
    let mut words = vec!["seatrial".to_owned(), "run".to_owned(), bench.to_owned()];
    words.extend(params.flat_map(|pair| ["-p".to_owned(), pair]));
    let mut options = reaching(nodes, run);
    // The defaults without an option: this machine, and nodes by their names through ssh.
    options.launcher =
        options.launcher.filter(|it| !matches!(it, LauncherChoice::Local | LauncherChoice::Ssh));
    words.extend(option_words(&options));
    line(words)
}

/// The commands that measure `cases` again, each with its label: one for each benchmark, with all nodes, devices and
/// values of its cases; one of its own for nodes that were not reached, and for each pair of nodes.
pub fn repeats(cases: &[&CaseRecord], run: &RunInfo, trials: Repeat) -> Vec<(&'static str, String)> {
    let Some(first) = cases.first() else { return Vec::new() };
    if run.options.is_none() {
        return vec![("repeat", repeat(first, run))];
    }
    let is_unreached = |case: &CaseRecord| case.cause == Some(Cause::NeverReached);
    let is_alike = |one: &CaseRecord, other: &CaseRecord| {
        let is_own = one.nodes.len() != 1 || other.nodes.len() != 1;
        one.bench == other.bench
            && is_unreached(one) == is_unreached(other)
            && (!is_own || one.case == other.case)
    };
    let mut groups: Vec<Vec<&CaseRecord>> = Vec::new();
    for case in cases {
        match groups.iter_mut().find(|group| is_alike(group[0], case)) {
            Some(group) => group.push(case),
            None => groups.push(vec![case]),
        }
    }
    let label = |group: &[&CaseRecord]| match trials {
        _ if is_unreached(group[0]) => "repeat when up",
        Repeat::Same => "repeat",
        Repeat::MoreTrials => "repeat, more trials",
    };
    groups.iter().map(|group| (label(group), repeat_alike(group, run, trials))).collect()
}

/// The command that measures `nodes` of `run` and judges them by its profile again, once `cases` are mended: with all nodes
/// of the run if one of the cases spans nodes. `None` for a run without a profile.
pub fn judge_again(cases: &[&CaseRecord], run: &RunInfo) -> Option<String> {
    let (profile, options) = (run.profile.as_ref()?, run.options.as_ref()?);
    let nodes = nodes_of(cases);
    let spans = cases.iter().any(|case| case.nodes.len() > 1);
    let mut words = vec!["seatrial".to_owned(), "check".to_owned(), profile.typed().to_owned()];
    words.extend(options.check.roles.iter().flat_map(|role| ["--role".to_owned(), role.clone()]));
    words.extend(option_words(&reaching(if spans { &run.nodes } else { &nodes }, run)));
    Some(line(words))
}

/// The nodes of all `cases`, each once, in the order of the cases.
fn nodes_of(cases: &[&CaseRecord]) -> Vec<String> {
    let mut nodes: Vec<String> = Vec::new();
    for node in cases.iter().flat_map(|case| &case.nodes) {
        if !nodes.contains(node) {
            nodes.push(node.clone());
        }
    }
    nodes
}

/// The number of trials of a command that measures again.
#[derive(Clone, Copy, PartialEq)]
pub enum Repeat {
    /// As many as before.
    Same,
    /// Four times as many as were measured: the interval becomes half as wide.
    MoreTrials,
}

impl Repeat {
    fn of(self, cases: &[&CaseRecord]) -> Option<String> {
        let made = cases.iter().filter_map(|case| Some(case.headline()?.1.trials)).max();
        made.filter(|made| self == Self::MoreTrials && *made > 0).map(|made| format!("trials={}", 4 * made))
    }
}

/// The parameter that selects a device of a kind.
const SELECTORS: [(&str, &str); 4] =
    [("gpu", "gpu"), ("nic", "interface"), ("hca", "device"), ("disk", "disk")];

/// One command for cases of one benchmark. Several values of a parameter make a sweep, which measures each of the cases.
fn repeat_alike(cases: &[&CaseRecord], run: &RunInfo, trials: Repeat) -> String {
    let mut params: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |name: &str, value: String| match params.iter_mut().find(|(known, _)| known == name) {
        Some((_, values)) if values.contains(&value) => {}
        Some((_, values)) => values.push(value),
        None => params.push((name.to_owned(), vec![value])),
    };
    let named: Vec<String> = cases.iter().flat_map(|case| named_params(case)).collect();
    for case in cases {
        // A value that is default in one case and not in another is one of the sweep.
        for (name, value) in case.params.iter() {
            if named.iter().any(|pair| pair.split('=').next() == Some(name)) {
                add(name, value.to_string());
            }
        }
        let device = case.subject.as_str().split_once(':');
        let selector = device.and_then(|(kind, device)| {
            let (_, name) = SELECTORS.iter().find(|(known, _)| *known == kind)?;
            (case.params.text(name) == Ok("auto")).then_some((*name, device))
        });
        if let Some((name, device)) = selector {
            add(name, device.to_owned());
        }
    }
    let trials = trials.of(cases);
    let is_kept = |name: &str| trials.is_none() || !["trials", "max_trials"].contains(&name);
    let kept = params.iter().filter(|(name, _)| is_kept(name));
    let pairs = kept.map(|(name, values)| format!("{name}={}", values.join(","))).chain(trials.clone());
    let nodes = nodes_of(cases);
    command(&cases[0].bench, pairs, &nodes, run)
}

/// The options that reach `nodes` of `run` as the run did: by their names, unless the run was on the local machine.
/// If a record does not name the launcher, the number of nodes decides.
pub fn reaching(nodes: &[String], run: &RunInfo) -> NodeOptions {
    let options = run.options.as_ref().map(|options| options.nodes.clone()).unwrap_or_default();
    if nodes.is_empty() {
        return options;
    }
    let is_here =
        options.launcher.as_ref().map_or(run.nodes.len() <= 1, |launcher| *launcher == LauncherChoice::Local);
    NodeOptions {
        nodelist: if is_here { None } else { fold(nodes).parse().ok() },
        nodes: None,
        exclude: None,
        // Has no effect for so few nodes.
        ssh_fanout: options.ssh_fanout.filter(|most| is_here || nodes.len() > *most as usize),
        ..options
    }
}

/// Words as one line that a shell splits into the same words. Control characters become blanks.
pub fn line<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(word.as_ref())).collect();
    clean(&words.join(" "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Command;

    use seatrial_model::record::LauncherChoice::{Local, Mpirun, Slurm, Ssh};
    use seatrial_model::record::{ProfileRef, RunOptions, SlurmOptions};
    use seatrial_model::{Outcome, Params, Subject};

    use super::*;

    fn run(options: Option<NodeOptions>, nodes: &[&str]) -> RunInfo {
        RunInfo {
            id: "20260921-083015-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command: vec!["seatrial".to_owned()],
            options: options.map(|nodes| RunOptions { nodes, ..RunOptions::default() }),
            profile: None,
            nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
            started: jiff::Timestamp::UNIX_EPOCH,
            paused_seconds: 0.0,
            ended: None,
        }
    }

    fn listed(nodes: &str) -> NodeOptions {
        NodeOptions { nodelist: Some(nodes.parse().unwrap()), ..NodeOptions::default() }
    }

    fn by(launcher: LauncherChoice, options: NodeOptions) -> NodeOptions {
        NodeOptions { launcher: Some(launcher), ..options }
    }

    #[test]
    fn a_run_is_gone_on_with_by_its_name() {
        let mut run = run(Some(listed("n[1-4]")), &["n1"]);
        assert_eq!(resume(&run), "seatrial run --resume 20260921-083015-bcdf");
        run.profile = Some(ProfileRef { id: "host".to_owned(), title: String::new(), file: None });
        assert_eq!(resume(&run), "seatrial check --resume 20260921-083015-bcdf");
    }

    #[test]
    fn a_case_is_repeated_where_it_ran_and_reached_as_it_was() {
        let case = case();
        let of = |options: NodeOptions, nodes: &[&str]| repeat(&case, &run(Some(options), nodes));
        let here = NodeOptions::default();
        assert_eq!(of(here.clone(), &["n7"]), "seatrial run cpu.clock", "this machine");
        let local = by(Local, here.clone());
        assert_eq!(of(local.clone(), &["n7"]), "seatrial run cpu.clock");
        let counted_here = NodeOptions { nodes: Some(1), ..local };
        assert_eq!(of(counted_here, &["n7"]), "seatrial run cpu.clock");
        // Another machine than the one of the terminal.
        assert_eq!(of(by(Ssh, listed("n7")), &["n7"]), "seatrial run cpu.clock -w n7");
        let ssh = NodeOptions {
            ssh: Some("ssh -F my.conf".to_owned()),
            ssh_fanout: Some(8),
            exclude: Some("n9".parse().unwrap()),
            share_hosts: true,
            ..listed("n[6-9]")
        };
        assert_eq!(
            of(by(Ssh, ssh), &["n6", "n7"]),
            "seatrial run cpu.clock -w n7 --ssh 'ssh -F my.conf' --share-hosts"
        );
        let counted = NodeOptions {
            nodes: Some(2),
            slurm: SlurmOptions {
                partition: Some("long".to_owned()),
                time: Some("10".to_owned()),
                ..SlurmOptions::default()
            },
            ..here.clone()
        };
        assert_eq!(
            of(by(Slurm, counted), &["n6", "n7"]),
            "seatrial run cpu.clock -w n7 --launcher slurm --partition long --time 10"
        );
        let mpirun = by(Mpirun, NodeOptions { nodes: Some(2), ..here.clone() });
        assert_eq!(of(mpirun, &["n6", "n7"]), "seatrial run cpu.clock -w n7 --launcher mpirun");
        let odd = SlurmOptions { account: Some("-odd".to_owned()), ..SlurmOptions::default() };
        let chosen = by(Slurm, NodeOptions { slurm: odd, ..here });
        assert_eq!(of(chosen, &["n7"]), "seatrial run cpu.clock -w n7 --launcher slurm --account=-odd");
    }

    #[test]
    fn of_a_record_without_options_the_run_is_repeated_as_it_was_typed() {
        let mut run = run(None, &["n6", "n7"]);
        run.command = ["seatrial", "run", "cpu.clock", "-w", "n[6-7]"].map(str::to_owned).to_vec();
        assert_eq!(repeat(&case(), &run), "seatrial run cpu.clock -w 'n[6-7]'");
    }

    #[test]
    fn cases_of_one_benchmark_are_repeated_by_one_command_with_their_nodes_devices_and_values() {
        let of = |node: &str, gpu: &str, kernel: &str, cause: Option<Cause>| {
            let Ok(id) = format!("gpu.memory@{node}/gpu:{gpu}[kernel={kernel}]").parse();
            let mut params = Params::default();
            params.set("gpu", "auto");
            params.set("kernel", kernel);
            let (bench, nodes) = ("gpu.memory".to_owned(), vec![node.to_owned()]);
            CaseRecord {
                case: id,
                bench,
                nodes,
                params,
                cause,
                subject: Subject::device("gpu", gpu),
                ..case()
            }
        };
        let cases = [
            of("n1", "1", "triad", None),
            of("n9", "0", "read", Some(Cause::NeverReached)),
            of("n2", "3", "copy", None),
            of("n3", "1", "triad", None),
        ];
        let run = run(Some(by(Ssh, listed("n[1-9]"))), &["n1", "n2", "n3", "n9"]);
        assert_eq!(
            repeats(&cases.iter().collect::<Vec<_>>(), &run, Repeat::Same),
            [
                ("repeat", "seatrial run gpu.memory -p kernel=triad,copy -p gpu=1,3 -w 'n[1-3]'".to_owned()),
                ("repeat when up", "seatrial run gpu.memory -p kernel=read -p gpu=0 -w n9".to_owned()),
            ]
        );
    }

    #[test]
    fn a_shell_makes_the_same_words_of_a_line() {
        let words =
            ["n[1-4]", "size=64 KiB", "it's", "", "a,b", "$HOME", "*", "~", "-w", "x=\"1\"", "a\\b", "ä"];
        let script = format!("printf '%s\\n' {}", line(words));
        // A folder with files that a pattern would match.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("n1"), "").unwrap();
        let out = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap().lines().collect::<Vec<_>>(), words);
        assert_eq!(line(["-p", "kernel=triad", "--ssh", "/a/b.c"]), "-p kernel=triad --ssh /a/b.c");
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
            layout: Params::default(),
            origin: Default::default(),
            facts: Params::default(),
            outcome: Outcome::Measured,
            cause: None,
            reason: None,
            headline: None,
            metrics: Default::default(),
            series: BTreeMap::new(),
            evidence: BTreeMap::new(),
            findings: Vec::new(),
            seconds: 1.0,
        }
    }
}
