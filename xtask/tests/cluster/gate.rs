//! `seatrial gate` as the prologue and the epilogue of Slurm's jobs, and an acceptance job that drains nodes.

use std::fs;

use libtest_mimic::Trial;
use xtask::workspace;

use crate::lab::Cluster;
use crate::rig::{built, script};
use crate::started::wait_until;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_bad_node_is_drained_with_the_reason_and_a_gate_that_hangs_drains_none",
            a_bad_node_is_drained,
        ),
        trial("an_acceptance_job_drains_who_fails_and_gives_back_who_passes_only_if_told_to", acceptance),
    ]
}

/// What a node of the lab can be made to miss by itself.
const PROFILE: &str = "\
title = \"a gate of the lab\"

[[setting]]
id = \"net.ipv4.tcp_window_scaling\"
equals = true
why = \"without it a TCP connection has at most 64 KiB under way\"
";

fn acceptance() {
    let lab = Cluster::up("cluster-acceptance", 2);
    let (program, seatrial) = (lab.folder().join("program"), lab.folder().join("seatrial"));
    fs::copy(built(), &program).unwrap();
    // n1 is drained by an earlier gate while the job has it.
    let early = "scontrol update nodename=n1 state=drain 'reason=seatrial fail: of yesterday'";
    let text = format!("#!/bin/sh\n[ $1 != check ] || {early}\nexec {} \"$@\"\n", program.display());
    script(&seatrial, &text);
    let (profile, home) = (lab.folder().join("profile.toml"), lab.folder().join("home"));
    fs::write(&profile, PROFILE).unwrap();
    lab.node("n2", "sysctl -q -w net.ipv4.tcp_window_scaling=0");
    let job = workspace::root().join("contrib/slurm/acceptance.sbatch");
    let log = lab.folder().join("log");
    let submit = |options: &str| {
        let variables = format!("ALL,SEATRIAL={},SEATRIAL_HOME={}", seatrial.display(), home.display());
        let (job, profile, log) = (job.display(), profile.display(), log.display());
        // The exit code is that of the check: n2 does not pass.
        lab.head(&format!(
            "sbatch --quiet --wait -N2 --output={log} --export={variables} {job} {options} {profile}; [ $? -eq 1 ]"
        ));
    };
    let state = |node: &str| lab.head(&format!("scontrol show node {node} | grep -E 'State=|Reason='"));
    submit("");
    assert!(state("n1").contains("DRAIN"), "nothing was given back: {}", state("n1"));
    assert!(!state("n2").contains("DRAIN"), "nothing was drained: {}", state("n2"));
    lab.head("scontrol update nodename=n1 state=resume");
    wait_until("n1 to be idle", || state("n1").contains("State=IDLE "));

    submit("--drain");
    let told = fs::read_to_string(&log).unwrap();
    assert!(!state("n1").contains("DRAIN"), "{} {told}", state("n1"));
    let bad = state("n2");
    assert!(
        bad.contains("DRAIN") && bad.contains("Reason=seatrial check ") && bad.contains(": fail, job "),
        "{bad}"
    );
}

fn a_bad_node_is_drained() {
    let lab = Cluster::up("cluster-gate", 2);
    let (seatrial, profile) = (lab.folder().join("seatrial"), lab.folder().join("gate.toml"));
    fs::copy(built(), &seatrial).unwrap();
    fs::write(&profile, PROFILE).unwrap();
    let hangs = lab.folder().join("hangs");
    script(&hangs, "#!/bin/sh\nexec sleep 1000\n");
    let gate = workspace::root().join("contrib/slurm/seatrial-gate");
    let prologue = lab.folder().join("prologue");
    let with = |program: &str, within: u32| {
        let (profile, gate) = (profile.display(), gate.display());
        let text =
            format!("#!/bin/sh\nexport SEATRIAL={program} PROFILE={profile} WITHIN={within}\nexec {gate}\n");
        script(&prologue, &text);
    };
    // A node may be slow.
    with(&seatrial.display().to_string(), 60);
    let conf = lab.folder().join("slurm/slurm.conf");
    let before = fs::read_to_string(&conf).unwrap();
    fs::write(&conf, format!("{before}\nProlog={}\n", prologue.display())).unwrap();
    lab.head("scontrol reconfigure");
    let state = |node: &str| lab.head(&format!("scontrol show node {node} | grep -E 'State=|Reason='"));
    assert_eq!(lab.head("srun -N2 hostname | sort"), "n1\nn2\n");
    assert!(
        !state("n1").contains("DRAIN") && !state("n2").contains("DRAIN"),
        "{} {}",
        state("n1"),
        state("n2")
    );

    lab.node("n2", "sysctl -q -w net.ipv4.tcp_window_scaling=0");
    lab.head("sbatch --quiet -w n2 --output=/dev/null --wrap=true");
    wait_until(&format!("n2 to be drained: {}", state("n2")), || state("n2").contains("DRAIN"));
    let told = state("n2");
    assert!(told.contains("Reason=seatrial fail: ") && told.contains("window scaling"), "{told}");
    lab.head("scancel --user=root");
    assert_eq!(lab.head("srun -w n1 hostname"), "n1\n");
    assert!(!state("n1").contains("DRAIN"), "{}", state("n1"));

    with(&hangs.display().to_string(), 1);
    assert_eq!(lab.head("srun -w n1 hostname"), "n1\n");
    assert!(!state("n1").contains("DRAIN"), "{}", state("n1"));

    // The same file as the epilogue: the job has ended well, and its node takes no other one.
    with(&seatrial.display().to_string(), 60);
    fs::write(&conf, format!("{before}\nEpilog={}\n", prologue.display())).unwrap();
    lab.head("scontrol reconfigure; scontrol update nodename=n2 state=resume");
    assert_eq!(lab.head("srun -N2 hostname | sort"), "n1\nn2\n");
    wait_until(&format!("n2 to be drained: {}", state("n2")), || state("n2").contains("State=IDLE+DRAIN "));
    let told = state("n2");
    assert!(told.contains("Reason=seatrial fail: ") && told.contains("window scaling"), "{told}");
    wait_until(&format!("n1 to be idle: {}", state("n1")), || state("n1").contains("State=IDLE "));
}
