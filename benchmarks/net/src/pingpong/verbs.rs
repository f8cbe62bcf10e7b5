//! Messages by RDMA, without a copy on either side: each is written from one end's memory into the other's, with an
//! immediate value that announces it, or sent into memory that the other has posted, or announced by an empty write and
//! read by the other. Both ends walk through their memory in the same order, so each knows where the other expects the
//! next message.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;

use seatrial_model::{Case, Cause, Kind as SpecKind, ParamSpec, Params, PartPlacement, Reason};
use seatrial_sys::verbs::{
    Access, MemoryRegion, ReceiveList, Remote, SendList, Transport as Kind, Verb, VerbKind, VerbsError, Work,
    WorkCompletion,
};

use seatrial_bench::pingpong::{Buffers, PingPongTransport};
use seatrial_bench::verbs::{
    ConnectionInfo, Method, RdmaConfig, RdmaEndpoint, RemoteCompletion, SIGNAL_INTERVAL, SendQueue, Silence,
    during, preparing, silent, wait,
};
use seatrial_bench::{REPLY_TIMEOUT, setting_up};

/// Bytes at the end of the memory for data that is no message: as many to send from, and as many to receive into.
const WORDS: usize = 64;

/// What this end waits for, and what it does, as errors name it.
const AWAITED: &str = "data moved";
const SENDING: &str = "sending a message";

const RECEIVES: usize = 512;

/// The operation that carries the data of a message, from the parameter `operation`.
pub fn operation(params: &Params) -> VerbKind {
    match params.text(OPERATION.name) {
        Ok("read") => VerbKind::Read,
        Ok("send") => VerbKind::Send,
        _ => VerbKind::Write,
    }
}

pub const OPERATION: ParamSpec = ParamSpec::new("operation", SpecKind::Choice(&["write", "read", "send"]), "write").doc(
    "With transport=verbs: write: RDMA write with immediate; read: the receiver is notified and reads (RDMA read); send: \
     send to posted receives.",
);

/// Writes with immediate: the far end's completion queue announces them. Whatever carries the messages, commands use them.
const METHOD: Method = Method { verb: VerbKind::Write, remote_completion: RemoteCompletion::Cqe };

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

/// Requests of one operation, whose bytes they carry themselves or not.
struct Requests {
    inline: SendList,
    by_reference: SendList,
}

/// Where the data of a request is: the offset in this end's memory, that in the other's, and the number of bytes.
struct Span {
    own: usize,
    far: usize,
    bytes: usize,
}

/// A connected queue pair, and a TCP connection beside it that shows when the peer is gone.
pub struct ByVerbs {
    label: String,
    control: TcpStream,
    operation: VerbKind,
    writes: Requests,
    /// Those of `operation`.
    moves: Requests,
    inline: usize,
    receives: ReceiveList,
    /// Offset of received data from sent data.
    apart: usize,
    words: usize,
    sends: SendQueue,
    /// Bytes of a message that arrived before anybody waited for it.
    waiting: Option<u64>,
    received: [WorkCompletion; 1],
    misses: u32,
    // Dropped before the memory.
    endpoint: RdmaEndpoint,
}

impl ByVerbs {
    /// Posts the receives; must be called before the peer may send.
    pub fn listen(
        endpoint: &RdmaEndpoint,
        buffers: &Buffers,
        operation: VerbKind,
    ) -> Result<ReceiveList, Reason> {
        match operation {
            VerbKind::Send => endpoint.post_receives(buffers.apart(), buffers.largest() as u32),
            // Receives take no data: an RDMA write names its destination itself.
            _ => endpoint.post_receives(0, 1),
        }
    }

    pub fn connect(
        mut endpoint: RdmaEndpoint,
        receives: ReceiveList,
        theirs: &ConnectionInfo,
        control: TcpStream,
        buffers: &Buffers,
        operation: VerbKind,
    ) -> Result<Self, Reason> {
        endpoint.connect(theirs)?;
        let label = endpoint.config.label();
        control.set_nonblocking(true).map_err(setting_up)?;
        let inline = endpoint.pairs[0].qp.inline_bytes();
        let largest = buffers.largest().max(WORDS as u64) as u32;
        let requests = |operation: VerbKind| -> Result<Requests, Reason> {
            let list = |bytes: u32, inline: bool| {
                let work = Work { inline, ..work(operation, &endpoint.region, endpoint.remote(), 0, bytes) };
                SendList::new(&[work]).map_err(preparing(&label, "preparing requests"))
            };
            let may_inline = inline > 0 && operation != VerbKind::Read;
            Ok(Requests { inline: list(1, may_inline)?, by_reference: list(largest, false)? })
        };
        Ok(Self {
            writes: requests(VerbKind::Write)?,
            moves: requests(operation)?,
            operation,
            label,
            control,
            inline: inline as usize,
            receives,
            apart: buffers.apart(),
            words: endpoint.region.len().min(2 * buffers.apart() + 2 * WORDS) - 2 * WORDS,
            sends: SendQueue::new(&endpoint, 0, SIGNAL_INTERVAL, AWAITED),
            waiting: None,
            received: [WorkCompletion::default()],
            misses: 0,
            endpoint,
        })
    }

    pub fn facts(&self) -> serde_json::Value {
        serde_json::json!(self.endpoint.facts)
    }

