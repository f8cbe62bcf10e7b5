//! Requests of NFS mounts, with the times that they take.

use std::net::{IpAddr, SocketAddr};

use super::{Counters, Counting, Difference};
use crate::clock::now_ns;
use crate::net::connections::round_trip_us;
use crate::root::{ReadError, SysRoot};

const PATH: &str = "/proc/self/mountstats";

/// Has the addresses of servers, which the other file has not (`nfs_show_options` of fs/nfs/super.c).
const MOUNTS: &str = "/proc/self/mounts";

/// Port of servers that state no other (RFC 7530, 3.1).
const PORT: u16 = 2049;

/// The numbers behind an operation (`rpc_print_iostats` of net/sunrpc/stats.c; mountstats(8)); the last since statvers 1.1.
/// The second counts transmissions, of which those beyond the first of each request are repeats.
const NUMBERS: [&str; 9] = [
    "operations",
    "retransmissions",
    "timeouts",
    "sent_bytes",
    "received_bytes",
    "queue_ms",
    "rtt_ms",
    "execute_ms",
    "errors",
];

/// Counts of each operation of each NFS mount, such as `rtt_ms WRITE SERVER:/EXPORT /MOUNT` (names as the kernel escapes
/// them), `elapsed_ms` between the readings, and as a level `round_trip_us SERVER:/EXPORT /MOUNT`, that of TCP to the server.
/// Operations that did nothing are left out. `queue_ms` passes before a request is sent, `rtt_ms` until it is answered,
/// `execute_ms` is all of its time.
pub(super) struct Nfs;

impl Counting for Nfs {
    fn id(&self) -> &'static str {
        "nfs"
    }

    fn read(&self, root: &SysRoot) -> Counters {
        let mut counters = Counters::default();
        match root.bytes(PATH) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                count(&mut counters, &text);
                if root.is_live() {
                    round_trips(&mut counters, root, &text);
                }
            }
            Err(error) => counters.unreadable(error),
        }
        if !counters.counts.is_empty() {
            counters.count("elapsed_ms", now_ns() / 1_000_000);
        }
        counters
    }

    fn between(&self, before: &Counters, after: &Counters) -> Difference {
        let mut all = after.since(before);
        let counts = all.counts.clone();
        let operations = |name: &str| counts.get(&format!("operations {}", name.split_once(' ')?.1)).copied();
        all.counts.retain(|name, _| operations(name).is_some_and(|count| count > 0));
        if !all.counts.is_empty() {
            all.counts.extend(counts.get("elapsed_ms").map(|ms| ("elapsed_ms".to_owned(), *ms)));
        }
        all
    }
}

/// The round trip of TCP to the server of each mount, where it is known.
fn round_trips(counters: &mut Counters, root: &SysRoot, text: &str) {
    let mounts = text.lines().filter_map(nfs_mount).collect::<Vec<_>>();
    if mounts.is_empty() {
        return;
    }
    match root.bytes(MOUNTS) {
        Ok(bytes) => {
            let all = String::from_utf8_lossy(&bytes);
            for mount in mounts {
                let server = options(&all, &mount).and_then(server);
                // Without its module the kernel does not tell.
                if let Some(us) = server.and_then(|server| round_trip_us(server).ok()?) {
                    counters.level(format!("round_trip_us {mount}"), us.into());
                }
            }
        }
        Err(error) => counters.unreadable(error),
    }
}

/// The options of `DEVICE POINT` in the list of mounts.
fn options<'a>(mounts: &'a str, mount: &str) -> Option<&'a str> {
    let rest = mounts.lines().find_map(|line| line.strip_prefix(mount)?.strip_prefix(' '))?;
    rest.split(' ').nth(1)
}

fn count(counters: &mut Counters, text: &str) {
    let (mut mount, mut has_operations) = (None, false);
    for line in text.lines() {
        if line.starts_with("device ") {
            (mount, has_operations) = (nfs_mount(line), false);
        }
        let Some(mount) = &mount else { continue };
        let line = line.trim_start();
        if line == "per-op statistics" {
            has_operations = true;
        } else if has_operations && !line.is_empty() && of_operation(counters, mount, line).is_none() {
            counters.unreadable(ReadError::garbage(PATH, line, "an operation with 8 numbers or more"));
        }
    }
}

/// `SERVER:/EXPORT /MOUNT` of `device SERVER:/EXPORT mounted on /MOUNT with fstype nfs4 statvers=1.1`; `None` for other file
/// systems.
fn nfs_mount(line: &str) -> Option<String> {
    let (device, rest) = line.strip_prefix("device ")?.split_once(" mounted on ")?;
    let (point, kind) = rest.split_once(" with fstype ")?;
    let is_nfs = matches!(kind.split(' ').next(), Some("nfs" | "nfs4"));
    is_nfs.then(|| format!("{device} {point}"))
}

/// The server in the options of a mount that uses TCP.
fn server(options: &str) -> Option<SocketAddr> {
    let of = |name: &str| {
        options.trim().split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    };
    let address: IpAddr = of("addr")?.parse().ok()?;
    let port = of("port").and_then(|port| port.parse().ok()).filter(|port| *port != 0);
    of("proto").is_some_and(|proto| proto.starts_with("tcp")).then(|| (address, port.unwrap_or(PORT)).into())
}

