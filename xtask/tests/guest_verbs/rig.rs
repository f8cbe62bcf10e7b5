//! Two ends on one port, connected with each other, each with memory of its own.

use std::sync::Arc;
use std::time::Duration;

use seatrial_sys::memory::{MapRequest, Mapping, Pages, Place};
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{
    Access, CompletionQueue, Connection, GidChoice, Init, MemoryRegion, Mtu, Path, ProtectionDomain,
    QueuePair, QueuePairSpec, RdmaDevice, ReceiveList, ReceiveWork, Retry, SendList, Transport, Verbs,
    VerbsError, Work, WorkCompletion, choose,
};

/// The device that every guest has.
pub const DEVICE: &str = "rxe0";

/// Far more than emulation needs: a trial that waits so long has failed.
pub const LONG: Duration = Duration::from_secs(30);

/// Bytes of memory of each end.
pub const BYTES: usize = 64 << 10;

/// The key of datagrams.
pub const QKEY: u32 = 0x1111_1111;

pub fn device() -> Arc<RdmaDevice> {
    Verbs::open().unwrap().open_device(DEVICE).unwrap()
}

pub fn memory(bytes: usize) -> Mapping {
    Mapping::map(&MapRequest { bytes, cap_bytes: bytes, pages: &[Pages::Base], place: Place::Local }).unwrap()
}

/// The addresses that a port talks to itself by.
pub fn gids(device: &RdmaDevice) -> GidChoice {
    let table = device.gids(&SysRoot::live(), 1).unwrap();
    choose(&table.entries, &table.entries).unwrap()
}

pub fn spec(transport: Transport) -> QueuePairSpec {
    QueuePairSpec { transport, send_depth: 16, receive_depth: 16, inline_bytes: 64 }
}

pub struct End {
    pub qp: Arc<QueuePair>,
    pub cq: Arc<CompletionQueue>,
    pub region: Arc<MemoryRegion>,
    pub pd: Arc<ProtectionDomain>,
}

impl End {
    pub fn new(device: &Arc<RdmaDevice>, transport: Transport) -> Self {
        let cq = CompletionQueue::new(device, 64).unwrap();
        Self::telling_on(device, transport, cq)
    }

    pub fn telling_on(device: &Arc<RdmaDevice>, transport: Transport, cq: Arc<CompletionQueue>) -> Self {
        let pd = ProtectionDomain::new(device).unwrap();
        let region = Arc::new(MemoryRegion::register(&pd, memory(BYTES), Access::ALL).unwrap());
        let qp = QueuePair::new(&pd, &cq, &cq, &spec(transport)).unwrap();
        qp.init(&Init { port: 1, pkey_index: 0, qkey: QKEY, access: Access::ALL }).unwrap();
        Self { qp, cq, region, pd }
    }

    pub fn connect(&self, to: &End, retry: Retry) -> Result<(), VerbsError> {
        let connection = Connection { retry, ..connection(self.pd.device(), to.qp.number()) };
        self.qp.connect(&connection)
    }

    /// Posts one request and gives how it ended.
    pub fn does(&self, work: Work<'_>) -> WorkCompletion {
        let mut list = SendList::new(&[work]).unwrap();
        self.qp.post_send(&mut list, 0..1).unwrap();
        self.ended(1).remove(0)
    }

    /// What the next so many requests came to.
    pub fn ended(&self, want: usize) -> Vec<WorkCompletion> {
        let mut all = Vec::new();
        self.cq.collect(want, LONG, |completion| all.push(*completion)).unwrap();
        all
    }

    /// Posts receives of so many bytes, one behind the other from `offset` on, numbered from 100.
    pub fn receives(&self, count: usize, offset: usize, bytes: u32) {
        let work: Vec<ReceiveWork<'_>> = (0..count)
            .map(|at| ReceiveWork {
                id: 100 + at as u64,
                memory: &self.region,
                offset: offset + at * bytes as usize,
                bytes,
            })
            .collect();
        let mut list = ReceiveList::new(&work).unwrap();
        self.qp.post_receive(&mut list, 0..count).unwrap();
    }

    /// Fills memory with a pattern of this seed.
    pub fn fill(&self, offset: usize, bytes: usize, seed: u8) {
        self.region.write(offset, &pattern(bytes, seed)).unwrap();
    }

    pub fn holds(&self, offset: usize, bytes: usize, seed: u8) -> bool {
        let mut found = vec![0; bytes];
        self.region.read(offset, &mut found).unwrap();
        found == pattern(bytes, seed)
    }
}

pub fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8) ^ seed).collect()
}

/// From the port to itself.
pub fn path(device: &RdmaDevice) -> Path {
    let choice = gids(device);
    Path::between(&device.port(1).unwrap(), 1, &choice.first, choice.second.gid, 0).unwrap()
}

pub fn connection(device: &RdmaDevice, qp_number: u32) -> Connection {
    Connection {
        path: path(device),
        qp_number,
        our_psn: 0x00ab_cdef,
        their_psn: 0x00ab_cdef,
        mtu: Mtu::B1024,
        retry: Retry::default(),
        reads_out: 4,
        reads_in: 4,
    }
}

/// Two ends that are connected.
pub fn pair(transport: Transport) -> (End, End) {
    pair_with(transport, Retry::default())
}

pub fn pair_with(transport: Transport, retry: Retry) -> (End, End) {
    let device = device();
    let (one, other) = (End::new(&device, transport), End::new(&device, transport));
    one.connect(&other, retry).unwrap();
    other.connect(&one, retry).unwrap();
    (one, other)
}

/// Two ends of datagrams, both ready.
pub fn datagrams() -> (End, End) {
    let device = device();
    let (one, other) = (End::new(&device, Transport::Ud), End::new(&device, Transport::Ud));
    one.qp.ready().unwrap();
    other.qp.ready().unwrap();
    (one, other)
}
