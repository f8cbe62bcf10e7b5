//! Settings and statistics of a network interface's driver (linux/ethtool.h, ioctl `SIOCETHTOOL`).
//!
//! Below a test root the answers are files, `/ethtool/NAME/QUESTION`, which hold the numbers that follow the command
//! in the kernel's structure.
#![expect(unsafe_code, reason = "an ioctl")]

use std::mem;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use libc::{c_char, c_ulong, c_void};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket};

use crate::root::{ReadError, SysRoot};

/// `SIOCETHTOOL` of linux/sockios.h.
const SIOCETHTOOL: c_ulong = 0x8946;

/// Encodings by the bits of ETHTOOL_GFECPARAM (`enum ethtool_fec_config_bits`). The first two are no encodings.
const FEC_WORDS: [&str; 6] = ["none", "auto", "off", "rs", "baser", "llrs"];
const FEC_AUTO: u32 = 1 << 1;

/// Longer than links of 400 Gbit/s take to come up after a change.
const NEW_LINK: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct Ethtool<'a> {
    root: &'a SysRoot,
    interface: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    pub receive: u32,
    pub receive_most: u32,
    pub send: u32,
    pub send_most: u32,
}

/// Interrupt coalescing: how long a card collects packets before it interrupts. 0 packets is no packet bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    pub receive_usecs: u32,
    pub receive_frames: u32,
    pub send_usecs: u32,
    pub send_frames: u32,
    pub receive_adaptive: bool,
    pub send_adaptive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub negotiated: bool,
    pub receive: bool,
    pub send: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    pub combined: u32,
    pub combined_most: u32,
    pub receive: u32,
    pub send: u32,
}

/// An offload: work that the card, or the kernel for many packets at once, does instead of for each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    ReceiveChecksum,
    SendChecksum,
    TcpSegmentation,
    GenericSegmentation,
    GenericReceive,
    LargeReceive,
}

impl Offload {
    /// ethtool command, file name below a test root, and the bits of the answer that mean the offload.
    const fn question(self) -> (u32, &'static str, u32) {
        match self {
            // ETHTOOL_GRXCSUM, GTXCSUM, GTSO, GGSO, GGRO and, of GFLAGS, ETH_FLAG_LRO.
            Self::ReceiveChecksum => (0x14, "rx-checksum", u32::MAX),
            Self::SendChecksum => (0x16, "tx-checksum", u32::MAX),
            Self::TcpSegmentation => (0x1e, "tso", u32::MAX),
            Self::GenericSegmentation => (0x23, "gso", u32::MAX),
            Self::GenericReceive => (0x2b, "gro", u32::MAX),
            Self::LargeReceive => (0x25, "flags", 1 << 15),
        }
    }
}

/// A number that can be set: its place in the structure of two commands.
struct Field {
    /// The structure, as a file below a test root, with the commands that read and write it.
    question: &'static str,
    read: u32,
    write: u32,
    at: usize,
    numbers: usize,
    /// The bits that are the number; all but in a word of flags.
    bits: u32,
}

impl Field {
    /// The number `name` of an interface, after the last part of the id of its setting.
    fn named(name: &str) -> Option<Self> {
        let of = |question, read, at, numbers| Self {
            question,
            read,
            write: read + 1,
            at,
            numbers,
            bits: u32::MAX,
        };
        let alone = |offload: Offload| {
            let (read, question, bits) = offload.question();
            Self { bits, ..of(question, read, 0, 1) }
        };
        Some(match name {
            "rx_ring" => of("rings", 0x10, 4, 8),
            "tx_ring" => of("rings", 0x10, 7, 8),
            "rx_usecs" => of("coalescing", 0x0e, 0, 22),
            "tx_usecs" => of("coalescing", 0x0e, 4, 22),
            "adaptive_rx" => of("coalescing", 0x0e, 9, 22),
            "channels" => of("channels", 0x3c, 7, 8),
            // The encodings that are wanted; those in use come before them.
            "fec" => of("fec", 0x50, 1, 3),
            "rx_pause" => of("pause", 0x12, 1, 3),
            "tx_pause" => of("pause", 0x12, 2, 3),
            "rx_checksum" => alone(Offload::ReceiveChecksum),
            "tx_checksum" => alone(Offload::SendChecksum),
            "tso" => alone(Offload::TcpSegmentation),
            "gso" => alone(Offload::GenericSegmentation),
            "gro" => alone(Offload::GenericReceive),
            "lro" => alone(Offload::LargeReceive),
            _ => return None,
        })
    }

