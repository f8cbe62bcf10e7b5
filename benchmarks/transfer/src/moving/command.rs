//! The command lines of the tools.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use seatrial_model::quoted;

use super::tool::Tool;

/// ssh asks nobody for a password.
const BATCH: &str = "BatchMode=yes";

/// From where to where, and how.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// The directory that is copied, and its name.
    pub source: &'a Path,
    /// The directory that it is copied into.
    pub target: &'a Path,
    /// The other host as ssh knows it; none is this one.
    pub host: Option<&'a str>,
    /// Whether the source is on the other host, not the target.
    pub is_pull: bool,
    pub cipher: Option<&'a str>,
    /// Whether modes and times are to be kept by tools that do not by themselves.
    pub preserve: bool,
    pub streams: u64,
    /// Bytes of a window that is not tuned.
    pub window: Option<u64>,
}

impl Route<'_> {
    fn place(&self, path: &Path, end: &str, is_there: bool) -> OsString {
        let host = self.host.filter(|_| is_there);
        let mut words = host.map_or_else(OsString::new, |host| format!("{host}:").into());
        words.push(path);
        words.push(end);
        words
    }

    /// Source and target as `HOST:PATH`, the target with `end`.
    fn ends(&self, end: &str) -> [OsString; 2] {
        [self.place(self.source, "", self.is_pull), self.place(self.target, end, !self.is_pull)]
    }

    fn ssh_options(&self) -> Vec<String> {
        ssh_options(self.cipher)
    }

    /// The commands that copy, each of which writes into the next; none for the mover.
    pub fn commands(&self, tool: Tool) -> Vec<Command> {
        let mut command = Command::new(tool.name());
        match tool {
            Tool::Native => return Vec::new(),
            Tool::Scp => {
                command.args(self.ssh_options()).arg(if self.preserve { "-qrp" } else { "-qr" });
                command.args(self.ends(""))
            }
            Tool::Rsync => {
                if self.host.is_some() {
                    command.arg("-e").arg(format!("ssh {}", self.ssh_options().join(" ")));
                }
                command.arg("-a").args(self.ends("/"))
            }
            Tool::Cp => command.arg("-a").args(self.ends("/")),
            Tool::Bbcp => {
                command.arg("-r").arg("-s").arg(self.streams.to_string());
                if let Some(window) = self.window {
                    command.arg("-w").arg(format!("={window}"));
                }
                if self.preserve {
                    command.arg("-p");
                }
                let there = if self.is_pull { "-S" } else { "-T" };
                command.arg(there).arg(format!("ssh -x -a -o {BATCH} %I -l %U %H bbcp"));
                command.args(self.ends("/"))
            }
            Tool::Rclone => self.rclone(&mut command),
            Tool::TarSsh => return self.tar(),
        };
        vec![command]
    }

    /// It copies what is in a directory, and reaches the other host through ssh by its backend `sftp`.
    fn rclone<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let target = self.target.join(self.source.file_name().unwrap_or_default());
        let place = |path: &Path, is_there: bool| {
            let mut words = OsString::from(if is_there && self.host.is_some() { ":sftp:" } else { "" });
            words.push(path);
            words
        };
        // Without a file of settings: none of a user's own changes the figures.
        command.args(["--config=", "copy", "--transfers"]).arg(self.streams.to_string());
        if let Some(host) = self.host {
            command.arg("--sftp-ssh").arg(format!("ssh {} {host}", self.ssh_options().join(" ")));
            // It would log in once more for the checksum of every file; the copies are compared afterwards.
            command.arg("--sftp-disable-hashcheck");
        }
        command.arg(place(self.source, self.is_pull)).arg(place(&target, !self.is_pull))
    }

    /// One tar writes into the other; the plan takes no path that a shell would read as anything else.
    fn tar(&self) -> Vec<Command> {
        let (above, name) =
            (self.source.parent().unwrap_or(self.source), self.source.file_name().unwrap_or_default());
        let keep = if self.preserve { "-xpf" } else { "-xf" };
        let words = |directory: &Path, rest: &[&str]| {
            let mut words = vec!["-C".to_owned(), directory.display().to_string()];
            words.extend(rest.iter().map(|word| (*word).to_owned()));
            words
        };
        let pack = words(above, &["-cf", "-", &name.to_string_lossy()]);
        let unpack = words(self.target, &[keep, "-"]);
        let run = |words: Vec<String>, is_there: bool| match self.host.filter(|_| is_there) {
            Some(host) => ssh(host, self.cipher, &format!("tar {}", words.join(" "))),
            None => {
                let mut command = Command::new("tar");
                command.args(words);
                command
            }
        };
        vec![run(pack, self.is_pull), run(unpack, !self.is_pull)]
    }
}

fn ssh_options(cipher: Option<&str>) -> Vec<String> {
    let cipher = cipher.map(|cipher| ["-c".to_owned(), cipher.to_owned()]);
    cipher.into_iter().flatten().chain(["-o".to_owned(), BATCH.to_owned()]).collect()
}

fn ssh(host: &str, cipher: Option<&str>, line: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args(ssh_options(cipher)).args(["-T", "--", host, line]);
    command
}

