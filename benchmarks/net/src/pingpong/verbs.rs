//! Messages by RDMA: each is written straight from one end's memory into the other's, with an immediate value that tells
//! of it. No copy is made on either side.
//!
//! Both ends walk through their memory in the same order, so that each knows where the other wants the next message.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_model::{Case, Cause, PartPlacement, Reason};
use seatrial_sys::verbs::{
    MemoryRegion, ReceiveList, ReceiveWork, Remote, SendList, Transport as Kind, Verb, VerbKind, VerbsError,
    Work, WorkCompletion,
};

use seatrial_bench::pingpong::{Buffers, PingPongTransport};
use seatrial_bench::verbs::{
    ConnectionInfo, Method, RdmaConfig, RdmaEndpoint, RemoteCompletion, during, preparing, wait,
};

/// Bytes at the end of the memory through which the ends tell each other what is not a message: as many to send from, and
/// as many to receive into.
const WORDS: usize = 64;

/// A peer that moves nothing for this long is dead.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks in vain between two looks at the clock.
const LOOKS: u32 = 1024;

/// Every so many messages one asks for a completion, so that the send queue does not fill up.
const GROUP: u64 = 16;

const RECEIVES: usize = 512;

/// What it does: writes that the far end's completion queue tells of.
const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::Cqe };

/// The device of this end, with memory for the messages.
pub fn open(
    case: &Case,
    place: &PartPlacement,
    largest: usize,
    region: usize,
) -> Result<(RdmaEndpoint, Buffers), Reason> {
    let mut config = RdmaConfig::of(METHOD, case, place)?;
    let rotate = region > 0;
    let bytes = Buffers::bytes(largest, region, rotate);
    config.transport = Kind::Rc;
    config.sizes = vec![largest as u64];
    config.memory = Some((bytes + 2 * WORDS) as u64);
    config.inline = None;
    config.receives = RECEIVES;
    let endpoint = RdmaEndpoint::open(&config, &seatrial_sys::memory::Pages::LARGEST_FIRST)?;
    let buffers = Buffers::registered(Arc::clone(&endpoint.region), largest, region, rotate)?;
    Ok((endpoint, buffers))
}

/// A connected queue pair, and a connection beside it that tells when the peer is gone.
pub struct ByVerbs {
    label: String,
    control: TcpStream,
    /// For messages that are put into the request, and for others.
    lists: [SendList; 2],
    inline: usize,
    receives: ReceiveList,
    /// How far what is received lies behind what is sent.
    apart: usize,
    words: usize,
    posted: u64,
    completed: u64,
    /// Bytes of a message that came while nobody had asked for it yet.
    waiting: Option<u64>,
    completions: [WorkCompletion; 16],
    misses: u32,
    // The queue pair goes before the memory.
    endpoint: RdmaEndpoint,
}

impl ByVerbs {
    /// Posts the receives; before the peer may send.
    pub fn listen(endpoint: &RdmaEndpoint) -> Result<ReceiveList, Reason> {
        let label = endpoint.config.label();
        // Nothing is received into it: a write says where it goes.
        let work = ReceiveWork { id: 0, memory: &endpoint.region, offset: 0, bytes: 1 };
        let mut list = ReceiveList::new(&[work]).map_err(preparing(&label, "preparing receives"))?;
        for _ in 0..RECEIVES {
            let posted = endpoint.pairs[0].qp.post_receive(&mut list, 0..1).map_err(VerbsError::from);
            posted.map_err(preparing(&label, "posting receives"))?;
        }
        Ok(list)
    }

    /// Connects `endpoint` with the peer's.
    pub fn connect(
        mut endpoint: RdmaEndpoint,
        receives: ReceiveList,
        theirs: &ConnectionInfo,
        control: TcpStream,
        buffers: &Buffers,
    ) -> Result<Self, Reason> {
        endpoint.connect(theirs)?;
        let label = endpoint.config.label();
        let failed =
            |error: std::io::Error| Reason::new(Cause::IoError, format!("setting up a connection: {error}"));
        control.set_nonblocking(true).map_err(failed)?;
        let inline = endpoint.pairs[0].qp.inline_bytes();
        let list = |bytes: u32, inline: bool| -> Result<SendList, Reason> {
            let remote = Some(endpoint.remote);
            let work =
                Work { remote, inline, ..Work::new(Verb::WriteImmediate(0), &endpoint.region, 0, bytes) };
            SendList::new(&[work]).map_err(preparing(&label, "preparing requests"))
        };
        let largest = buffers.largest() as u32;
        let lists = [list(1, inline > 0)?, list(largest, false)?];
        Ok(Self {
            lists,
            label,
            control,
            inline: inline as usize,
            receives,
            apart: buffers.apart(),
            words: endpoint.region.len().min(2 * buffers.apart() + 2 * WORDS) - 2 * WORDS,
            posted: 0,
            completed: 0,
            waiting: None,
            completions: [WorkCompletion::default(); 16],
            misses: 0,
            endpoint,
        })
    }