    fn get(&self, numbers: &[u32]) -> u32 {
        let number = numbers.get(self.at).copied().unwrap_or_default();
        if self.bits == u32::MAX { number } else { u32::from(number & self.bits != 0) }
    }

    fn put(&self, numbers: &mut [u32], value: u32) {
        let Some(number) = numbers.get_mut(self.at) else { return };
        *number = match (self.bits, value) {
            (u32::MAX, value) => value,
            (bits, 0) => *number & !bits,
            (bits, _) => *number | bits,
        };
    }
}

impl<'a> Ethtool<'a> {
    /// The number `name` that [`Self::set_number`] sets: `rx_ring`, `gro`.
    pub fn number(&self, name: &str) -> Result<u32, ReadError> {
        let path = format!("/ethtool/{}/{name}", self.interface);
        let field = Field::named(name).ok_or(ReadError::Missing { path })?;
        self.structure(&field).map(|numbers| field.get(&numbers))
    }

    /// Sets one number and leaves the others of its structure as they are.
    pub fn set_number(&self, name: &str, value: u32) -> Result<(), Errno> {
        let field = Field::named(name).ok_or(Errno::OPNOTSUPP)?;
        let mut numbers = self.structure(&field).map_err(|error| error.errno().unwrap_or(Errno::IO))?;
        field.put(&mut numbers, value);
        if !self.root.is_live() {
            let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
            return self
                .root
                .write(format!("/ethtool/{}/{}", self.interface, field.question), &(words.join(" ") + "\n"));
        }
        numbers.insert(0, field.write);
        call(self.interface, &mut numbers)?;
        if name == "fec" {
            self.wait_for_fec(value);
        }
        Ok(())
    }

    /// Waits until one of the encodings `wanted` is in use: the link is down until both ends have agreed anew.
    fn wait_for_fec(&self, wanted: u32) {
        let deadline = Instant::now() + NEW_LINK;
        let is_open = || self.ask("fec", 0x50).is_ok_and(|[active, _, _]: [u32; 3]| active & wanted == 0);
        while wanted & FEC_AUTO == 0 && is_open() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The numbers of the structure of `field`, without the command.
    fn structure(&self, field: &Field) -> Result<Vec<u32>, ReadError> {
        match field.numbers {
            1 => self.ask::<1>(field.question, field.read).map(Vec::from),
            3 => self.ask::<3>(field.question, field.read).map(Vec::from),
            8 => self.ask::<8>(field.question, field.read).map(Vec::from),
            _ => self.ask::<22>(field.question, field.read).map(Vec::from),
        }
    }

    pub fn of(root: &'a SysRoot, interface: &'a str) -> Self {
        Self { root, interface }
    }

    /// The rings (`ethtool -g`); [`ReadError::Missing`] when driver or interface lack them.
    pub fn rings(&self) -> Result<Rings, ReadError> {
        let [receive_most, _, _, send_most, receive, _, _, send] = self.ask("rings", 0x10)?;
        Ok(Rings { receive, receive_most, send, send_most })
    }

    pub fn coalescing(&self) -> Result<Coalescing, ReadError> {
        let all: [u32; 22] = self.ask("coalescing", 0x0e)?;
        Ok(Coalescing {
            receive_usecs: all[0],
            receive_frames: all[1],
            send_usecs: all[4],
            send_frames: all[5],
            receive_adaptive: all[9] != 0,
            send_adaptive: all[10] != 0,
        })
    }

    pub fn pause(&self) -> Result<Pause, ReadError> {
        let [negotiated, receive, send] = self.ask("pause", 0x12)?;
        Ok(Pause { negotiated: negotiated != 0, receive: receive != 0, send: send != 0 })
    }

    pub fn channels(&self) -> Result<Channels, ReadError> {
        let [_, _, _, combined_most, receive, send, _, combined] = self.ask("channels", 0x3c)?;
        Ok(Channels { combined, combined_most, receive, send })
    }

    /// Encodings of forward error correction that are in use (`ethtool --show-fec`).
    pub fn fec(&self) -> Result<Vec<&'static str>, ReadError> {
        let [active, _, _] = self.ask("fec", 0x50)?;
        let words = FEC_WORDS.iter().enumerate();
        Ok(words.filter(|(bit, _)| active >> bit & 1 != 0).map(|(_, word)| *word).collect())
    }

