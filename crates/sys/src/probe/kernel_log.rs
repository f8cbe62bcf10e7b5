//! Kernel log lines of level `warning` and worse.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::io::Errno;

use super::{Difference, Line, Probe, Watch};
use crate::root::{ReadError, SysRoot};

const PATH: &str = "/dev/kmsg";

/// The least severe level kept, `warning`; 5 is `notice`.
const WORST_KEPT: u8 = 4;

const MOST_LINES: usize = 50;

/// Characters of a line that are kept. The kernel's own lines end at about a thousand.
const MOST_CHARS: usize = 300;

/// Records read at most. The whole log holds some ten thousand, and reading one takes about a microsecond.
const MOST_RECORDS: usize = 20_000;

/// Larger than any record (`PRINTKRB_RECORD_MAX`, formerly `CONSOLE_EXT_LOG_MAX`): the kernel refuses a smaller
/// buffer with EINVAL.
const RECORD: usize = 8192;

/// Lines of the kernel itself, not of programs that write into its log, by sequence number.
///
/// The log is opened at its end when the watch begins, so older lines are never read. Below a test root the log is a
/// file of records in the device's format (Linux Documentation/ABI/testing/dev-kmsg).
pub(super) struct KernelLog;

impl Probe for KernelLog {
    fn id(&self) -> &'static str {
        "kernel_log"
    }

    fn watch<'a>(&'a self, root: &SysRoot) -> Box<dyn Watch + 'a> {
        Box::new(Tail(open(root, SeekFrom::End(0))))
    }
}

/// The lines of the kernel since the boot that contain `word`, as far as the log reaches back.
///
/// # Errors
/// Why the log cannot be read, and what helps.
pub fn kernel_lines(root: &SysRoot, word: &str) -> Result<Vec<String>, String> {
    let (text, _) = records(open(root, SeekFrom::Start(0)).map_err(|error| with_remedy(&error))?);
    let kept = |record: &str| {
        let (head, text) = record.split_once(';')?;
        let is_wanted = text.contains(word) && Head::parse(head)?.from_kernel;
        is_wanted.then(|| shortened(&plain(text)))
    };
    Ok(text.lines().filter_map(kept).collect())
}

fn open(root: &SysRoot, at: SeekFrom) -> Result<File, ReadError> {
    let open = || {
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(root.locate(PATH))?;
        file.seek(at)?;
        Ok(file)
    };
    open().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing { path: PATH.to_owned() },
        _ => ReadError::Unreadable { path: PATH.to_owned(), errno: errno(&error) },
    })
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn with_remedy(error: &ReadError) -> String {
    // The kernel's answer without CAP_SYSLOG where kernel.dmesg_restrict is set.
    let denied = matches!(error, ReadError::Unreadable { errno: Errno::PERM | Errno::ACCESS, .. });
    let remedy = if denied { ": run as root, or with CAP_SYSLOG" } else { "" };
    format!("{error}{remedy}")
}

/// The log, open at its end when the watch began, or the error.
struct Tail(Result<File, ReadError>);

impl Watch for Tail {
    fn end(self: Box<Self>) -> Difference {
        match self.0 {
            Ok(file) => read(file),
            Err(error) => Difference { unreadable: vec![with_remedy(&error)], ..Difference::default() },
        }
    }
}

/// The records of `log` up to its end, and what went wrong.
fn records(mut log: impl Read) -> (String, Vec<String>) {
    let mut text = Vec::new();
    let mut lost = false;
    let mut unreadable = Vec::new();
    let mut buffer = [0; RECORD];
    for turn in 0.. {
        if turn == MOST_RECORDS {
            unreadable.push(format!("{PATH} gained more than {MOST_RECORDS} records; the rest was not read"));
            break;
        }
        match log.read(&mut buffer) {
            // The end of a file below a test root; the device answers EAGAIN.
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&buffer[..count]),
            Err(error) => match errno(&error) {
                Errno::AGAIN => break,
                Errno::INTR => {}
                // Overwritten records were lost; the next read returns the oldest record left.
                Errno::PIPE => lost = true,
                errno => {
                    unreadable.push(ReadError::Unreadable { path: PATH.to_owned(), errno }.to_string());
                    break;
                }
            },
        }
    }
    if lost {
        unreadable
            .push(format!("{PATH} gained lines faster than it keeps them; some were overwritten unread"));
    }
    (String::from_utf8_lossy(&text).into_owned(), unreadable)
}

