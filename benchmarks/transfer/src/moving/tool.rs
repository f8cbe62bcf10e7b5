//! What moves the files: the mover of `seatrial copy`, or a program of the node.

use std::process::{Command, Stdio};

use seatrial_model::{Cause, Params, Reason};
use seatrial_mover::{Cipher, Window};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Native,
    Scp,
    Rsync,
    Cp,
    TarSsh,
    Bbcp,
    Rclone,
}

/// In the order of help.
const TOOLS: [Tool; 7] =
    [Tool::Native, Tool::Scp, Tool::Rsync, Tool::Cp, Tool::TarSsh, Tool::Bbcp, Tool::Rclone];

pub const NAMES: [&str; TOOLS.len()] = ["native", "scp", "rsync", "cp", "tar-ssh", "bbcp", "rclone"];

impl Tool {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let name = params.text("tool")?;
        let place = NAMES.iter().position(|known| *known == name).unwrap_or(0);
        Ok(TOOLS[place])
    }

    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// Whether the tool copies between two hosts, or within one.
    ///
    /// # Errors
    /// What to do where it does not.
    pub fn require_reach(self, is_remote: bool) -> Result<(), Reason> {
        let text = match (self, is_remote) {
            (Self::Cp, true) => "tool=cp copies within one node: leave out -w, or choose another tool",
            (Self::Scp, false) => {
                "within one node scp copies as cp does: measure tool=cp, or name two nodes with -w"
            }
            (Self::TarSsh | Self::Bbcp, false) => {
                "tar-ssh and bbcp copy between two nodes: name them with -w, or choose another tool"
            }
            _ => return Ok(()),
        };
        Err(Reason::new(Cause::Inapplicable, text))
    }

    /// Whether the tool has what `direction`, `cipher` and `window` ask for.
    ///
    /// # Errors
    /// What it does not have.
    pub fn require_options(self, params: &Params, is_remote: bool) -> Result<(), Reason> {
        let lacks = |text: String| Err(Reason::new(Cause::Inapplicable, text));
        let name = self.name();
        if params.text("direction")? == "pull" && (!is_remote || matches!(self, Self::Native | Self::Cp)) {
            let why = if is_remote {
                "its processes run on both nodes already, and the node with the data calls"
            } else {
                "within one node there is no other end"
            };
            return lacks(format!("direction=pull: tool={name} has no such thing: {why}"));
        }
        if params.text("cipher")? != "auto" {
            match self {
                Self::Scp | Self::Rsync | Self::TarSsh | Self::Rclone if is_remote => {}
                Self::Bbcp => {
                    return lacks("cipher=: bbcp sends the data without encryption: leave it out".to_owned());
                }
                Self::Native if is_remote => {
                    cipher_of(params)?;
                }
                _ => return lacks("cipher=: nothing is encrypted within one node: leave it out".to_owned()),
            }
        }
        if window_of(params)? == Window::Auto || is_remote && matches!(self, Self::Native | Self::Bbcp) {
            return Ok(());
        }
        let why = if is_remote {
            format!(
                "tool={name} leaves its buffers to the kernel and to ssh: leave it out, or measure tool=native or bbcp"
            )
        } else {
            "within one node there is no connection: leave it out".to_owned()
        };
        lacks(format!("window=: {why}"))
    }

    /// Whether modes and times of files are promised to be kept.
    pub fn keeps_attributes(self, preserve: bool) -> bool {
        match self {
            Self::Native | Self::Rsync | Self::Cp => true,
            Self::Scp | Self::TarSsh | Self::Bbcp => preserve,
            // Times, but no modes.
            Self::Rclone => false,
        }
    }

    /// The programs that the node needs which runs the tool, and the other one.
    fn programs(self, is_remote: bool) -> [&'static [&'static str]; 2] {
        match self {
            Self::Native => [&[], &[]],
            Self::Scp => [&["scp", "ssh"], &[]],
            Self::Rsync if is_remote => [&["rsync", "ssh"], &["rsync"]],
            Self::Rsync => [&["rsync"], &[]],
            Self::Cp => [&["cp"], &[]],
            Self::TarSsh => [&["tar", "ssh"], &["tar"]],
            Self::Bbcp => [&["bbcp", "ssh"], &["bbcp"]],
            Self::Rclone if is_remote => [&["rclone", "ssh"], &[]],
            Self::Rclone => [&["rclone"], &[]],
        }
    }

    /// Skips a node that lacks a program.
    ///
    /// # Errors
    /// Which one is absent, and where it was looked for.
    pub fn require_programs(self, is_remote: bool, is_runner: bool, node: &str) -> Result<(), Reason> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |program: &&&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        let needed = self.programs(is_remote)[usize::from(!is_runner)];
        let absent = |text: String| Err(Reason::new(Cause::Inapplicable, text));
        if let Some(program) = needed.iter().find(|program| !is_there(program)) {
            return absent(format!(
                "{program} is not installed on {node}, it is in no folder of PATH ({}): install it, or choose another tool",
                path.display()
            ));
        }
        if self == Self::Rclone && is_remote && is_runner && !has_sftp_ssh() {
            return absent(format!(
                "rclone on {node} is too old: it has no option --sftp-ssh, by which it logs in as ssh does; install a later one, \
                 or choose another tool"
            ));
        }
        Ok(())
    }

    /// The command that prints the version; ssh is what scp is part of.
    pub fn version(self) -> Option<Command> {
        let (program, option) = match self {
            Self::Native => return None,
            Self::Scp => ("ssh", "-V"),
            Self::Rsync => ("rsync", "--version"),
            Self::Cp => ("cp", "--version"),
            Self::TarSsh => ("tar", "--version"),
            Self::Bbcp => ("bbcp", "-#"),
            Self::Rclone => ("rclone", "version"),
        };
        let mut command = Command::new(program);
        command.arg(option);
        Some(command)
    }
}

