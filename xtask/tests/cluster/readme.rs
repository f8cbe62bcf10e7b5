//! The cluster section of the README, typed as it stands.

use std::fs;

use libtest_mimic::Trial;
use xtask::workspace;

use crate::rig::wide;
use crate::started::Started;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("the_readme_s_commands_for_clusters_work_as_they_stand", typed_as_it_stands)]
}

const HEADING: &str = "## On a cluster\n";

/// The commands of the section: lines of its console blocks that begin with a prompt.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(workspace::root().join("README.md")).unwrap();
    let section = readme.split_once(HEADING).expect("a section on clusters").1;
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ "));
    // What stands behind two spaces and a # is said to the reader.
    lines.map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect()
}

fn typed_as_it_stands() {
    wide(|rig| {
        let commands = commands();
        assert!(commands.len() >= 5, "{commands:#?}");
        let bin = rig.bin();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        // Commands on all nodes work the same with nodes from Slurm; groups are tried there on sixteen nodes.
        let is_of_groups = |command: &&String| {
            let is_split = command.contains("isolate") || command.contains("--groups");
            !is_split && (command.contains("all_to_all") || command.contains("--beside"))
        };
        let by_slurm: Vec<String> = commands
            .iter()
            .filter(is_of_groups)
            .map(|command| command.replace("-w 'n[1-4]'", "-N 4"))
            .collect();
        assert_eq!(by_slurm.len(), 2, "{commands:#?}");
        for command in commands.into_iter().chain(by_slurm) {
            // A whole check takes a minute and more on each node, and the nodes of the lab take turns: it is planned, and
            // what is measured, is measured once.
            let shorter = match () {
                () if command.contains("seatrial check") => " --plan",
                // On a busy machine four nodes meet late.
                () if command.contains("net.all_to_all") => " -p trials=1 -p max_trials=1 -p time=3s",
                () if command.contains("seatrial run") => " -p trials=1 -p max_trials=1",
                () => "",
            };
            let line = format!("{command}{shorter}");
            let mut shell = rig.lab.command(&["run", "--", "sh", "-c", &line]);
            shell.env("PATH", &path);
            let ended = Started::new(shell).end();
            assert_eq!(ended.code, Some(0), "{line}: {}{}", ended.complaint, ended.out);
            // All of them are about all four nodes.
            for node in ["n1", "n4"] {
                assert!(ended.out.contains(node), "{line}: no {node} in {}", ended.out);
            }
        }
    });
}
