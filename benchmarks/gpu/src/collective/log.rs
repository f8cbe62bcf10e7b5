//! What NCCL's log tells: the network, the ways between ranks, and what was chosen for each size.
//!
//! The words differ between versions: whatever is not found is not told. Source: NCCL 2.20 to 2.30, `src/enqueue.cc`,
//! `src/init.cc`, `src/transport/`.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{MemfdFlags, memfd_create};
use seatrial_model::Fact;
use serde::{Deserialize, Serialize};

/// What was chosen for operations of a size.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NcclChoice {
    pub function: String,
    /// Bytes as the library counts them: of `all_gather` and `reduce_scatter` those of one rank.
    pub bytes: u64,
    pub algorithm: String,
    pub protocol: String,
    pub channels: Option<u64>,
}

/// The log of a rank, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NcclLog {
    /// The network between nodes, whether it is used or not: `IB`, `Socket`, or that of a plugin.
    pub network: Option<String>,
    /// The ways to other ranks: `P2P`, `SHM`, `NET/IB`, `NET/IB/GDRDMA`, `NET/Socket` ...
    pub transports: BTreeSet<String>,
    /// Channels of the communicator.
    pub channels: Option<u64>,
    pub nvls_channels: Option<u64>,
    /// Only rank 0 tells them.
    pub choices: BTreeSet<NcclChoice>,
}

impl Fact for NcclLog {
    const NAME: &'static str = "nccl_log";
}

/// Names of numbers in the log of versions before 2.24 (nccl_common.h).
const ALGORITHMS: [&str; 7] = ["TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"];
const PROTOCOLS: [&str; 3] = ["LL", "LL128", "SIMPLE"];

/// The word behind `before`.
fn word<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_whitespace().next()
}

fn named(word: &str, names: &[&str]) -> String {
    let name = word.parse().ok().and_then(|number: usize| names.get(number).copied());
    name.unwrap_or(word).to_uppercase()
}

impl NcclLog {
    pub fn parse(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            log.read(line);
        }
        log
    }

    fn read(&mut self, line: &str) {
        if let Some(choice) = choice(line) {
            self.choices.insert(choice);
        }
        if let Some(network) = word(line, "Using network ") {
            self.network = Some(network.to_owned());
        }
        if line.contains("->")
            && let Some(way) = word(line, " via ")
        {
            self.transports.insert(transport(way));
        }
        // "16 coll channels, 16 collnet channels, 16 nvls channels, ..."
        let number = |what: &str| -> Option<u64> {
            line.split_once(what)?.0.split_whitespace().next_back()?.parse().ok()
        };
        self.channels = number(" coll channels").or(self.channels);
        self.nvls_channels = number(" nvls channels").or(self.nvls_channels);
    }

    /// Adds what another rank tells.
    pub fn join(&mut self, other: Self) {
        self.network = self.network.take().or(other.network);
        self.channels = self.channels.or(other.channels);
        self.nvls_channels = self.nvls_channels.or(other.nvls_channels);
        self.transports.extend(other.transports);
        self.choices.extend(other.choices);
    }

    /// What was chosen for a function and one of these numbers of bytes.
    pub fn choice(&self, function: &str, bytes: [u64; 2]) -> Option<&NcclChoice> {
        let is_it = |choice: &&NcclChoice| choice.function == function || choice.function.is_empty();
        bytes.iter().find_map(|bytes| self.choices.iter().filter(is_it).find(|choice| choice.bytes == *bytes))
    }
}

/// "AllReduce: 2097152 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..15}"
fn choice(line: &str) -> Option<NcclChoice> {
    let (before, _) = line.split_once(" Bytes -> Algo ")?;
    let mut words = before.split_whitespace().rev();
    let bytes = words.next()?.parse().ok()?;
    let function = words.next().and_then(|word| word.strip_suffix(':')).unwrap_or_default().to_owned();
    let range = line.split_once("}={").and_then(|(_, rest)| rest.split_once('}')?.0.split_once(".."));
    let channels = range.and_then(|(low, high)| {
        let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
        Some(high.checked_sub(low)? + 1)
    });
    Some(NcclChoice {
        function,
        bytes,
        algorithm: named(word(line, " Algo ")?, &ALGORITHMS),
        protocol: named(word(line, " proto ")?, &PROTOCOLS),
        channels,
    })
}

