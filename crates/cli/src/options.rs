//! Options of a run as its record stores them, and options of a resumed run.

use std::collections::BTreeSet;

use clap::Parser;
use seatrial_model::Site;
use seatrial_model::profile::fold;
use seatrial_model::record::{
    BenchmarkOptions, LauncherChoice, NodeOptions, RunInfo, RunOptions, SlurmOptions,
};
use serde_json::{Map, Value, from_value, to_value};

use crate::args::{CheckArgs, Cli, Command, RunArgs};
use crate::error::CliError;
use crate::{fleet, output, params};

pub fn of_run(args: &RunArgs) -> Result<RunOptions, CliError> {
    let bench = BenchmarkOptions { params: params::parse(&args.params)?, ..args.bench.clone() };
    Ok(RunOptions { bench, ..args.measure.options.clone() })
}

/// The options of `seatrial check`; the record stores the profile separately.
pub fn of_check(args: &CheckArgs) -> RunOptions {
    RunOptions { check: args.check.clone(), ..args.measure.options.clone() }
}

/// Options of the run `info` when it is resumed with `typed`: its own, except that each typed option on how to reach
/// nodes replaces the stored one. `--strict` stays.
pub fn resumed(
    info: &RunInfo,
    nodes: &[String],
    typed: &NodeOptions,
    strict: bool,
) -> Result<RunOptions, CliError> {
    let mut options = of_record(info);
    require_same_nodes(&info.id, nodes, typed)?;
    if typed.share_hosts && !options.nodes.share_hosts {
        return Err(CliError::Usage(format!(
            "--share-hosts: run {} measured nodes of one host one after the other; start a new run to \
             measure them at the same time",
            info.id
        )));
    }
    options.check.strict |= strict;
    options.nodes = replaced(options.nodes, typed.clone()).map_err(|error| {
        CliError::Usage(format!("the options of run {} cannot be read: {error}", info.id))
    })?;
    Ok(options)
}

/// The options in the record `info`, else of its command line.
pub fn of_record(info: &RunInfo) -> RunOptions {
    info.options.clone().unwrap_or_else(|| as_typed_then(info))
}

/// Removes the commands of a record that anybody may have written, and the file that it would write; typed ones are used.
pub fn forget_commands(info: &mut RunInfo) {
    let mut options = of_record(info);
    let kept = [("--ssh", options.nodes.ssh.take()), ("--mpirun", options.nodes.mpirun.take())];
    for (option, command) in kept.into_iter().filter_map(|(option, command)| Some((option, command?))) {
        output::warn(&format!(
            "{option} '{command}' of this run is ignored, since the run is not in SEATRIAL_HOME: type the \
             option again to use it"
        ));
    }
    if let Some(file) = options.write.take() {
        output::warn(&format!(
            "--write '{}' of this run is ignored, since the run is not in SEATRIAL_HOME",
            file.display()
        ));
    }
    info.options = Some(options);
}

/// Options of a record without them: its command line, by today's definitions. Named nodes were reached by the
/// default launcher for such options; without names, it is unknown whether it ran in an allocation.
fn as_typed_then(info: &RunInfo) -> RunOptions {
    let options = match Cli::try_parse_from(&info.command).map(|cli| cli.command) {
        Ok(Command::Run(args)) => of_run(&args).unwrap_or_default(),
        Ok(Command::Check(args)) => of_check(&args),
        // Written by another version with options that are unknown here.
        Ok(_) | Err(_) => return RunOptions::default(),
    };
    let names = options.nodes.nodelist.is_some() || options.nodes.nodes.is_some();
    let nodes = if names { fleet::settled_elsewhere(&options.nodes) } else { options.nodes };
    RunOptions { nodes, ..options }
}

/// Nodes with a real name: for a node that never came, some launchers know no name, and the record has a number.
pub fn named_nodes(info: &RunInfo, site: &Site) -> Vec<String> {
    let listed = of_record(info).nodes.nodelist;
    let is_listed = |name: &str| listed.as_ref().is_some_and(|list| list.contains(name));
    let is_named = |name: &&String| site.machine(name).is_some() || is_listed(name);
    info.nodes.iter().filter(is_named).cloned().collect()
}

/// The plan names nodes; other nodes have no cases.
fn require_same_nodes(run: &str, nodes: &[String], args: &NodeOptions) -> Result<(), CliError> {
    let its: BTreeSet<&str> = nodes.iter().map(String::as_str).collect();
    let refuse = |option: &str, why: &str| {
        let names = fold(&its.iter().copied().collect::<Vec<_>>());
        Err(CliError::Usage(format!(
            "{option}: {why}, but the cases of run {run} are planned for {names}; start a new run for other \
             nodes"
        )))
    };
    let named = fleet::nodes(args);
    if args.nodelist.is_some() && named.iter().map(String::as_str).collect::<BTreeSet<_>>() != its {
        let typed = fold(&named);
        return refuse(
            "-w",
            &if typed.is_empty() { "no node is left".to_owned() } else { format!("it selects {typed}") },
        );
    }
    if let Some(out) = args.exclude.as_ref().filter(|out| its.iter().any(|node| out.contains(node))) {
        return refuse("-x", &format!("{out} is excluded"));
    }
    if let Some(count) = args.nodes.filter(|count| *count as usize != its.len()) {
        return refuse("-N", &format!("that is {count} of {}", its.len()));
    }
    Ok(())
}

