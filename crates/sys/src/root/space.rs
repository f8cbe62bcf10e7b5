//! Free space of file systems; a hung file system does not block the caller.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    pub size_bytes: u64,
    /// Free, with the part reserved for root.
    pub free_bytes: u64,
    pub available_bytes: u64,
    /// 0 where the file system does not limit them.
    pub inodes: u64,
    pub free_inodes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    #[error("statvfs({path}): {errno}")]
    Refused { path: String, errno: Errno },
    /// No answer in time: a dead server or a hung disk.
    #[error("statvfs({path}) did not answer within {} s", within.as_secs())]
    Silent { path: String, within: Duration },
}

/// Free space of the file system at each path (statvfs(3)); waits for all of them together at most `within`.
///
/// A dead server may block a caller for ever, so each path has a thread of its own. A thread without an answer is
/// left behind; it holds no lock and ends with the process.
pub fn ask(paths: &[String], within: Duration) -> Vec<Result<Space, SpaceError>> {
    ask_by(paths, within, statvfs)
}

fn ask_by(
    paths: &[String],
    within: Duration,
    how: fn(&str) -> Result<Space, Errno>,
) -> Vec<Result<Space, SpaceError>> {
    let (answers, mailbox) = mpsc::channel();
    let silent = |path: &String| Err(SpaceError::Silent { path: path.clone(), within });
    let mut found: Vec<_> = paths.iter().map(silent).collect();
    for (number, path) in paths.iter().enumerate() {
        let (answers, path) = (answers.clone(), path.clone());
        let asker = thread::Builder::new().name("statvfs".to_owned()).stack_size(64 << 10);
        let asked = asker.spawn(move || {
            let answer = how(&path).map_err(|errno| SpaceError::Refused { path, errno });
            // The receiver is gone when the answer comes too late.
            let _ = answers.send((number, answer));
        });
        if let Err(error) = asked {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
            found[number] = Err(SpaceError::Refused { path: paths[number].clone(), errno });
        }
    }
    drop(answers);
    let end = Instant::now() + within;
    while let Ok((number, answer)) = mailbox.recv_timeout(end.saturating_duration_since(Instant::now())) {
        found[number] = answer;
    }
    found
}

fn statvfs(path: &str) -> Result<Space, Errno> {
    let room = rustix::fs::statvfs(path)?;
    // POSIX counts blocks in fragments; old systems leave the fragment size 0.
    let unit = if room.f_frsize == 0 { room.f_bsize } else { room.f_frsize };
    Ok(Space {
        size_bytes: room.f_blocks.saturating_mul(unit),
        free_bytes: room.f_bfree.saturating_mul(unit),
        available_bytes: room.f_bavail.saturating_mul(unit),
        inodes: room.f_files,
        free_inodes: room.f_ffree,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn paths(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn asks_the_system_and_hands_on_its_refusal() {
        let answers = ask(&paths(&["/", "/no/such/place"]), LONG);
        let room = answers[0].as_ref().expect("the root answers");
        assert!(
            room.size_bytes > 0
                && room.available_bytes <= room.free_bytes
                && room.free_bytes <= room.size_bytes
        );
        let refused = answers[1].as_ref().expect_err("nothing is there").to_string();
        assert!(refused.starts_with("statvfs(/no/such/place): No such file"), "{refused}");
    }

    #[test]
    fn one_that_hangs_is_left_behind_and_costs_the_others_nothing() {
        // Never returns, like statvfs on the mount of a dead server.
        fn how(path: &str) -> Result<Space, Errno> {
            if path == "/dead" {
                loop {
                    thread::park();
                }
            }
            Ok(Space { size_bytes: 7, ..Space::default() })
        }
        let within = Duration::from_secs(2);
        let answers = ask_by(&paths(&["/dead", "/alive"]), within, how);
        let silent = answers[0].as_ref().expect_err("it hangs").to_string();
        assert_eq!(silent, "statvfs(/dead) did not answer within 2 s");
        assert_eq!(answers[1].as_ref().map(|room| room.size_bytes), Ok(7));
    }
}