fn of_operation(counters: &mut Counters, mount: &str, line: &str) -> Option<()> {
    let (operation, numbers) = line.split_once(':')?;
    let mut numbers: Vec<u64> = numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    if numbers.len() < NUMBERS.len() - 1 {
        return None;
    }
    numbers[1] = numbers[1].saturating_sub(numbers[0]);
    for (what, number) in NUMBERS.iter().zip(numbers) {
        counters.count(format!("{what} {operation} {mount}"), number);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// As a kernel of 6.1 tells of a mount, shortened.
    const STATS: &str = "\
device rootfs mounted on / with fstype rootfs
device proc mounted on /proc with fstype proc
device 10.78.1.1:/srv mounted on /srv/my\\040files with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=10.78.1.2,local_lock=none
\tage:\t12
\tcaps:\tcaps=0xfffbffdf,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t1 5 0 0 2 1 8 0 0 2 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0
\tbytes:\t0 0 0 16777216 0 16777216 0 4096
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 11 60 60 0 60 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 0 0 0 0 0 0 0 0 0
\t       WRITE: 16 18 0 16780000 2816 7 1800 1810 0
\t      COMMIT: 1 1 0 200 104 0 30 30 0

";
    const MOUNT: &str = "10.78.1.1:/srv /srv/my\\040files";

    fn tree(text: &str) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("proc/self")).expect("made");
        fs::write(dir.path().join("proc/self/mountstats"), text).expect("written");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn every_operation_has_its_counts_and_sent_again_is_what_was_sent_more_than_once() {
        let (_dir, root) = tree(STATS);
        let found = Nfs.read(&root);
        assert_eq!(found.unreadable, [""; 0]);
        let of = |name: &str| found.counts[&format!("{name} {MOUNT}")];
        assert_eq!((of("operations WRITE"), of("retransmissions WRITE")), (16, 2));
        assert_eq!((of("queue_ms WRITE"), of("rtt_ms WRITE"), of("execute_ms WRITE")), (7, 1800, 1810));
        assert_eq!((of("sent_bytes WRITE"), of("rtt_ms COMMIT"), of("errors NULL")), (16_780_000, 30, 0));
        assert!(found.levels.is_empty(), "a tree has no connections");
    }

    #[test]
    fn what_an_operation_did_between_the_readings_is_told_and_others_are_not() {
        let (_dir, root) = tree(STATS);
        let before = Nfs.read(&root);
        let text = STATS.replace(
            "WRITE: 16 18 0 16780000 2816 7 1800 1810 0",
            "WRITE: 20 22 0 20980000 3516 8 2600 2612 0",
        );
        fs::write(root.locate(PATH), text).expect("written");
        let found = Nfs.between(&before, &Nfs.read(&root));
        let of = |name: &str| found.counts[&format!("{name} {MOUNT}")];
        assert_eq!((of("operations WRITE"), of("rtt_ms WRITE"), of("retransmissions WRITE")), (4, 800, 0));
        assert!(found.counts.contains_key("elapsed_ms"));
        assert!(
            found.counts.keys().all(|name| name == "elapsed_ms" || name.contains(" WRITE ")),
            "{found:?}"
        );
        assert!(Nfs.between(&before, &before).counts.is_empty(), "an idle mount is left out");
    }

    #[test]
    fn other_file_systems_count_nothing_and_a_cut_line_is_told() {
        let (_dir, root) = tree("device /dev/sda1 mounted on / with fstype ext4\n");
        assert_eq!(Nfs.read(&root), Counters::default());
        let (_dir, root) = tree(&STATS.replace("COMMIT: 1 1 0 200", "COMMIT: 1 1 many"));
        assert!(Nfs.read(&root).unreadable[0].contains("8 numbers"), "{:?}", Nfs.read(&root).unreadable);
    }

    #[test]
    fn the_server_is_that_of_the_options_where_tcp_carries_the_mount() {
        let told = |options: &str| server(options).map(|server| server.to_string());
        // As a kernel of 6.1 tells of mounts.
        let mounts = "10.78.1.1:/srv /srv/my\\040files2 nfs4 rw,proto=tcp,addr=10.78.1.9 0 0\n\
                      10.78.1.1:/srv /srv/my\\040files nfs4 rw,relatime,vers=4.2,hard,proto=tcp,timeo=600,clientaddr=10.78.1.2,\
                      local_lock=none,addr=10.78.1.1 0 0\n";
        assert_eq!(options(mounts, MOUNT).and_then(told).as_deref(), Some("10.78.1.1:2049"));
        assert_eq!(options(mounts, "10.78.1.1:/srv /srv"), None);
        assert_eq!(told("rw,proto=tcp,addr=10.0.0.1").as_deref(), Some("10.0.0.1:2049"));
        assert_eq!(told("rw,port=0,proto=tcp6,addr=fd00::1").as_deref(), Some("[fd00::1]:2049"));
        assert_eq!(told("rw,port=20049,proto=tcp,addr=10.0.0.1").as_deref(), Some("10.0.0.1:20049"));
        assert_eq!((told("rw,proto=rdma,addr=10.0.0.1"), told("rw,proto=tcp")), (None, None));
    }
}