/// Whether rclone knows the option, which those of 2022 do not.
fn has_sftp_ssh() -> bool {
    let asked = Command::new("rclone").args(["version", "--sftp-ssh", "ssh"]).stdin(Stdio::null()).output();
    asked.is_ok_and(|output| output.status.success())
}

pub fn window_of(params: &Params) -> Result<Window, Reason> {
    let typed = params.text("window")?;
    typed.parse().map_err(|why| Reason::new(Cause::Contradiction, format!("window={typed}: {why}")))
}

/// The cipher of the mover's connections that `cipher` names; none sends the data in the clear.
///
/// # Errors
/// Which there are, for another word.
pub fn cipher_of(params: &Params) -> Result<Option<Cipher>, Reason> {
    let word = params.text("cipher")?;
    if word == "auto" {
        return Ok(None);
    }
    let found = Cipher::ALL.into_iter().find(|cipher| cipher.name() == word);
    found.map(Some).ok_or_else(|| {
        let known = Cipher::ALL.map(Cipher::name).join(" or ");
        let text =
            format!("cipher={word}: tool=native encrypts with {known}, or with cipher=auto not at all");
        Reason::new(Cause::Inapplicable, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_copy_the_other_way_only_are_skipped_with_what_to_do() {
        for (tool, is_remote) in
            [(Tool::Cp, true), (Tool::Scp, false), (Tool::TarSsh, false), (Tool::Bbcp, false)]
        {
            let why = tool.require_reach(is_remote).expect_err("does not");
            assert_eq!(why.cause, Cause::Inapplicable);
            assert_eq!(tool.require_reach(!is_remote), Ok(()));
        }
        for tool in [Tool::Native, Tool::Rsync, Tool::Rclone] {
            assert_eq!((tool.require_reach(true), tool.require_reach(false)), (Ok(()), Ok(())));
        }
    }

    #[test]
    fn options_that_a_tool_does_not_have_are_skipped_and_it_says_why() {
        let refused = |tool: Tool, is_remote: bool, name: &str, value: &str| {
            let mut params = Params::default();
            for (name, word) in [("direction", "push"), ("cipher", "auto"), ("window", "auto")] {
                params.set(name, word);
            }
            params.set(name, value);
            tool.require_options(&params, is_remote).map_err(|why| why.text)
        };
        let aes = "aes128-ctr";
        for tool in [Tool::Scp, Tool::Rsync, Tool::TarSsh, Tool::Rclone] {
            assert_eq!(refused(tool, true, "cipher", aes), Ok(()));
            assert_eq!(refused(tool, true, "direction", "pull"), Ok(()));
            assert!(
                refused(tool, true, "window", "bdp").expect_err("refused").contains("leaves its buffers")
            );
        }
        for tool in [Tool::Native, Tool::Bbcp] {
            let why = refused(tool, true, "cipher", aes).expect_err("refused");
            assert!(why.contains("without encryption") || why.contains("with aes-256-gcm or"), "{why}");
            assert_eq!(refused(tool, true, "window", "bdp"), Ok(()));
            assert!(refused(tool, false, "window", "64 KiB").is_err());
        }
        for cipher in Cipher::ALL.map(Cipher::name) {
            assert_eq!(refused(Tool::Native, true, "cipher", cipher), Ok(()));
            assert!(refused(Tool::Native, false, "cipher", cipher).is_err());
        }
        for (tool, is_remote) in [(Tool::Native, true), (Tool::Cp, false), (Tool::Rsync, false)] {
            assert!(
                refused(tool, is_remote, "direction", "pull").expect_err("refused").contains("no such thing")
            );
        }
    }

    #[test]
    fn a_tool_that_is_not_there_is_skipped_with_where_it_was_looked_for() {
        let path = std::env::var("PATH").unwrap_or_default();
        let Err(why) = Tool::Bbcp.require_programs(true, false, "n2") else { return };
        assert_eq!(why.cause, Cause::Inapplicable);
        assert!(why.text.contains("bbcp is not installed on n2") && why.text.contains(&path), "{why}");
    }
}
