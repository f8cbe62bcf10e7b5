//! The operations, their sizes and what their rates mean.

use seatrial_model::{Cause, Params, Reason};

use super::item::ItemType;

/// A collective operation of NCCL, or the exchange of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
    SendReceive,
}

use Operation::{AllGather, AllReduce, AllToAll, Broadcast, Reduce, ReduceScatter, SendReceive};

/// As the parameter `operation` spells them.
pub const OPERATIONS: &[&str] =
    &["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_receive"];

/// In the order of [`OPERATIONS`].
const ALL: [Operation; 7] = [AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Reduce, SendReceive];

/// The sweep: powers of 8 from 8 bytes on.
const SWEEP: [u64; 11] =
    [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20, 1 << 30, 8 << 30];

/// Elements of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// What a rank sends.
    pub out: usize,
    /// Where a rank receives.
    pub into: usize,
}

/// What a rank receives: the sums over all ranks, from element number `first` of each on, or parts of `each` elements, one
/// of each rank from `source` on, each of which begins at its element number `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    pub sums: bool,
    pub each: usize,
    pub source: usize,
    pub first: usize,
}

impl Operation {
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let word = params.text("operation")?;
        let at = OPERATIONS.iter().position(|name| *name == word);
        at.map(|at| ALL[at])
            .ok_or_else(|| Reason::new(Cause::Protocol, format!("operation={word} does not exist")))
    }

    /// Whether the size is that of the data of all ranks together, as nccl-tests counts.
    const fn is_of_all(self) -> bool {
        matches!(self, AllGather | ReduceScatter | AllToAll)
    }

    /// Elements of so many bytes of a rank at a size; the parts of ranks are whole multiples of 16 bytes, as in nccl-tests.
    pub const fn counts(self, size: u64, ranks: usize, element: u64) -> Counts {
        let (count, part) = ((size / element) as usize, (size / 16 / ranks as u64 * (16 / element)) as usize);
        match self {
            AllGather => Counts { out: part, into: part * ranks },
            ReduceScatter => Counts { out: part * ranks, into: part },
            AllToAll => Counts { out: part * ranks, into: part * ranks },
            AllReduce | Broadcast | Reduce | SendReceive => Counts { out: count, into: count },
        }
    }

    /// The bytes that the rate counts.
    pub fn bytes(self, size: u64, ranks: usize, element: u64) -> u64 {
        let counts = self.counts(size, ranks, element);
        element * counts.out.max(counts.into) as u64
    }

    /// Elements as nccl-tests counts them in its column `count`: of a rank, or of a rank's part.
    pub fn elements(self, size: u64, ranks: usize, element: u64) -> usize {
        let Counts { out, into } = self.counts(size, ranks, element);
        if self == AllToAll { out / ranks } else { out.min(into) }
    }

    /// Whether the sent and the received elements can share memory.
    pub const fn has_in_place(self) -> bool {
        !matches!(self, AllToAll | SendReceive)
    }

    /// The place of `rank` in shared memory, in elements: where it sends from, and where it receives.
    pub const fn in_place(self, counts: Counts, rank: usize) -> (usize, usize) {
        match self {
            AllGather => (rank * counts.out, 0),
            ReduceScatter => (0, rank * counts.into),
            _ => (0, 0),
        }
    }

    /// The name of the function in the library's log; none where it consists of sends and receives.
    pub const fn in_log(self) -> Option<&'static str> {
        match self {
            AllReduce => Some("AllReduce"),
            AllGather => Some("AllGather"),
            ReduceScatter => Some("ReduceScatter"),
            Broadcast => Some("Broadcast"),
            Reduce => Some("Reduce"),
            AllToAll | SendReceive => None,
        }
    }

    /// What the rate of the algorithm is multiplied with to be that of the busiest link (nccl-tests, PERFORMANCE.md).
    pub fn bus_factor(self, ranks: usize) -> f64 {
        let others = (ranks as f64 - 1.0) / ranks as f64;
        match self {
            AllReduce => 2.0 * others,
            AllGather | ReduceScatter | AllToAll => others,
            Broadcast | Reduce | SendReceive => 1.0,
        }
    }

    /// The most that the bus rate can be, as a multiple of the rate of a node's ports, when `nodes` have ranks evenly: each
    /// node has to send or receive what the others lack, whatever the algorithm. Without sums in switches.
    pub fn of_ports(self, ranks: usize, nodes: usize) -> f64 {
        let others = |count: usize| (count as f64 - 1.0) / count as f64;
        match self {
            AllReduce | AllGather | ReduceScatter => others(ranks) / others(nodes),
            // Each rank of a node sends its part to every rank of the other nodes.
            AllToAll => others(ranks) / others(nodes) * nodes as f64 / ranks as f64,
            Broadcast | Reduce | SendReceive => 1.0,
        }
    }

    /// What a rank receives; nothing where only rank 0 does.
    pub fn received(self, counts: Counts, rank: usize, ranks: usize) -> Option<Received> {
        let of = |sums, each, source, first| Some(Received { sums, each, source, first });
        match self {
            AllReduce => of(true, counts.into, 0, 0),
            Reduce if rank == 0 => of(true, counts.into, 0, 0),
            Reduce => None,
            ReduceScatter => of(true, counts.into, 0, rank * counts.into),
            Broadcast => of(false, counts.into, 0, 0),
            AllGather => of(false, counts.out, 0, 0),
            AllToAll => of(false, counts.out / ranks, 0, rank * (counts.out / ranks)),
            SendReceive => of(false, counts.into, (rank + ranks - 1) % ranks, 0),
        }
    }
}

