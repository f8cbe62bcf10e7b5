//! What moves the files: the mover of `seatrial copy`, or a program of the node.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use seatrial_model::{Cause, Params, Reason};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Native,
    Scp,
    Rsync,
    Cp,
    TarSsh,
}

/// In the order of help.
const TOOLS: [Tool; 5] = [Tool::Native, Tool::Scp, Tool::Rsync, Tool::Cp, Tool::TarSsh];

pub const NAMES: [&str; TOOLS.len()] = ["native", "scp", "rsync", "cp", "tar-ssh"];

/// ssh asks nobody for a password.
const BATCH: &str = "BatchMode=yes";

/// From where to where.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// The directory that is copied, and its name.
    pub source: &'a Path,
    /// The directory that it is copied into.
    pub target: &'a Path,
    /// The target's host as ssh knows it; none is this one.
    pub host: Option<&'a str>,
}

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
            (Self::TarSsh, false) => "tool=tar-ssh copies between two nodes: name them with -w",
            _ => return Ok(()),
        };
        Err(Reason::new(Cause::Inapplicable, text))
    }

    /// The programs that the sending and the receiving node need.
    fn programs(self, is_remote: bool) -> [&'static [&'static str]; 2] {
        match self {
            Self::Native => [&[], &[]],
            Self::Scp => [&["scp", "ssh"], &[]],
            Self::Rsync if is_remote => [&["rsync", "ssh"], &["rsync"]],
            Self::Rsync => [&["rsync"], &[]],
            Self::Cp => [&["cp"], &[]],
            Self::TarSsh => [&["tar", "ssh"], &["tar"]],
        }
    }

    /// Skips a node that lacks a program.
    ///
    /// # Errors
    /// Which one is absent.
    pub fn require_programs(self, is_remote: bool, is_sender: bool, node: &str) -> Result<(), Reason> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |program: &&&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
        let needed = self.programs(is_remote)[usize::from(!is_sender)];
        needed.iter().find(|program| !is_there(program)).map_or(Ok(()), |program| {
            let text = format!("{program} is not installed on {node}: install it, or choose another tool");
            Err(Reason::new(Cause::Inapplicable, text))
        })
    }

    /// The command that prints the version; ssh is what scp is part of.
    pub fn version(self) -> Option<Command> {
        let (program, option) = match self {
            Self::Native => return None,
            Self::Scp => ("ssh", "-V"),
            Self::Rsync => ("rsync", "--version"),
            Self::Cp => ("cp", "--version"),
            Self::TarSsh => ("tar", "--version"),
        };
        let mut command = Command::new(program);
        command.arg(option);
        Some(command)
    }

    /// A command that logs in to the target's host and does nothing, where the tool does so.
    pub fn login(self, host: &str) -> Option<Command> {
        (self != Self::Native).then(|| ssh(host, "true"))
    }

    /// The commands that copy, each of which writes into the next; none for the mover.
    pub fn commands(self, route: Route<'_>) -> Vec<Command> {
        let Route { source, target, host } = route;
        let there = |end: &str| -> OsString {
            let mut words = host.map_or_else(OsString::new, |host| format!("{host}:").into());
            words.push(target);
            words.push(end);
            words
        };
        let mut command = Command::new(self.name());
        match self {
            Self::Native => return Vec::new(),
            Self::Scp => command.args(["-o", BATCH, "-q", "-r"]).arg(source).arg(there("")),
            Self::Rsync => {
                if host.is_some() {
                    command.arg("-e").arg(format!("ssh -o {BATCH}"));
                }
                command.arg("-a").arg(source).arg(there("/"))
            }
            Self::Cp => command.arg("-a").arg(source).arg(there("/")),
            Self::TarSsh => {
                let mut pack = Command::new("tar");
                let (above, name) =
                    (source.parent().unwrap_or(source), source.file_name().unwrap_or_default());
                pack.arg("-C").arg(above).args(["-cf", "-"]).arg(name);
                // The plan takes no path that a shell would read as anything else.
                let unpack = format!("tar -C {} -xf -", target.display());
                return vec![pack, ssh(host.unwrap_or_default(), &unpack)];
            }
        };
        vec![command]
    }
}

fn ssh(host: &str, line: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args(["-o", BATCH, "-T", "--", host, line]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tool: Tool, host: Option<&str>) -> Vec<String> {
        let route = Route { source: Path::new("/a/set"), target: Path::new("/b/copy0"), host };
        tool.commands(route).iter().map(|command| format!("{command:?}").replace('"', "")).collect()
    }

    #[test]
    fn every_tool_copies_the_directory_into_the_target() {
        assert_eq!(shown(Tool::Scp, Some("n2")), ["scp -o BatchMode=yes -q -r /a/set n2:/b/copy0"]);
        assert_eq!(shown(Tool::Rsync, Some("n2")), ["rsync -e ssh -o BatchMode=yes -a /a/set n2:/b/copy0/"]);
        assert_eq!(shown(Tool::Rsync, None), ["rsync -a /a/set /b/copy0/"]);
        assert_eq!(shown(Tool::Cp, None), ["cp -a /a/set /b/copy0/"]);
        let unpack = "ssh -o BatchMode=yes -T -- n2 tar -C /b/copy0 -xf -";
        assert_eq!(shown(Tool::TarSsh, Some("n2")), ["tar -C /a -cf - set", unpack]);
        assert!(shown(Tool::Native, None).is_empty());
    }

    #[test]
    fn tools_that_copy_the_other_way_only_are_skipped_with_what_to_do() {
        for (tool, is_remote) in [(Tool::Cp, true), (Tool::Scp, false), (Tool::TarSsh, false)] {
            let why = tool.require_reach(is_remote).expect_err("does not");
            assert_eq!(why.cause, Cause::Inapplicable);
            assert_eq!(tool.require_reach(!is_remote), Ok(()));
        }
        for tool in [Tool::Native, Tool::Rsync] {
            assert_eq!((tool.require_reach(true), tool.require_reach(false)), (Ok(()), Ok(())));
        }
    }
}