    /// The number `fec` that sets one encoding; `None` for what is none.
    pub fn fec_number(word: &str) -> Option<u32> {
        let bit = FEC_WORDS.iter().position(|known| *known == word)?;
        (bit > 1).then_some(1 << bit)
    }

    pub fn offload(&self, offload: Offload) -> Result<bool, ReadError> {
        let (command, name, bits) = offload.question();
        let [answer] = self.ask(name, command)?;
        Ok(answer & bits != 0)
    }

    /// The driver's own statistics (`ethtool -S`), in the driver's order and names. Below a test root: lines of a
    /// name and a number.
    pub fn statistics(&self) -> Result<Vec<(String, u64)>, ReadError> {
        let path = format!("/ethtool/{}/statistics", self.interface);
        if !self.root.is_live() {
            let text = self.root.text(&path)?;
            let pair = |line: &str| {
                let (name, number) = line.rsplit_once(' ')?;
                Some((name.to_owned(), number.parse().ok()?))
            };
            let all: Option<Vec<(String, u64)>> = text.lines().map(pair).collect();
            return all.ok_or_else(|| ReadError::garbage(&path, &text, "lines of a name and a number"));
        }
        statistics(self.interface).map_err(|errno| refused(path, errno))
    }

    fn ask<const N: usize>(&self, question: &str, command: u32) -> Result<[u32; N], ReadError> {
        let path = format!("/ethtool/{}/{question}", self.interface);
        if !self.root.is_live() {
            let text = self.root.text(&path)?;
            let numbers: Option<Vec<u32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
            let numbers = numbers.and_then(|numbers| numbers.try_into().ok());
            return numbers.ok_or_else(|| ReadError::garbage(&path, &text, &format!("{N} numbers")));
        }
        // The command comes first; fields that the driver does not fill in stay 0.
        let mut message = vec![0_u32; 1 + N];
        message[0] = command;
        call(self.interface, &mut message).map_err(|errno| refused(path, errno))?;
        message.remove(0);
        message.try_into().map_err(|_| ReadError::garbage(question, "", "as many numbers as asked for"))
    }
}

pub(crate) fn refused(path: String, errno: Errno) -> ReadError {
    match errno {
        Errno::OPNOTSUPP | Errno::NODEV => ReadError::Missing { path },
        errno => ReadError::Unreadable { path, errno },
    }
}

/// Bytes of a name (`ETH_GSTRING_LEN`), in words.
const NAME_WORDS: usize = 32 / 4;

/// More statistics than any driver has; mlx5 with all of its queues has some thousands.
const MOST_STATISTICS: usize = 1 << 17;

fn statistics(interface: &str) -> Result<Vec<(String, u64)>, Errno> {
    // ETHTOOL_GSSET_INFO: the number of strings in set 1, ETH_SS_STATS. The mask of sets is a 64-bit number.
    let mut sizes = vec![0x37, 0, 0, 0, 0];
    sizes[if cfg!(target_endian = "little") { 2 } else { 3 }] = 1 << 1;
    call(interface, &mut sizes)?;
    // The kernel clears the set in the mask when the driver has no statistics.
    let count = if sizes[2] | sizes[3] == 0 { 0 } else { sizes[4] as usize };
    if count > MOST_STATISTICS {
        return Err(Errno::OVERFLOW);
    }
    if count == 0 {
        return Err(Errno::OPNOTSUPP);
    }
    // The kernel writes as many values as exist at that moment, without a look at the caller's room. Queues added
    // meanwhile add statistics: room for twice as many, and 4096 more.
    let room = 2 * count + 4096;
    // ETHTOOL_GSTRINGS of set 1, and ETHTOOL_GSTATS: both start with the number of values.
    let mut names = vec![0_u32; 3 + room * NAME_WORDS];
    names[..3].copy_from_slice(&[0x1b, 1, count as u32]);
    call(interface, &mut names)?;
    let mut numbers = vec![0_u32; 2 + room * 2];
    numbers[..2].copy_from_slice(&[0x1d, count as u32]);
    call(interface, &mut numbers)?;
    named(&names, &numbers).ok_or(Errno::AGAIN)
}