fn replaced(mut before: NodeOptions, mut typed: NodeOptions) -> Result<NodeOptions, serde_json::Error> {
    // These three options select nodes together; they are the same nodes.
    let replaced = if typed.nodelist.is_some() { &mut before } else { &mut typed };
    (replaced.nodelist, replaced.nodes, replaced.exclude) = (None, None, None);
    // Options of Slurm are void when another launcher is requested.
    if typed.launcher.as_ref().is_some_and(|launcher| *launcher != LauncherChoice::Slurm) {
        before.slurm = SlurmOptions::default();
    }
    // Options at their default are absent.
    let mut options: Map<String, Value> = from_value(to_value(before)?)?;
    options.extend(from_value::<Map<String, Value>>(to_value(typed)?)?);
    from_value(Value::Object(options))
}

#[cfg(test)]
mod tests {
    use seatrial_model::SiteNode;
    use seatrial_model::machine::Machine;
    use seatrial_model::record::{CheckOptions, option_words};
    use seatrial_report::repeat_command::reaching;

    use super::*;

    fn run(command: &str, nodes: &str) -> RunInfo {
        let command: Vec<String> = command.split('|').map(str::to_owned).collect();
        let nodes: seatrial_model::profile::NodeSet = nodes.parse().unwrap();
        let mut info = RunInfo {
            id: "20260921-083015-bcdf".to_owned(),
            seatrial: "0.1.0".to_owned(),
            command,
            options: None,
            profile: None,
            nodes: nodes.names().map(str::to_owned).collect(),
            started: jiff::Timestamp::UNIX_EPOCH,
            paused_seconds: 0.0,
            ended: None,
        };
        info.options = Some(as_typed_then(&info));
        info
    }