    /// Writes `bytes` at offset `from` of this end's memory to offset `to` of the other end's, and announces them there.
    #[inline]
    fn write(&mut self, from: usize, to: usize, bytes: usize) -> Result<(), Reason> {
        self.await_room()?;
        let span = Span { own: from, far: to, bytes };
        post(&mut self.writes, &span, self.inline, &self.endpoint, &mut self.sends, false)
            .map_err(during(&self.label, SENDING))
    }

    /// Posts the request that carries a message.
    #[inline]
    fn post(&mut self, span: &Span, signalled: bool) -> Result<(), Reason> {
        self.await_room()?;
        if self.endpoint.config.fresh {
            return self.post_fresh(span);
        }
        post(&mut self.moves, span, self.inline, &self.endpoint, &mut self.sends, signalled)
            .map_err(during(&self.label, SENDING))
    }

    /// Registers the memory of the message for this request alone, and gives it back when the request is completed.
    fn post_fresh(&mut self, span: &Span) -> Result<(), Reason> {
        let failed = || during(&self.label, "registering the memory of a message");
        let access = if self.operation == VerbKind::Read { Access::ALL } else { Access::default() };
        let memory = self.endpoint.region.register_part(span.own, span.bytes, access).map_err(failed())?;
        let memory = Arc::new(memory);
        let Remote { address, key } = self.endpoint.remote();
        let far = Remote { address: address + span.far as u64, key };
        let work = work(self.operation, &memory, far, 0, span.bytes as u32);
        let mut list = SendList::new(&[work]).map_err(failed())?;
        self.sends.add(0, &mut list, 0, true);
        self.sends.post(0, &mut list, 0..1).map_err(during(&self.label, SENDING))?;
        self.await_idle()
    }

    fn await_room(&mut self) -> Result<(), Reason> {
        while self.sends.room(0) == 0 {
            self.sends.wait(SENDING, |_, _| Ok(()))?;
        }
        Ok(())
    }

    /// Waits until all requests are completed, of which the last must ask for a completion.
    fn await_idle(&mut self) -> Result<(), Reason> {
        while !self.sends.is_idle() {
            self.sends.wait(SENDING, |_, _| Ok(()))?;
        }
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<Option<u64>, Reason> {
        let count = wait(&self.endpoint.receives[0], &mut self.received, &mut self.misses);
        if count.map_err(during(&self.label, "receiving a message"))? == 0 {
            return Ok(None);
        }
        let [completion] = self.received;
        completion.check().map_err(during(&self.label, "receiving a message"))?;
        let posted =
            self.endpoint.pairs[0].qp.post_receive(&mut self.receives, 0..1).map_err(VerbsError::from);
        posted.map_err(during(&self.label, "posting a receive"))?;
        Ok(Some(u64::from(completion.bytes())))
    }

    #[inline]
    fn take(&mut self, bytes: usize) -> Result<(), Reason> {
        let (mut silence, mut looks) = (Silence::default(), 0_u32);
        let came = loop {
            if let Some(came) = self.waiting.take() {
                break came;
            }
            if let Some(came) = self.next()? {
                break came;
            }
            looks = looks.wrapping_add(1);
            if self.is_check_due(looks) {
                self.sends.poll(SENDING)?;
                if self.is_closed() {
                    let text = format!("{}: the peer closed the connection", self.label);
                    return Err(Reason::new(Cause::PartnerLost, text));
                }
                if silence.is_over(REPLY_TIMEOUT) {
                    return Err(silent(&self.label, AWAITED));
                }
            }
        };
        if came != bytes as u64 {
            let text = format!("{}: a message of {came} B arrived in place of one of {bytes} B", self.label);
            return Err(Reason::new(Cause::CorruptData, text));
        }
        Ok(())
    }

    fn is_check_due(&self, looks: u32) -> bool {
        self.endpoint.receives[0].is_check_due(looks)
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
    /// One queue pair carries all sizes: unlike TCP it adapts to no size.
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
            if self.is_check_due(looks) && self.is_closed() {
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
        match self.operation {
            // Announced only: the other end reads it.
            VerbKind::Read => self.write(message.start, message.start + self.apart, 0),
            _ => {
                let (own, far) = (message.start, message.start + self.apart);
                self.post(&Span { own, far, bytes: message.len() }, false)
            }
        }
    }

    #[inline]
    fn receive(&mut self, _: &mut Buffers, message: Range<usize>) -> Result<(), Reason> {
        if self.operation != VerbKind::Read {
            return self.take(message.len());
        }
        self.take(0)?;
        self.post(&Span { own: message.start, far: message.start - self.apart, bytes: message.len() }, true)?;
        self.await_idle()
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

fn work<'a>(
    operation: VerbKind,
    memory: &'a Arc<MemoryRegion>,
    far: Remote,
    offset: usize,
    bytes: u32,
) -> Work<'a> {
    let (verb, remote) = match operation {
        VerbKind::Send => (Verb::Send, None),
        VerbKind::Read => (Verb::Read, Some(far)),
        _ => (Verb::WriteImmediate(0), Some(far)),
    };
    Work { remote, ..Work::new(verb, memory, offset, bytes) }
}

#[inline]
fn post(
    requests: &mut Requests,
    span: &Span,
    inline: usize,
    endpoint: &RdmaEndpoint,
    sends: &mut SendQueue,
    signalled: bool,
) -> Result<(), VerbsError> {
    let list = if span.bytes > inline { &mut requests.by_reference } else { &mut requests.inline };
    list.aim_bytes(0, span.bytes as u32, span.own, endpoint.remote().address + span.far as u64);
    sends.add(0, list, 0, signalled);
    sends.post(0, list, 0..1)
}