/// The sizes of a case, by rising size.
pub fn sizes(operation: Operation, params: &Params, ranks: usize) -> Result<Vec<u64>, Reason> {
    let least = if operation.is_of_all() { 16 * ranks as u64 } else { ItemType::of(params)?.bytes() };
    let Some(size) = params.bytes("size")? else {
        return Ok(SWEEP.into_iter().filter(|size| *size >= least).collect());
    };
    if size.get() < least && !operation.is_of_all() {
        return Err(Reason::new(Cause::Contradiction, format!("size={size}: an element has {least} B")));
    }
    if size.get() < least {
        let text =
            format!("size={size}: {ranks} ranks share it out, 16 B each at least; set {least} B or more");
        return Err(Reason::new(Cause::Contradiction, text));
    }
    Ok(vec![size.get()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_operation() {
        for (name, operation) in OPERATIONS.iter().zip(ALL) {
            let mut params = Params::default();
            params.set("operation", *name);
            assert_eq!(Operation::of(&params), Ok(operation));
        }
    }

    #[test]
    fn counts_and_factors_are_those_of_nccl_tests() {
        let size = 8 << 20;
        assert_eq!(AllReduce.counts(size, 8, 4), Counts { out: 2 << 20, into: 2 << 20 });
        assert_eq!(AllGather.counts(size, 8, 4), Counts { out: 1 << 18, into: 2 << 20 });
        assert_eq!(ReduceScatter.counts(size, 8, 4), Counts { out: 2 << 20, into: 1 << 18 });
        assert_eq!(AllToAll.bytes(1000, 3, 4), 960, "rounded down to 16 bytes for each rank");
        assert_eq!(
            [AllReduce, AllGather, ReduceScatter, AllToAll].map(|one| one.elements(size, 8, 4)),
            [2 << 20, 1 << 18, 1 << 18, 1 << 18]
        );
        assert_eq!(AllGather.counts(size, 8, 2), Counts { out: 1 << 19, into: 4 << 20 });
        assert_eq!(AllGather.in_place(AllGather.counts(size, 8, 4), 3), (3 << 18, 0));
        assert_eq!(ReduceScatter.in_place(ReduceScatter.counts(size, 8, 4), 3), (0, 3 << 18));
        assert_eq!([AllReduce, AllGather, Broadcast].map(|one| one.bus_factor(8)), [1.75, 0.875, 1.0]);
        assert_eq!(AllReduce.bus_factor(2), 1.0);
    }

    #[test]
    fn sizes_too_small_to_share_out_are_left_out_or_refused() {
        let mut params = Params::default();
        params.set("size", "auto");
        params.set("type", "fp32");
        assert_eq!(sizes(AllReduce, &params, 2).expect("sizes")[0], 8);
        assert_eq!(sizes(AllToAll, &params, 8).expect("sizes")[0], 512);
        params.set("size", seatrial_model::Bytes(64));
        assert_eq!(sizes(AllGather, &params, 8).expect_err("too small").cause, Cause::Contradiction);
        assert_eq!(sizes(AllGather, &params, 4), Ok(vec![64]));
    }
}