/// A command that logs in to `host`, does nothing there, and prints what the two ends agreed upon.
pub fn login(host: &str, cipher: Option<&str>) -> Command {
    let mut command = Command::new("ssh");
    command.arg("-v").args(ssh_options(cipher)).args(["-T", "--", host, "true"]);
    command
}

/// The cipher for what this host sends, in what `ssh -v` printed.
pub fn negotiated_cipher(printed: &str) -> Option<&str> {
    let line = printed.lines().find(|line| line.contains("kex: client->server cipher: "))?;
    line.split("cipher: ").nth(1)?.split_whitespace().next()
}

/// What ssh says besides its lines for debugging.
pub fn without_debugging(printed: &str) -> String {
    let is_told = |line: &&str| !line.starts_with("debug") && !line.starts_with("OpenSSH_");
    printed.lines().filter(is_told).collect::<Vec<_>>().join("\n")
}

/// The commands as a person would type them.
pub fn shown(commands: &[Command]) -> String {
    let line = |command: &Command| {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    };
    commands.iter().map(line).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route() -> Route<'static> {
        Route {
            source: Path::new("/a/set"),
            target: Path::new("/b/copy0"),
            host: Some("n2"),
            is_pull: false,
            cipher: None,
            preserve: false,
            streams: 4,
            window: None,
        }
    }

    fn of(tool: Tool, route: Route<'_>) -> String {
        shown(&route.commands(tool))
    }

    #[test]
    fn every_tool_copies_the_directory_into_the_target() {
        let here = Route { host: None, ..route() };
        assert_eq!(of(Tool::Scp, route()), "scp -o BatchMode=yes -qr /a/set n2:/b/copy0");
        assert_eq!(of(Tool::Rsync, route()), "rsync -e 'ssh -o BatchMode=yes' -a /a/set n2:/b/copy0/");
        assert_eq!(of(Tool::Rsync, here), "rsync -a /a/set /b/copy0/");
        assert_eq!(of(Tool::Cp, here), "cp -a /a/set /b/copy0/");
        assert_eq!(of(Tool::Rclone, here), "rclone --config= copy --transfers 4 /a/set /b/copy0/set");
        let unpack = "ssh -o BatchMode=yes -T -- n2 'tar -C /b/copy0 -xf -'";
        assert_eq!(of(Tool::TarSsh, route()), format!("tar -C /a -cf - set | {unpack}"));
        assert_eq!(of(Tool::Native, here), "");
        let ssh = "'ssh -x -a -o BatchMode=yes %I -l %U %H bbcp'";
        assert_eq!(of(Tool::Bbcp, route()), format!("bbcp -r -s 4 -T {ssh} /a/set n2:/b/copy0/"));
    }

    #[test]
    fn the_target_fetches_with_direction_pull() {
        let pull = Route { is_pull: true, host: Some("n1"), ..route() };
        assert_eq!(of(Tool::Scp, pull), "scp -o BatchMode=yes -qr n1:/a/set /b/copy0");
        assert_eq!(of(Tool::Rsync, pull), "rsync -e 'ssh -o BatchMode=yes' -a n1:/a/set /b/copy0/");
        let pack = "ssh -o BatchMode=yes -T -- n1 'tar -C /a -cf - set'";
        assert_eq!(of(Tool::TarSsh, pull), format!("{pack} | tar -C /b/copy0 -xf -"));
        assert!(of(Tool::Rclone, pull).ends_with(" :sftp:/a/set /b/copy0/set"), "{}", of(Tool::Rclone, pull));
    }

    #[test]
    fn cipher_window_streams_and_preserve_are_words_of_the_command() {
        let asked = Route {
            cipher: Some("aes128-ctr"),
            preserve: true,
            streams: 2,
            window: Some(1 << 20),
            ..route()
        };
        assert_eq!(of(Tool::Scp, asked), "scp -c aes128-ctr -o BatchMode=yes -qrp /a/set n2:/b/copy0");
        assert!(of(Tool::Rsync, asked).contains("-e 'ssh -c aes128-ctr -o BatchMode=yes'"));
        assert!(
            of(Tool::TarSsh, asked).contains("ssh -c aes128-ctr ")
                && of(Tool::TarSsh, asked).contains("-xpf")
        );
        assert!(of(Tool::Bbcp, asked).starts_with("bbcp -r -s 2 -w '=1048576' -p -T "));
        assert_eq!(
            of(Tool::Rclone, asked),
            "rclone --config= copy --transfers 2 --sftp-ssh 'ssh -c aes128-ctr -o BatchMode=yes n2' \
             --sftp-disable-hashcheck /a/set :sftp:/b/copy0/set"
        );
        let login = shown(&[login("n2", Some("aes128-ctr"))]);
        assert_eq!(login, "ssh -v -c aes128-ctr -o BatchMode=yes -T -- n2 true");
    }

    #[test]
    fn the_cipher_is_read_from_what_ssh_says() {
        let printed = "OpenSSH_9.2p1\ndebug1: kex: server->client cipher: aes128-ctr MAC: umac-64 compression: none\n\
                       debug1: kex: client->server cipher: aes256-ctr MAC: umac-64 compression: none\nPermission denied";
        assert_eq!(negotiated_cipher(printed), Some("aes256-ctr"));
        assert_eq!(without_debugging(printed), "Permission denied");
    }
}