    /// What the record shall say of the device.
    pub fn facts(&self) -> serde_json::Value {
        serde_json::json!(self.endpoint.facts)
    }

    /// Writes a piece of this end's memory to that place in the other's.
    #[inline]
    fn write(&mut self, from: usize, to: usize, bytes: usize) -> Result<(), Reason> {
        let mut deadline = None;
        while self.posted - self.completed >= self.endpoint.config.depth as u64 {
            self.reap()?;
            self.in_time(*deadline.get_or_insert_with(|| Instant::now() + PATIENCE))?;
        }
        let list = &mut self.lists[usize::from(bytes > self.inline)];
        let Remote { address, .. } = self.endpoint.remote;
        // At no step may it reach beyond the memory, whatever it was before.
        list.set_bytes(0, 1);
        list.aim(0, from, address + to as u64);
        list.set_bytes(0, bytes as u32);
        self.posted += 1;
        list.set_signalled(0, self.posted.is_multiple_of(GROUP));
        list.set_id(0, self.posted);
        let posted = self.endpoint.pairs[0].qp.post_send(list, 0..1);
        posted.map_err(VerbsError::from).map_err(during(&self.label, "sending a message"))
    }

    fn reap(&mut self) -> Result<(), Reason> {
        let count = self.endpoint.sends[0].cq.poll(&mut self.completions);
        for completion in &self.completions[..count.map_err(during(&self.label, "taking completions"))?] {
            completion.check().map_err(during(&self.label, "sending a message"))?;
            self.completed = self.completed.max(completion.id());
        }
        Ok(())
    }

    fn in_time(&self, deadline: Instant) -> Result<(), Reason> {
        if Instant::now() < deadline {
            return Ok(());
        }
        let text = format!("{}: nothing moved for {} s", self.label, PATIENCE.as_secs());
        Err(Reason::new(Cause::IoError, text))
    }

    /// Bytes of the next message, if it is there.
    #[inline]
    fn next(&mut self) -> Result<Option<u64>, Reason> {
        let count = wait(&self.endpoint.receives[0], &mut self.completions[..1], &mut self.misses);
        if count.map_err(during(&self.label, "receiving a message"))? == 0 {
            return Ok(None);
        }
        let completion = self.completions[0];
        completion.check().map_err(during(&self.label, "receiving a message"))?;
        let posted =
            self.endpoint.pairs[0].qp.post_receive(&mut self.receives, 0..1).map_err(VerbsError::from);
        posted.map_err(during(&self.label, "posting a receive"))?;
        Ok(Some(u64::from(completion.bytes())))
    }

    /// Waits for a message of so many bytes.
    #[inline]
    fn take(&mut self, bytes: usize) -> Result<(), Reason> {
        let mut deadline = None;
        let mut looks = 0_u32;
        let came = loop {
            if let Some(came) = self.waiting.take() {
                break came;
            }
            if let Some(came) = self.next()? {
                break came;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) {
                self.reap()?;
                if self.is_closed() {
                    let text = format!("{}: the peer closed the connection", self.label);
                    return Err(Reason::new(Cause::PartnerLost, text));
                }
                self.in_time(*deadline.get_or_insert_with(|| Instant::now() + PATIENCE))?;
            }
        };
        if came != bytes as u64 {
            let text = format!("{}: a message of {came} B came in place of one of {bytes}", self.label);
            return Err(Reason::new(Cause::CorruptData, text));
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        match self.control.peek(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    fn region(&self) -> &MemoryRegion {
        &self.endpoint.region
    }
}

impl PingPongTransport for ByVerbs {
    /// One queue pair carries everything: it has learnt nothing on one size that would help the next.
    fn switch_to(&mut self, _: usize) -> Result<(), Reason> {
        Ok(())
    }

    fn wait(&mut self) -> Result<bool, Reason> {
        let mut looks = 0_u32;
        loop {
            self.waiting = self.next()?;
            if self.waiting.is_some() {
                return Ok(true);
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && self.is_closed() {
                return Ok(false);
            }
        }
    }

    fn tell(&mut self, bytes: &[u8]) -> Result<(), Reason> {
        let from = self.words;
        self.region().write(from, bytes).map_err(during(&self.label, "writing to its memory"))?;
        self.write(from, from + WORDS, bytes.len())
    }

    fn hear(&mut self, bytes: &mut [u8]) -> Result<(), Reason> {
        self.take(bytes.len())?;
        self.region().read(self.words + WORDS, bytes).map_err(during(&self.label, "reading its memory"))
    }

    #[inline]
    fn send(&mut self, _: &Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.write(message.start, message.start + self.apart, message.len())
    }

    #[inline]
    fn receive(&mut self, _: &mut Buffers, message: Range<usize>) -> Result<(), Reason> {
        self.take(message.len())
    }

    fn exchange(
        &mut self,
        memory: &mut Buffers,
        out: Range<usize>,
        into: Range<usize>,
    ) -> Result<(), Reason> {
        self.send(memory, out)?;
        self.receive(memory, into)
    }
}
