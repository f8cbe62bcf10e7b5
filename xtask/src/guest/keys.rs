//! ssh from the first guest to the second: a key, a host key that both know, nobody's own configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Writes them into `session`, which guests see as `/run/guest`.
pub fn make(session: &Path) -> Result<()> {
    for name in ["key", "host_key"] {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "guest", "-f"]).arg(session.join(name));
        let status = keygen.status().context("cannot start ssh-keygen")?;
        ensure!(status.success(), "ssh-keygen ended with {status}");
    }
    let host_key = fs::read_to_string(session.join("host_key.pub"))?;
    fs::write(session.join("known_hosts"), format!("g1,g2,10.78.* {host_key}"))?;
    fs::write(session.join("ssh_config"), CLIENT)?;
    fs::write(session.join("sshd_config"), SERVER)?;
    Ok(())
}

const CLIENT: &str = "\
BatchMode yes
IdentityFile /root/.ssh/key
UserKnownHostsFile /run/guest/known_hosts
StrictHostKeyChecking yes
";

// Files of the session belong to whoever started it, so modes are not looked at.
const SERVER: &str = "\
HostKey /run/sshd/host_key
AuthorizedKeysFile /run/guest/key.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
MaxStartups 100
AcceptEnv *
";
