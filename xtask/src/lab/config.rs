//! The files of a lab: made from the templates in `lab/`, with keys and names.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::call::{output, tool};
use super::state::Lab;

/// The script that makes a host, in the folder of the lab.
pub const HOST_SCRIPT: &str = "host.sh";

/// Slurm's configuration, in the folder of the lab.
pub const SLURM_CONF: &str = "slurm/slurm.conf";

/// sshd's configuration, in the folder of the lab.
pub const SSHD_CONFIG: &str = "ssh/sshd_config";

/// Where the files go, and what they are made from.
const TEMPLATES: &[(&str, &str)] = &[
    (HOST_SCRIPT, include_str!("../../../lab/host.sh")),
    (SLURM_CONF, include_str!("../../../lab/slurm.conf")),
    ("slurm/topology.conf", include_str!("../../../lab/topology.conf")),
    ("slurm/cgroup.conf", include_str!("../../../lab/cgroup.conf")),
    (SSHD_CONFIG, include_str!("../../../lab/sshd_config")),
    ("ssh/ssh_config", include_str!("../../../lab/ssh_config")),
];

/// Writes all files that the hosts of the lab need to start.
///
/// # Errors
/// When one cannot be written or a key cannot be made.
pub fn write(lab: &Lab) -> Result<()> {
    let at = |path: &str| lab.folder.join(path);
    for folder in ["slurm", "ssh", "head/slurmctld"] {
        fs::create_dir_all(at(folder)).with_context(|| format!("cannot make {}", at(folder).display()))?;
    }
    for (path, template) in TEMPLATES {
        // The script takes arguments instead: to a shell, braces mean something else.
        let text = if *path == HOST_SCRIPT { (*template).to_owned() } else { fill(template, lab) };
        put(&at(path), &text)?;
    }
    put(&at("hosts"), &hosts(lab))?;

    let mut key = vec![0; 1024];
    fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut key))
        .context("no random bytes")?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(at("munge.key"));
    made.and_then(|mut file| file.write_all(&key)).context("cannot write the key of munge")?;

    let public = make_key(&at("ssh/id_ed25519"), "person")?;
    put(&at("ssh/authorized_keys"), &public)?;
    let mut known = String::new();
    for node in &lab.nodes {
        fs::create_dir_all(at(&node.name))?;
        let public = make_key(&host_key(lab, &node.name), &node.name)?;
        known += &format!("{},{} {public}", node.name, node.address);
    }
    put(&at("ssh/known_hosts"), &known)
}

/// The host key of a node.
pub fn host_key(lab: &Lab, node: &str) -> std::path::PathBuf {
    lab.folder.join(node).join("ssh_host_ed25519_key")
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Makes a key pair and returns its public half.
fn make_key(path: &Path, comment: &str) -> Result<String> {
    output(tool("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f"]).arg(path))?;
    let public = path.with_extension("pub");
    fs::read_to_string(&public).with_context(|| format!("cannot read {}", public.display()))
}

fn hosts(lab: &Lab) -> String {
    let lines = lab.hosts().map(|host| format!("{} {}\n", host.address, host.name));
    std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(lines).collect()
}

fn fill(template: &str, lab: &Lab) -> String {
    let count = lab.nodes.len();
    // Every node has the CPUs of the machine, which they share.
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    // The unified hierarchy has this file at its top; slurmd takes that for version 2, everything else for version 1.
    let is_unified = Path::new("/sys/fs/cgroup/cgroup.controllers").is_file();
    let half = count.div_ceil(2);
    let (other, leaves) = match count - half {
        0 => (String::new(), "leaf1"),
        _ => (format!("SwitchName=leaf2 Nodes=n[{}-{count}]", half + 1), "leaf[1-2]"),
    };
    let words = [
        ("{first_half}", format!("n[1-{half}]")),
        ("{other_half}", other),
        ("{leaves}", leaves.to_owned()),
        ("{name}", lab.name.clone()),
        ("{folder}", lab.folder.display().to_string()),
        ("{head}", lab.head.address.clone()),
        ("{nodes}", format!("n[1-{count}]")),
        ("{addresses}", format!("10.77.0.[1-{count}]")),
        ("{cpus}", cpus.to_string()),
        ("{version}", if is_unified { "v2" } else { "v1" }.to_owned()),
    ];
    words.iter().fold(template.to_owned(), |text, (word, value)| text.replace(word, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_gap_of_a_template_stays_open() {
        let lab = Lab::new("x", Path::new("/somewhere/x"), 3, 1).unwrap();
        for (path, template) in TEMPLATES.iter().filter(|(path, _)| *path != HOST_SCRIPT) {
            let text = fill(template, &lab);
            assert!(!text.contains(['{', '}']), "{path}: {text}");
        }
        let slurm = fill(TEMPLATES[1].1, &lab);
        assert!(slurm.contains("\nNodeName=n[1-3] NodeAddr=10.77.0.[1-3] CPUs="), "{slurm}");
        let topology = fill(TEMPLATES[2].1, &lab);
        for line in ["leaf1 Nodes=n[1-2]\n", "leaf2 Nodes=n[3-3]\n", "spine Switches=leaf[1-2]\n"] {
            assert!(topology.contains(&format!("\nSwitchName={line}")), "{topology}");
        }
        assert_eq!(hosts(&lab).lines().nth(2), Some("10.77.0.1 n1"));
    }
}