pub(crate) fn read(log: impl Read) -> Difference {
    let (text, unreadable) = records(log);
    let mut difference = Difference { unreadable, ..Difference::default() };
    for line in complaints(&text, &mut difference.unreadable) {
        if difference.lines.len() < MOST_LINES {
            difference.lines.push(line);
        } else {
            difference.lines_left_out += 1;
        }
    }
    difference
}

struct Head {
    sequence: u64,
    level: u8,
    from_kernel: bool,
    continues: bool,
}

impl Head {
    /// Parses priority (level in the lowest three bits, facility above), sequence number, microseconds and flags, as
    /// in `4,815,5121312,-`; kernels may add more fields.
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split(',');
        let priority: u32 = fields.next()?.parse().ok()?;
        let sequence = fields.next()?.parse().ok()?;
        let _microseconds: u64 = fields.next()?.parse().ok()?;
        let flags = fields.next()?;
        // Only the kernel can write with facility 0.
        let (level, from_kernel) = ((priority & 7) as u8, priority >> 3 == 0);
        Some(Self { sequence, level, from_kernel, continues: flags.contains(['c', '+']) })
    }
}

fn complaints(text: &str, unreadable: &mut Vec<String>) -> Vec<Line> {
    let mut kept: Vec<Line> = Vec::new();
    let mut last_was_kept = false;
    for record in text.lines() {
        // Property lines such as ` SUBSYSTEM=pci` follow the text; a new line inside the text is escaped.
        if record.starts_with(' ') || record.is_empty() {
            continue;
        }
        let parts = record.split_once(';').and_then(|(head, text)| Some((Head::parse(head)?, text)));
        let Some((head, text)) = parts else {
            if unreadable.len() < 8 {
                unreadable
                    .push(ReadError::garbage(PATH, record, "'priority,number,time,flags;text'").to_string());
            }
            last_was_kept = false;
            continue;
        };
        // A continuation has the level of the line before; its own field is always the default, `warning`.
        if head.continues {
            if let (true, Some(line)) = (last_was_kept, kept.last_mut()) {
                line.text = shortened(&(std::mem::take(&mut line.text) + &plain(text)));
            }
            continue;
        }
        last_was_kept = head.from_kernel && head.level <= WORST_KEPT;
        if last_was_kept {
            kept.push(Line { sequence: head.sequence, level: head.level, text: shortened(&plain(text)) });
        }
    }
    kept
}

