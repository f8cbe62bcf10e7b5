//! Files that set values again at every boot, for sysctl(8), udev and systemd-tmpfiles: at most one of each for an order.

use std::collections::BTreeMap;

use seatrial_model::setting::{ChangeOutcome, ChangeState};

use super::files::{KernelFiles, Place};
use super::journal::{Announced, Journal, failed};

/// Who sets a value at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reader {
    /// sysctl(8) or systemd-sysctl, which know `/proc/sys`.
    Sysctl,
    /// udev, when a device appears: such files do not exist before.
    Udev,
    /// systemd-tmpfiles, once.
    Tmpfiles,
}

impl Reader {
    /// `None` where nothing can set the value at boot.
    fn of(path: &str) -> Option<Self> {
        match path {
            path if path.starts_with("/proc/sys/") => Some(Self::Sysctl),
            path if device(path).is_some() => Some(Self::Udev),
            path if path.starts_with("/sys/") => Some(Self::Tmpfiles),
            // Interrupts may have other numbers then, and the driver of a GPU is not loaded.
            _ => None,
        }
    }

    const fn folder(self) -> &'static str {
        match self {
            Self::Sysctl => "/etc/sysctl.d",
            Self::Udev => "/etc/udev/rules.d",
            Self::Tmpfiles => "/etc/tmpfiles.d",
        }
    }

    /// The file of the order `id`, which begins with its time. Of two files with the same value the newer order has to count.
    fn file(self, id: &str) -> String {
        let name = match self {
            // The later name counts.
            Self::Sysctl => format!("95-seatrial-{id}.conf"),
            Self::Udev => format!("95-seatrial-{id}.rules"),
            // The first name counts (tmpfiles.d(5)): later times get smaller digits.
            Self::Tmpfiles => {
                let turn = |digit: char| {
                    digit.to_digit(10).and_then(|digit| char::from_digit(9 - digit, 10)).unwrap_or(digit)
                };
                format!("00-seatrial-{}.conf", id.chars().map(turn).collect::<String>())
            }
        };
        format!("{}/{name}", self.folder())
    }

    fn line(self, value: &BootValue) -> String {
        let BootValue { path, text, command } = value;
        match (self, device(path)) {
            (Self::Sysctl, _) => {
                let name = path.trim_start_matches("/proc/sys/");
                // A name with a dot in it is written with slashes, as sysctl.d(5) says.
                let name = if name.contains('.') { name.to_owned() } else { name.replace('/', ".") };
                format!("{name} = {text}")
            }
            (Self::Udev, Some(Device { subsystem, actions, name, attribute })) => {
                let sets = match attribute {
                    Some(attribute) => format!("ATTR{{{attribute}}}=\"{text}\""),
                    None => format!("RUN+=\"/usr/bin/env {command}\""),
                };
                format!(r#"ACTION=="{actions}", SUBSYSTEM=="{subsystem}", KERNEL=="{name}", {sets}"#)
            }
            _ => format!("w {path} - - - - {text}"),
        }
    }
}

/// A device of udev, and the attribute of it that a path is; no attribute where only a command sets the value.
struct Device<'p> {
    subsystem: &'static str,
    /// A network interface that is renamed has its name only then.
    actions: &'static str,
    name: &'p str,
    attribute: Option<&'p str>,
}

fn device(path: &str) -> Option<Device<'_>> {
    let below = |folder: &str| path.strip_prefix(folder)?.split_once('/');
    let net = |name, attribute| Device { subsystem: "net", actions: "add|move", name, attribute };
    if let Place::Driver { nic, .. } | Place::Qdisc { nic } = Place::of(path) {
        return Some(net(nic, None));
    }
    if let Some((name, attribute)) = below("/sys/class/net/") {
        return Some(net(name, Some(attribute)));
    }
    let (name, attribute) = below("/sys/block/")?;
    Some(Device { subsystem: "block", actions: "add|change", name, attribute: Some(attribute) })
}

/// The folder of the file that sets the value of the file of the kernel at boot; `None` where nothing can.
pub fn boot_folder(path: &str) -> Option<&'static str> {
    Reader::of(path).map(Reader::folder)
}

/// A value that is to be set at boot.
pub(super) struct BootValue {
    /// The file of the kernel, `*` for each of several.
    pub path: String,
    pub text: String,
    /// What a person types.
    pub command: String,
}

const NO_FILE: &str = "no file";