    fn typed_now(line: &str) -> NodeOptions {
        let words = "seatrial run --resume".split(' ').chain(line.split('|').filter(|word| !word.is_empty()));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Run(args) => args.measure.options.nodes,
            other => panic!("{other:?}"),
        }
    }

    fn went_on(info: &RunInfo, line: &str) -> Result<RunOptions, String> {
        resumed(info, &info.nodes, &typed_now(line), false).map_err(|error| error.to_string())
    }

    #[test]
    fn what_was_typed_is_what_is_kept_and_the_same_when_it_is_typed_again() {
        let words = "seatrial|run|net.rr|-p|size=1 B,64 KiB|--pattern|ring|-w|n[1-4]|-x|n3|--launcher|ssh|--ssh|ssh -F a\
                     |--ssh-fanout|2|--share-hosts";
        let options = run(words, "n1").options.unwrap();
        assert_eq!(
            (&options.bench.benchmarks[..], options.bench.pattern.as_deref()),
            (&["net.rr".to_owned()][..], Some("ring"))
        );
        assert_eq!(options.bench.params["size"], ["1 B", "64 KiB"]);
        let nodes = options.nodes;
        assert_eq!((&nodes.launcher, nodes.ssh.as_deref()), (&Some(LauncherChoice::Ssh), Some("ssh -F a")));
        let typed = option_words(&nodes);
        assert_eq!(typed.join("|"), words.split_once("ring|").unwrap().1);
        assert_eq!(typed_now(&typed.join("|")), nodes);
        let check = run("seatrial|check|--strict|--role|head=n1|--|--profile", "n1").options.unwrap();
        let roles = vec!["head=n1".to_owned()];
        let wanted = CheckOptions { strict: true, roles, reference: None };
        assert_eq!(check, RunOptions { check: wanted, ..RunOptions::default() });
    }

    #[test]
    fn one_option_replaces_one_option() {
        let info = run("seatrial|run|net.rr|-w|n[1-4]|--ssh|ssh -F old|--share-hosts", "n[1-4]");
        assert_eq!(info.options.as_ref().unwrap().nodes.launcher, Some(LauncherChoice::Ssh));
        let before = info.options.clone().unwrap();
        assert_eq!(went_on(&info, ""), Ok(before.clone()));
        let after = went_on(&info, "--ssh-fanout|2").unwrap();
        let mut wanted = before.clone();
        wanted.nodes.ssh_fanout = Some(2);
        assert_eq!(after, wanted);
        let after = went_on(&info, "--ssh|ssh -F new").unwrap();
        wanted = before;
        wanted.nodes.ssh = Some("ssh -F new".to_owned());
        assert_eq!(after, wanted);
    }

    #[test]
    fn a_run_stays_as_strict_as_it_was_and_may_become_stricter() {
        let strict = run("seatrial|check|--strict", "n1");
        assert!(resumed(&strict, &strict.nodes, &NodeOptions::default(), false).unwrap().check.strict);
        let lenient = run("seatrial|check", "n1");
        assert!(!resumed(&lenient, &lenient.nodes, &NodeOptions::default(), false).unwrap().check.strict);
        assert!(resumed(&lenient, &lenient.nodes, &NodeOptions::default(), true).unwrap().check.strict);
    }

    #[test]
    fn what_would_change_what_is_measured_is_refused() {
        let info = run("seatrial|run|net.rr|-w|n[1-5]|-x|n5", "n[1-4]");
        for (line, said) in [
            (
                "-w|n[1-3]",
                "-w: it selects n[1-3], but the cases of run 20260921-083015-bcdf are planned for n[1-4]",
            ),
            ("-w|n[1-5]", "-w: it selects n[1-5]"),
            ("-w|n1|-x|n1", "-w: no node is left"),
            ("-x|n4", "-x: n4 is excluded"),
            ("-N|2", "-N: that is 2 of 4"),
            ("--share-hosts", "--share-hosts: run 20260921-083015-bcdf measured"),
        ] {
            let error = went_on(&info, line).unwrap_err();
            assert!(error.contains(said) && error.contains("start a new run"), "{line}: {error}");
        }
        // The same nodes in other words.
        assert_eq!(went_on(&info, "-N|4"), Ok(info.options.clone().unwrap()));
        assert_eq!(went_on(&info, "-x|n9"), Ok(info.options.clone().unwrap()));
        let named = went_on(&info, "-w|n2,n1,n[3-4]").unwrap().nodes;
        assert_eq!((named.nodelist.unwrap().names().count(), named.exclude), (4, None));
    }

    #[test]
    fn a_run_goes_on_with_the_nodes_that_slurm_chose_for_it() {
        let mut info = run("seatrial|run|net.rr|-N|2|--partition|long", "n[7-8]");
        info.options = Some(went_on(&info, "--time|10").unwrap());
        let nodes = reaching(&info.nodes, &info);
        assert_eq!((fleet::nodes(&nodes), nodes.nodes), (vec!["n7".to_owned(), "n8".to_owned()], None));
        assert_eq!(nodes.launcher, Some(LauncherChoice::Slurm));
        assert_eq!(
            (nodes.slurm.partition.as_deref(), nodes.slurm.time.as_deref()),
            (Some("long"), Some("10"))
        );
        // Named, they are still Slurm's.
        let named = went_on(&info, "-w|n[7-8]").unwrap().nodes;
        assert_eq!(named.launcher, Some(LauncherChoice::Slurm));
        // With another launcher, without partition.
        info.options = Some(went_on(&info, "--launcher|ssh").unwrap());
        let nodes = reaching(&info.nodes, &info);
        assert_eq!((nodes.launcher, nodes.slurm), (Some(LauncherChoice::Ssh), SlurmOptions::default()));
        assert_eq!(nodes.nodelist.unwrap().names().count(), 2);
    }

    #[test]
    fn a_run_on_this_machine_goes_on_here() {
        for command in [
            "seatrial|run|cpu.clock",
            "seatrial|run|cpu.clock|--launcher|local",
            "seatrial|run|cpu.clock|--launcher|local|-N|1",
        ] {
            let mut info = run(command, "n1");
            info.options = Some(went_on(&info, "--ssh-fanout|2").unwrap());
            let nodes = reaching(&info.nodes, &info);
            assert_eq!((nodes.nodelist, nodes.nodes, nodes.ssh_fanout), (None, None, Some(2)), "{command}");
        }
        // A name that another launcher reached is this machine for the local launcher.
        let mut info = run("seatrial|run|cpu.clock|-w|n1", "n1");
        info.options = Some(went_on(&info, "--launcher|local").unwrap());
        assert_eq!(reaching(&info.nodes, &info).nodelist, None);
    }

    #[test]
    fn a_node_that_never_came_and_has_no_name_is_not_asked_for() {
        let counted = run("seatrial|run|net.rr|-N|3", "n[7-8],node-3-of-3");
        let mut site = Site::default();
        site.nodes.extend(["n7", "n8"].map(|name| SiteNode::new(name, Machine::default())));
        assert_eq!(named_nodes(&counted, &site), ["n7", "n8"]);
        let listed = run("seatrial|run|net.rr|-w|n[7-9]", "n[7-9]");
        assert_eq!(named_nodes(&listed, &site), ["n7", "n8", "n9"]);
    }
}