/// Decodes `\xNN`, as far as the bytes are printable characters.
fn plain(escaped: &str) -> String {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(place) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..place]);
        match rest.get(place + 2..place + 4).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[place + 4..];
            }
            None => {
                bytes.extend_from_slice(b"\\x");
                rest = &rest[place + 2..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    let text = String::from_utf8_lossy(&bytes);
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn shortened(text: &str) -> String {
    text.chars().take(MOST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use super::*;

    fn log() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("dev")).expect("made");
        let root = SysRoot::at(dir.path());
        std::fs::write(root.locate(PATH), "3,41,1000,-;an old error\n").expect("written");
        (dir, root)
    }

    fn gained(records: &str) -> Difference {
        let (_dir, root) = log();
        let watch = KernelLog.watch(&root);
        let mut file = OpenOptions::new().append(true).open(root.locate(PATH)).expect("opened");
        file.write_all(records.as_bytes()).expect("written");
        watch.end()
    }

    fn texts(difference: &Difference) -> Vec<&str> {
        difference.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn keeps_the_warnings_and_errors_of_the_window_and_nothing_older() {
        let found = gained(
            "6,42,2000,-;eth0: link is up\n\
             4,43,2100,-;pcieport 0000:00:1c.0: AER: Corrected error received\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:1c.0\n\
             2,44,2200,-,caller=T1;mce: CPU 3 is on fire\n",
        );
        let wanted = [
            Line {
                sequence: 43,
                level: 4,
                text: "pcieport 0000:00:1c.0: AER: Corrected error received".into(),
            },
            Line { sequence: 44, level: 2, text: "mce: CPU 3 is on fire".into() },
        ];
        assert_eq!(found.lines, wanted);
        assert!(found.unreadable.is_empty() && found.lines_left_out == 0);
    }

    #[test]
    fn a_quiet_log_has_no_lines_and_no_reasons() {
        assert_eq!(gained(""), Difference::default());
    }

    #[test]
    fn what_programs_write_into_the_log_is_not_the_kernel_s() {
        // Facility 1 (user) and 3 (daemon), both of level 3.
        assert!(gained("11,42,1,-;a program\n27,43,1,-;systemd[1]: a unit failed\n").lines.is_empty());
    }

    #[test]
    fn fragments_go_with_the_line_that_they_continue() {
        let found = gained(
            "3,42,1,-;I/O error on \n4,43,1,c;sda\n6,44,1,-;all is well \n4,45,1,c;again\n4,46,1,-;odd\n",
        );
        assert_eq!(texts(&found), ["I/O error on sda", "odd"]);
    }

    #[test]
    fn escapes_become_characters_and_control_characters_blanks() {
        let found = gained("4,42,1,-;K\\xc3\\xa4se\\x0afolgt\\x1b[31m \\x5cx \\xzz \\x\n");
        assert_eq!(texts(&found), ["Käse folgt [31m \\x \\xzz \\x"]);
    }

    #[test]
    fn a_flood_is_counted_and_a_long_line_cut() {
        let flood: String = (0..MOST_LINES + 7).map(|number| format!("4,{number},1,-;again\n")).collect();
        let found = gained(&flood);
        assert_eq!((found.lines.len(), found.lines_left_out), (MOST_LINES, 7));
        assert_eq!(gained(&format!("4,1,1,-;{}\n", "y".repeat(5000))).lines[0].text.len(), MOST_CHARS);
    }

    #[test]
    fn garbage_is_told_and_the_rest_is_kept() {
        let found = gained("what is this\n4,x,1,-;no number\n4,43,1,-;a warning\n");
        assert_eq!(texts(&found), ["a warning"]);
        assert_eq!(found.unreadable.len(), 2);
    }

    struct Device(Vec<Result<&'static str, Errno>>);

    impl Read for Device {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let record = self.0.remove(0)?;
            buffer[..record.len()].copy_from_slice(record.as_bytes());
            Ok(record.len())
        }
    }

    #[test]
    fn reading_goes_on_behind_what_was_overwritten_and_ends_where_the_device_has_no_more() {
        let device = Device(vec![
            Ok("4,50,1,-;first\n"),
            Err(Errno::PIPE),
            Err(Errno::INTR),
            Ok("4,90,1,-;second\n DEVICE=b8:0\n"),
            Err(Errno::AGAIN),
        ]);
        let found = read(device);
        assert_eq!(texts(&found), ["first", "second"]);
        assert!(found.unreadable[0].contains("overwritten"), "{:?}", found.unreadable);
        let broken = read(Device(vec![Ok("4,50,1,-;first\n"), Err(Errno::NODEV)]));
        assert_eq!((broken.lines.len(), broken.unreadable.len()), (1, 1));
    }

    #[test]
    fn the_device_itself_is_never_waited_for() {
        let start = Instant::now();
        let found = KernelLog.watch(&SysRoot::live()).end();
        // A blocking read would last until the kernel logs something, which may take hours.
        assert!(start.elapsed() < Duration::from_secs(60));
        assert!(found.unreadable.iter().all(|why| why.contains(PATH)), "{:?}", found.unreadable);
    }
}
