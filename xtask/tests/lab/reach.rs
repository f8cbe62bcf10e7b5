//! What a healthy lab is: nodes with things of their own, reached by Slurm, ssh and mpirun.

use libtest_mimic::Trial;

use crate::cluster::{shared, sorted};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("slurm_ssh_and_mpirun_reach_every_node", slurm_ssh_and_mpirun_reach_every_node),
        trial("a_node_reaches_another_and_an_unknown_host_key_is_refused", nodes_and_host_keys),
        trial("a_node_has_a_network_pids_and_files_of_its_own", a_node_has_things_of_its_own),
        trial("the_monotonic_clocks_are_apart_as_written_down", the_clocks_are_apart),
        trial("a_command_keeps_its_exit_code_its_input_and_on_the_head_its_pid", commands_are_transparent),
        trial("a_lab_that_is_up_is_reported_and_not_made_anew", a_lab_that_is_up_is_reported),
    ]
}

fn slurm_ssh_and_mpirun_reach_every_node() {
    shared(|lab| {
        assert_eq!(sorted(&lab.head("srun -N2 -n2 hostname")), ["n1", "n2"]);
        assert_eq!(lab.head("ssh n1 hostname; ssh n2 hostname"), "n1\nn2\n");
        assert_eq!(sorted(&lab.head("mpirun -np 2 --host n1,n2 hostname")), ["n1", "n2"]);
        // Inside an allocation it starts its daemons with srun.
        let inside = "salloc --quiet -N2 mpirun -np 2 --map-by ppr:1:node hostname";
        assert_eq!(sorted(&lab.head(inside)), ["n1", "n2"]);
    });
}

fn nodes_and_host_keys() {
    shared(|lab| {
        assert_eq!(lab.node("n1", "ssh n2 'hostname; sinfo --noheader --format=%D'"), "n2\n2\n");
        let complaint =
            lab.refused(&["run", "--", "ssh", "-o", "UserKnownHostsFile=/dev/null", "n1", "true"]);
        assert!(complaint.contains("Host key verification failed"), "{complaint}");
        let complaint =
            lab.refused(&["run", "--", "ssh", "-o", "IdentityFile=/dev/null", "munge@n1", "true"]);
        assert!(complaint.contains("Permission denied (publickey)"), "{complaint}");
    });
}

fn a_node_has_things_of_its_own() {
    shared(|lab| {
        for node in ["n1", "n2"] {
            assert_eq!(
                lab.node(node, "hostname; ls /sys/class/net; cat /sys/class/net/eth0/mtu"),
                format!("{node}\neth0\nlo\n9000\n")
            );
            // Its first process and that which asks.
            assert_eq!(lab.node(node, "echo 1; cat /proc/1/comm"), "1\nsh\n");
            let mounted = lab.node(node, "grep ' /scratch ' /proc/mounts");
            assert!(mounted.starts_with("/dev/loop") && mounted.contains(" ext4 "), "{mounted}");
            lab.node(node, "for folder in /scratch /tmp /run /dev/shm; do hostname > $folder/whose; done");
        }
        // Neither sees the other's, nor the machine any.
        for node in ["n1", "n2"] {
            assert_eq!(
                lab.node(node, "cd /; cat scratch/whose tmp/whose run/whose dev/shm/whose"),
                format!("{node}\n").repeat(4)
            );
        }
        assert!(
            ["/scratch/whose", "/tmp/whose", "/run/whose", "/dev/shm/whose"]
                .iter()
                .all(|path| !std::path::Path::new(path).exists())
        );
        // 8,972 bytes, 8 of ICMP and 20 of IPv4 are 9,000, and nothing may be cut.
        lab.node("n1", "ping -q -c 2 -M do -s 8972 n2");
    });
}

/// Seconds since the machine was started, as the reader's clock says.
fn uptime(text: &str) -> f64 {
    text.split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .expect("/proc/uptime starts with a number")
}

fn the_clocks_are_apart() {
    shared(|lab| {
        let record = lab.record();
        let ours = || uptime(&std::fs::read_to_string("/proc/uptime").unwrap());
        let mut seen = vec![0];
        for node in &record.nodes {
            let (before, theirs, after) = (ours(), uptime(&lab.node(&node.name, "cat /proc/uptime")), ours());
            let ahead = theirs - f64::from(node.clock_ahead_s);
            // Written with two digits.
            assert!(
                before - 0.02 <= ahead && ahead <= after + 0.02,
                "{}: {before} {ahead} {after}",
                node.name
            );
            assert!(!seen.contains(&node.clock_ahead_s), "{} has the clock of another", node.name);
            seen.push(node.clock_ahead_s);
        }
    });
}

fn commands_are_transparent() {
    shared(|lab| {
        for place in [&["run", "--"][..], &["run", "--node", "n2", "--"]] {
            let ended = lab.command(&[place, &["sh", "-c", "exit 7"]].concat()).status().unwrap();
            assert_eq!(ended.code(), Some(7), "{place:?}");
            let mut cat = lab.command(&[place, &["cat"]].concat());
            cat.stdin(std::fs::File::open("/proc/sys/kernel/ostype").unwrap());
            assert_eq!(cat.output().unwrap().stdout, b"Linux\n", "{place:?}");
        }
        let child = lab
            .command(&["run", "--", "sh", "-c", "echo $$"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), format!("{pid}\n"));
    });
}

fn a_lab_that_is_up_is_reported() {
    shared(|lab| {
        let before = lab.record().head.init;
        assert!(lab.lab(&["up", "--nodes", "2"]).contains("n1 to n2 are up already"));
        let complaint = lab.refused(&["up", "--nodes", "3"]);
        assert!(complaint.contains("has 2 nodes; add --fresh"), "{complaint}");
        assert_eq!(lab.record().head.init, before);
        assert!(lab.lab(&["status"]).contains("n2"));
    });
}
