//! Finds the cause in the output of ssh and srun.

use crate::fleet::LaunchError;

/// Phrases that tell why a step or job ended, most important first.
const CAUSES: [&str; 6] =
    [" DUE TO ", "CANCELLED AT", "NODE FAILURE", "oom_kill", "Out Of Memory", "Exited with exit code"];

/// Phrases of harmless warnings: a working folder that is not on all nodes, a cluster without binding.
const HARMLESS: [&str; 3] = ["couldn't chdir", "cpu binding", "memory binding"];

/// Longest line that is shown, in characters.
const MOST_CHARS: usize = 200;

/// The decisive line of `output`: the first with the most important cause, else the last that is no harmless warning.
pub(super) fn decisive(output: &str) -> Option<String> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let cause = CAUSES.iter().find_map(|cause| lines().find(|line| line.contains(cause)));
    let last = || lines().rfind(|line| !HARMLESS.iter().any(|known| line.contains(known)));
    let line = cause.or_else(last)?;
    // slurmstepd-n1: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00 ***
    let stars = line.split_once("*** ").and_then(|(_, rest)| rest.split_once(" ***"));
    Some(stars.map_or(line, |(told, _)| told).chars().take(MOST_CHARS).collect())
}

/// The error for a node whose agent did not start, from the output `why` of its program.
pub(super) fn never_came(node: String, why: String) -> LaunchError {
    match unreachable(&node, &why) {
        Some((why, how)) => LaunchError::Unreachable { node, why, how },
        None => LaunchError::NoHello { node, why },
    }
}

fn unreachable(node: &str, output: &str) -> Option<(String, String)> {
    // Of connect(2): `ssh: connect to host n3 port 22: Connection refused`.
    let after =
        |start: &str| output.split_once(start).map(|(_, rest)| rest.lines().next().unwrap_or_default());
    if let Some((to, why)) = after("ssh: connect to host ").and_then(|line| line.split_once(": ")) {
        let (host, port) = to.split_once(" port ")?;
        let through = if host == node { "ssh".to_owned() } else { format!("ssh to {host}") };
        return Some((why.trim().to_owned(), format!("{through}, port {port}")));
    }
    if let Some((host, why)) = after("Could not resolve hostname ").and_then(|line| line.split_once(": ")) {
        return Some((format!("could not resolve hostname {host}: {}", why.trim()), "ssh".to_owned()));
    }
    let refused = ["Permission denied (", "Host key verification failed"];
    let line = output.lines().find(|line| refused.iter().any(|start| line.contains(start)))?;
    let from = refused.iter().find_map(|start| line.find(start)).unwrap_or(0);
    Some((line[from..].trim().to_owned(), "ssh".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_told_and_the_warnings_before_it_are_not() {
        let noise = "srun: warning: cluster configuration lacks support for cpu binding\n\
                     slurmstepd-n2: error: couldn't chdir to `/root/x': No such file or directory: going to /tmp instead\n";
        let cancelled = "slurmstepd-n1: error: *** STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00 ***\n";
        let limit =
            "slurmstepd-n1: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-21T18:00:00 DUE TO TIME LIMIT ***\n";
        let told = |lines: &[&str]| decisive(&lines.concat());
        let step = "STEP 7.0 ON n1 CANCELLED AT 2026-11-21T18:00:00";
        assert_eq!(told(&[noise, cancelled, noise]).as_deref(), Some(step));
        let job = "JOB 7 ON n1 CANCELLED AT 2026-11-21T18:00:00 DUE TO TIME LIMIT";
        assert_eq!(told(&[noise, cancelled, limit, noise]).as_deref(), Some(job));
        assert_eq!(told(&[noise]), None);
        assert_eq!(
            told(&["srun: error: n1: task 0: Killed\n", noise]).as_deref(),
            Some("srun: error: n1: task 0: Killed")
        );
        assert_eq!(told(&[&"x".repeat(5000)]).map(|line| line.len()), Some(MOST_CHARS));
    }

    #[test]
    fn a_node_that_ssh_does_not_come_to_is_told_with_the_reason_and_the_port() {
        let told = |output: &str| unreachable("n3", output).map(|(why, how)| format!("{why} ({how})"));
        let output = "the connection ended; end of its stderr: ssh: connect to host n3 port 22: Connection refused\r\n";
        assert_eq!(told(output).as_deref(), Some("Connection refused (ssh, port 22)"));
        let through = "ssh: connect to host jump port 2222: Connection timed out";
        assert_eq!(told(through).as_deref(), Some("Connection timed out (ssh to jump, port 2222)"));
        let unknown = "ssh: Could not resolve hostname n1..n4: Name or service not known";
        assert_eq!(
            told(unknown).as_deref(),
            Some("could not resolve hostname n1..n4: Name or service not known (ssh)")
        );
        assert_eq!(
            told("root@n3: Permission denied (publickey).").as_deref(),
            Some("Permission denied (publickey). (ssh)")
        );
        assert_eq!(told("bash: seatrial: command not found"), None);
    }
}