/// Writes the files of `values`, each announced in the journal, which removes them again.
pub(super) fn write(
    files: &dyn KernelFiles,
    journal: &mut Journal,
    id: &str,
    values: &[BootValue],
) -> Result<Vec<ChangeOutcome>, String> {
    let mut lines: BTreeMap<Reader, Vec<String>> = BTreeMap::new();
    let mut outcomes: Vec<ChangeOutcome> = Vec::new();
    for value in values {
        match Reader::of(&value.path) {
            Some(reader) => {
                let lines = lines.entry(reader).or_default();
                let line = reader.line(value);
                // One command may set several values.
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            None => outcomes.push(ChangeOutcome {
                setting: "at boot".to_owned(),
                place: value.path.clone(),
                before: NO_FILE.to_owned(),
                after: NO_FILE.to_owned(),
                state: ChangeState::Failed,
                why: format!("no file of boot can set it: run `{}` after each boot", value.command),
            }),
        }
    }
    for (reader, lines) in lines {
        let path = reader.file(id);
        let outcome = |state, why: String| ChangeOutcome {
            setting: "at boot".to_owned(),
            place: path.clone(),
            before: NO_FILE.to_owned(),
            after: if lines.len() == 1 { "1 value".to_owned() } else { format!("{} values", lines.len()) },
            state,
            why,
        };
        if !files.root().exists(reader.folder()) {
            let why = format!("{} does not exist here, so nothing would read it at boot", reader.folder());
            outcomes.push(ChangeOutcome { after: NO_FILE.to_owned(), ..outcome(ChangeState::Failed, why) });
            continue;
        }
        let text = format!(
            "# Written by `seatrial settings apply --persist`; `seatrial settings restore {id}` removes it.\n{}\n",
            lines.join("\n")
        );
        let announced = Announced {
            setting: "at boot".to_owned(),
            path: path.clone(),
            before: String::new(),
            wanted: text.trim_end().to_owned(),
            is_file: true,
        };
        let entry = journal.announce(announced, files)?;
        match files.create(&path, &text) {
            Ok(()) => {
                journal.hold(entry, text.trim_end(), files)?;
                outcomes.push(outcome(ChangeState::Done, String::new()));
            }
            Err(error) => {
                let why = failed("writing", &files.root().locate(&path), &error);
                journal.close(entry, files)?;
                outcomes
                    .push(ChangeOutcome { after: NO_FILE.to_owned(), ..outcome(ChangeState::Failed, why) });
            }
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str, text: &str) -> (&'static str, String) {
        let value = BootValue {
            path: path.to_owned(),
            text: text.to_owned(),
            command: format!("ethtool -G eth0 rx {text}"),
        };
        let reader = Reader::of(path).expect("a program of boot");
        (reader.folder(), reader.line(&value))
    }

    #[test]
    fn of_two_orders_the_newer_counts_at_boot() {
        let files =
            |reader: Reader| ["20261127-235959-zzzz", "20261128-000000-bbbb"].map(|id| reader.file(id));
        for reader in [Reader::Sysctl, Reader::Udev] {
            let [older, newer] = files(reader);
            assert!(older < newer, "{older} {newer}");
        }
        let [older, newer] = files(Reader::Tmpfiles);
        assert!(newer < older, "{older} {newer}");
        assert_eq!(older, "/etc/tmpfiles.d/00-seatrial-79738872-764040-zzzz.conf");
    }

    #[test]
    fn each_file_of_the_kernel_has_a_line_for_the_program_that_knows_it() {
        let of = |path, text, folder, wanted: &str| assert_eq!(line(path, text), (folder, wanted.to_owned()));
        of(
            "/proc/sys/net/ipv4/tcp_rmem",
            "4096 65536 16777216",
            "/etc/sysctl.d",
            "net.ipv4.tcp_rmem = 4096 65536 16777216",
        );
        of(
            "/proc/sys/net/ipv4/conf/eth0.100/rp_filter",
            "1",
            "/etc/sysctl.d",
            "net/ipv4/conf/eth0.100/rp_filter = 1",
        );
        of(
            "/sys/class/net/eth0/mtu",
            "9000",
            "/etc/udev/rules.d",
            r#"ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="eth0", ATTR{mtu}="9000""#,
        );
        of(
            "/ethtool/eth0/rx_ring",
            "4096",
            "/etc/udev/rules.d",
            r#"ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="eth0", RUN+="/usr/bin/env ethtool -G eth0 rx 4096""#,
        );
        of(
            "/sys/block/sda/queue/scheduler",
            "none",
            "/etc/udev/rules.d",
            r#"ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="sda", ATTR{queue/scheduler}="none""#,
        );
        of(
            "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
            "performance",
            "/etc/tmpfiles.d",
            "w /sys/devices/system/cpu/cpufreq/policy*/scaling_governor - - - - performance",
        );
    }
}