/// `P2P` of `P2P/CUMEM/read`, `NET/IB/GDRDMA` of `NET/IB/3(8)/GDRDMA/Shared`.
fn transport(way: &str) -> String {
    let mut parts = way.split('/');
    let first = parts.next().unwrap_or_default();
    if first != "NET" {
        return first.to_owned();
    }
    let network = parts.next().unwrap_or_default();
    let direct = if way.contains("/GDRDMA") { "/GDRDMA" } else { "" };
    format!("NET/{network}{direct}")
}

/// The file of a rank's log.
#[derive(Debug)]
pub enum LogFile {
    /// A file in memory, which goes with the process however that ends.
    InMemory(File),
    /// Beside a library that imitates NCCL for tests.
    OfImitation(PathBuf),
}

impl LogFile {
    /// A file of this process; none where the system makes none.
    pub fn of_process() -> Option<Self> {
        Some(Self::InMemory(memfd_create("nccl-log", MemfdFlags::CLOEXEC).ok()?.into()))
    }

    /// The file of a library that imitates NCCL for tests.
    pub fn of_imitation(library: &Path) -> Self {
        let mut name = library.as_os_str().to_owned();
        name.push(".log");
        Self::OfImitation(name.into())
    }

    /// Under what name this process opens it.
    pub fn path(&self) -> PathBuf {
        match self {
            Self::InMemory(file) => format!("/proc/self/fd/{}", file.as_raw_fd()).into(),
            Self::OfImitation(path) => path.clone(),
        }
    }

    /// What it tells so far; none where there is no log.
    pub fn read(&self) -> Option<NcclLog> {
        let bytes = std::fs::read(self.path()).ok()?;
        Some(NcclLog::parse(&String::from_utf8_lossy(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
n1:71:71 [0] NCCL INFO Using network IB
n1:71:71 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read
n1:71:71 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [receive] via NET/IB/0(7)/GDRDMA/Shared
n1:71:71 [0] NCCL INFO Channel 01/0 : 0[0] -> 9[1] [send] via NET/Socket/0
n1:71:71 [0] NCCL INFO 24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 32 p2p channels per peer
n1:71:71 [0] NCCL INFO AllReduce: 2097152 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15}
n1:71:71 [0] NCCL INFO AllReduce: 8 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}
";

    #[test]
    fn a_log_tells_network_ways_channels_and_choices() {
        let log = NcclLog::parse(LOG);
        assert_eq!(log.network.as_deref(), Some("IB"));
        assert_eq!(log.transports.iter().collect::<Vec<_>>(), ["NET/IB/GDRDMA", "NET/Socket", "P2P"]);
        assert_eq!((log.channels, log.nvls_channels), (Some(24), Some(16)));
        let large = log.choice("AllReduce", [2 << 20, 1 << 20]).expect("a choice");
        assert_eq!((large.algorithm.as_str(), large.protocol.as_str()), ("NVLS_TREE", "SIMPLE"));
        assert_eq!(large.channels, Some(16));
        assert_eq!(log.choice("AllGather", [8, 4]), None);
    }

    #[test]
    fn numbers_of_earlier_versions_have_names_and_other_words_say_nothing() {
        let log = NcclLog::parse(
            "[0] NCCL INFO 805306368 Bytes -> Algo 1 proto 2 time 3970.683594\nvia the moon\n",
        );
        let choice = log.choice("AllReduce", [805_306_368, 1]).expect("a choice");
        assert_eq!((choice.algorithm.as_str(), choice.protocol.as_str()), ("RING", "SIMPLE"));
        assert_eq!(choice.channels, None);
        assert_eq!(log.transports.len(), 0);
        for text in [
            "",
            "Bytes -> Algo",
            "x Bytes -> Algo RING",
            "7 Bytes -> Algo RING proto",
            " coll channels",
            " via ",
        ] {
            assert_eq!(NcclLog::parse(text), NcclLog::default(), "{text}");
        }
    }

    #[test]
    fn what_ranks_tell_is_joined() {
        let mut log = NcclLog::parse("0 -> 1 via SHM/direct/direct\n");
        log.join(NcclLog::parse(LOG));
        assert_eq!((log.transports.len(), log.choices.len(), log.channels), (4, 2, Some(24)));
    }
    #[test]
    fn what_is_written_under_the_name_of_the_log_is_read_and_is_in_no_folder() {
        let file = LogFile::of_process().expect("a log");
        // As the library opens it.
        std::fs::write(file.path(), LOG).expect("written");
        assert_eq!(file.read(), Some(NcclLog::parse(LOG)));
        let target = std::fs::read_link(file.path()).expect("a link");
        assert!(target.to_string_lossy().starts_with("/memfd:"), "{}", target.display());
    }
}