/// Pairs the names and values of two answers, each after its command and count; `None` when the counts differ.
pub(crate) fn named(names: &[u32], numbers: &[u32]) -> Option<Vec<(String, u64)>> {
    let count = *numbers.get(1)?;
    if *names.get(2)? != count {
        return None;
    }
    let name = |words: &[u32]| {
        let bytes: Vec<u8> =
            words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    };
    let number = |words: &[u32]| {
        let [a, b, c, d] = words[0].to_ne_bytes();
        let [e, f, g, h] = words[1].to_ne_bytes();
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    };
    let all = names[3..].chunks_exact(NAME_WORDS).zip(numbers[2..].chunks_exact(2));
    Some(all.take(count as usize).map(|(words, pair)| (name(words), number(pair))).collect())
}

pub(crate) fn call(interface: &str, message: &mut [u32]) -> Result<(), Errno> {
    let name = interface.as_bytes();
    // SAFETY: a structure of numbers and pointers, of which all bits 0 is a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(Errno::NODEV);
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = *from as c_char;
    }
    request.ifr_ifru.ifru_data = message.as_mut_ptr().cast();
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the request is a whole `ifreq` with a name that ends in 0, and points to a message as long as the structure
    // of its command, which is all that the kernel writes; both outlive the call.
    let rc =
        unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, (&raw mut request).cast::<c_void>()) };
    if rc == 0 {
        return Ok(());
    }
    Err(crate::last_errno())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("ethtool/eth0")).expect("made");
        for (name, text) in files {
            std::fs::write(dir.path().join("ethtool/eth0").join(name), text).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn numbers_are_found_at_their_place_in_the_kernel_s_structures() {
        let coalescing = "3 64 0 0 16 32 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0";
        let (_dir, root) = tree(&[
            ("rings", "8192 0 0 8192 1024 0 0 512"),
            ("coalescing", coalescing),
            ("pause", "1 0 1"),
            ("channels", "0 0 1 32 0 0 1 16"),
            ("tso", "1"),
            ("flags", "32768"),
            ("fec", "24 16 0"),
        ]);
        let eth0 = Ethtool::of(&root, "eth0");
        let rings = Rings { receive: 1024, receive_most: 8192, send: 512, send_most: 8192 };
        assert_eq!(eth0.rings(), Ok(rings));
        let found = eth0.coalescing().expect("told");
        assert_eq!(
            (found.receive_usecs, found.receive_frames, found.send_usecs, found.send_frames),
            (3, 64, 16, 32)
        );
        assert!(found.receive_adaptive && !found.send_adaptive);
        assert_eq!(eth0.fec(), Ok(vec!["rs", "baser"]));
        assert_eq!(eth0.pause(), Ok(Pause { negotiated: true, receive: false, send: true }));
        assert_eq!(eth0.channels().map(|channels| (channels.combined, channels.combined_most)), Ok((16, 32)));
        assert_eq!(eth0.offload(Offload::TcpSegmentation), Ok(true));
        assert_eq!(eth0.offload(Offload::LargeReceive), Ok(true));
        assert!(eth0.offload(Offload::GenericReceive).expect_err("no such file").is_missing());
        assert!(Ethtool::of(&root, "eth1").rings().expect_err("no such interface").is_missing());
    }

    /// In a network namespace of its own, on its loopback interface.
    #[test]
    fn the_kernel_takes_one_number_and_leaves_the_others() {
        let in_namespace = || {
            if crate::netlink::tests::own_network().is_err() {
                return;
            }
            let root = SysRoot::live();
            let lo = Ethtool::of(&root, "lo");
            let all = || ["tso", "gso", "gro"].map(|name| lo.number(name));
            assert_eq!(all(), [Ok(1), Ok(1), Ok(1)]);
            assert_eq!((lo.set_number("gro", 0), all()), (Ok(()), [Ok(1), Ok(1), Ok(0)]));
            assert_eq!((lo.set_number("tso", 0), all()), (Ok(()), [Ok(0), Ok(1), Ok(0)]));
            assert_eq!(
                (lo.set_number("tso", 1), lo.set_number("gro", 1), all()),
                (Ok(()), Ok(()), [Ok(1), Ok(1), Ok(1)])
            );
            assert!(lo.number("rx_ring").expect_err("no rings").is_missing());
            assert_eq!(lo.set_number("rx_ring", 64), Err(Errno::NOENT));
        };
        thread::spawn(in_namespace).join().expect("as it should be");
    }

    #[test]
    fn one_number_is_set_and_the_others_of_its_structure_stay() {
        let (_dir, root) = tree(&[("rings", "8192 0 0 8192 1024 0 0 512"), ("flags", "32770"), ("gro", "1")]);
        let eth0 = Ethtool::of(&root, "eth0");
        assert_eq!(
            (eth0.number("rx_ring"), eth0.number("lro"), eth0.number("gro")),
            (Ok(1024), Ok(1), Ok(1))
        );
        for (name, value) in [("rx_ring", 4096), ("lro", 0), ("gro", 0)] {
            assert_eq!((eth0.set_number(name, value), eth0.number(name)), (Ok(()), Ok(value)), "{name}");
        }
        assert_eq!(root.text("/ethtool/eth0/rings").as_deref(), Ok("8192 0 0 8192 4096 0 0 512"));
        assert_eq!(root.text("/ethtool/eth0/flags").as_deref(), Ok("2"));
        assert_eq!(eth0.set_number("rx_usecs", 1), Err(Errno::NOENT));
        assert!(eth0.number("colour").expect_err("no such number").is_missing());
    }

    #[test]
    fn a_file_of_another_shape_is_garbage() {
        let (_dir, root) = tree(&[("rings", "1 2 3")]);
        assert!(matches!(Ethtool::of(&root, "eth0").rings(), Err(ReadError::Garbage { .. })));
    }

    #[test]
    fn statistics_have_the_names_that_their_driver_gives_them() {
        let (_dir, root) =
            tree(&[("statistics", "rx_packets 5\n[0]: rx_discards 7\ntx_bytes 18446744073709551615\n")]);
        let found = Ethtool::of(&root, "eth0").statistics().expect("told");
        let wanted = [("rx_packets", 5), ("[0]: rx_discards", 7), ("tx_bytes", u64::MAX)];
        assert_eq!(found, wanted.map(|(name, number)| (name.to_owned(), number)));
        let (_dir, root) = tree(&[("statistics", "rx_packets many\n")]);
        assert!(matches!(Ethtool::of(&root, "eth0").statistics(), Err(ReadError::Garbage { .. })));
    }

    #[test]
    fn every_interface_here_tells_its_statistics_or_has_none() {
        let root = SysRoot::live();
        for interface in root.list("/sys/class/net").expect("listed") {
            match Ethtool::of(&root, &interface).statistics() {
                Ok(all) => assert!(all.iter().all(|(name, _)| !name.is_empty()), "{interface}: {all:?}"),
                Err(error) => assert!(error.is_missing(), "{interface}: {error}"),
            }
        }
    }

    #[test]
    fn the_kernel_answers_for_the_loopback() {
        let root = SysRoot::live();
        let lo = Ethtool::of(&root, "lo");
        // The loopback has GSO and GRO, and neither rings nor pause frames nor statistics of its own.
        assert_eq!(lo.offload(Offload::GenericSegmentation), Ok(true));
        assert!(lo.rings().expect_err("it has none").is_missing());
        assert!(lo.pause().expect_err("it has none").is_missing());
        assert!(lo.statistics().expect_err("it has none").is_missing());
        assert!(Ethtool::of(&root, "warp0").rings().expect_err("no such interface").is_missing());
        assert!(Ethtool::of(&root, "a-name-that-is-too-long").rings().expect_err("too long").is_missing());
    }
}
