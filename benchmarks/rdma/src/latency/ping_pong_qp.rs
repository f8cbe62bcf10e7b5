//! Sends and receives one message at a time on one queue pair.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::verbs::{
    GRH_BYTES, MemoryRegion, ReceiveList, Remote, SendList, Transport, UdTarget, Verb, VerbKind, VerbsError,
    Work, WorkCompletion,
};

use seatrial_bench::REPLY_TIMEOUT;
use seatrial_bench::verbs::queue::Queue;
use seatrial_bench::verbs::{
    CAUSE_AFTER, Layout, Pair, QKEY, RdmaConfig, RdmaEndpoint, RemoteCompletion, SIGNAL_INTERVAL, SendQueue,
    Side, Silence, during, is_flush, preparing, silent, wait,
};

/// Polls of memory that cost as much as one of a completion queue, which is a call with a lock.
const MEMORY_LOOKS: u32 = 16;

/// Longest silence of the far end over unreliable transports, after which a message counts as lost.
const LOST_AFTER: Duration = Duration::from_millis(100);

/// What a request waits for, and what this end does, as errors name it.
const AWAITED: &str = "answer";
const POSTING: &str = "posting a request";
const SENDING: &str = "sending a message";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    pub bytes: u64,
    pub number: Option<u32>,
}

pub struct PingPongQp {
    config: RdmaConfig,
    label: String,
    pair: Pair,
    region: Arc<MemoryRegion>,
    layout: Layout,
    remote: Remote,
    remote_completion: RemoteCompletion,
    /// Offset of the last byte of a message in polled memory.
    watched: usize,
    sends: SendQueue,
    receives: Queue,
    lists: [SendList; 2],
    target: (usize, u64),
    /// Announces the size to a far end that polls memory.
    pub(super) sizes: Option<SendList>,
    posts: Option<ReceiveList>,
    /// Used receives that must be posted again.
    owed: u32,
    received: [WorkCompletion; 1],
    misses: u32,
}

impl PingPongQp {
    /// The first queue pair of the connected `endpoint`.
    pub fn new(endpoint: &RdmaEndpoint) -> Result<Self, Reason> {
        let label = endpoint.config.label();
        let failed = || preparing(&label, "preparing requests");
        let pair =
            endpoint.pairs.first().ok_or_else(|| Reason::new(Cause::Protocol, "no queue pair was made"))?;
        let lists =
            [list(endpoint, pair, true).map_err(failed())?, list(endpoint, pair, false).map_err(failed())?];
        let sizes = match endpoint.config.remote_completion() {
            RemoteCompletion::Polled => Some(size_list(endpoint, pair).map_err(failed())?),
            _ => None,
        };
        Ok(Self {
            config: endpoint.config.clone(),
            label: endpoint.config.label(),
            pair: pair.clone(),
            region: Arc::clone(&endpoint.region),
            layout: endpoint.layout,
            remote: endpoint.remote(),
            remote_completion: endpoint.config.remote_completion(),
            watched: (endpoint.layout.at(0, Side::In, 0) + endpoint.layout.stride) as usize - 1,
            sends: SendQueue::new(endpoint, 0, SIGNAL_INTERVAL, AWAITED),
            receives: endpoint.receives[0].clone(),
            lists,
            target: (0, 0),
            sizes,
            posts: None,
            owed: 0,
            received: [WorkCompletion::default()],
            misses: 0,
        })
    }

    pub fn receive_with(&mut self, list: ReceiveList) {
        self.posts = Some(list);
    }

    pub fn is_unreliable(&self) -> bool {
        self.config.transport != Transport::Rc
    }

    /// Sends a message of `bytes` with a number, or requests a read or atomic of `bytes`.
    #[inline]
    pub fn post_send(&mut self, bytes: u64, number: u32) -> Result<(), Reason> {
        while self.sends.room(0) == 0 {
            self.sends.wait(SENDING, |_, _| Ok(()))?;
        }
        if self.target.1 != bytes {
            self.set_target(bytes);
        }
        let list = &mut self.lists[self.target.0];
        if self.remote_completion == RemoteCompletion::Cqe {
            list.set_immediate(0, number);
        }
        // If the far end does not answer, the completion is the only sign of the end.
        self.sends.add(0, list, 0, self.remote_completion == RemoteCompletion::None);
        self.sends.post(0, list, 0..1).map_err(during(&self.label, POSTING))?;
        self.replenish()
    }

    /// Posts used receives again while the next message is in flight, so that no answer waits for it. Until then the
    /// receives posted beforehand serve messages.
    #[inline]
    fn replenish(&mut self) -> Result<(), Reason> {
        if let Some(list) = &mut self.posts {
            while self.owed > 0 {
                let posted = self.pair.qp.post_receive(list, 0..1).map_err(VerbsError::from);
                posted.map_err(during(&self.label, "posting a receive"))?;
                self.owed -= 1;
            }
        }
        Ok(())
    }

    fn set_target(&mut self, bytes: u64) {
        let is_inline = bytes <= u64::from(self.inline());
        let (local, remote) = self.places(bytes);
        self.target = (usize::from(!is_inline), bytes);
        self.lists[self.target.0].aim_bytes(0, bytes as u32, local, remote);
    }

    fn inline(&self) -> u32 {
        match (self.config.method.verb, self.config.inline) {
            (VerbKind::Read, _) => 0,
            (_, Some(most)) => self.pair.qp.inline_bytes().min(most as u32),
            (_, None) => self.pair.qp.inline_bytes(),
        }
    }

    /// Offsets of a message of `bytes` here and there. With polled memory its last byte is always the last of the
    /// slot.
    fn places(&self, bytes: u64) -> (usize, u64) {
        let (own, far) = match self.config.method.verb {
            VerbKind::Read => (Side::In, Side::Out),
            _ => (Side::Out, Side::In),
        };
        let into =
            if self.remote_completion == RemoteCompletion::Polled { self.layout.stride - bytes } else { 0 };
        let far = self.remote.address + self.layout.at(0, far, 0) + into;
        ((self.layout.at(0, own, 0) + into) as usize, far)
    }

    #[inline]
    pub fn done(&mut self) -> Result<(), Reason> {
        while !self.sends.is_idle() {
            self.sends.wait("a request", |_, _| Ok(()))?;
        }
        Ok(())
    }

    /// The next message; `None` if none arrives before it counts as lost.
    #[inline]
    pub fn wait_recv(&mut self) -> Result<Option<Received>, Reason> {
        let mut silence = Silence::default();
        let mut looks = 0_u32;
        loop {
            if let Some(received) = self.poll_recv()? {
                return Ok(Some(received));
            }
            looks += 1;
            if self.receives.is_check_due(looks) {
                self.sends.poll(SENDING)?;
                if silence.is_over(self.longest_silence()) {
                    return if self.is_unreliable() { Ok(None) } else { Err(silent(&self.label, AWAITED)) };
                }
            }
        }
    }

    #[inline]
    pub fn poll_recv(&mut self) -> Result<Option<Received>, Reason> {
        let count = wait(&self.receives, &mut self.received, &mut self.misses);
        if count.map_err(during(&self.label, "taking a message"))? == 0 {
            return Ok(None);
        }
        let [completion] = self.received;
        if let Err(error) = completion.check() {
            let error = during(&self.label, "taking a message")(error);
            return Err(self.cause(error));
        }
        let header = if self.config.transport == Transport::Ud { GRH_BYTES as u64 } else { 0 };
        let received = Received {
            bytes: u64::from(completion.bytes()).saturating_sub(header),
            number: completion.immediate(),
        };
        self.owed += u32::from(self.posts.is_some());
        Ok(Some(received))
    }

    /// The cause of an error. A flushed receive is only a consequence: the cause is in the send queue, or the other
    /// end reports it meanwhile.
    #[cold]
    fn cause(&mut self, error: Reason) -> Reason {
        let deadline = Instant::now() + CAUSE_AFTER;
        while is_flush(&error) && Instant::now() < deadline {
            match self.sends.poll(SENDING) {
                Err(cause) if !is_flush(&cause) => return cause,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        error
    }

    #[inline]
    pub fn mark(&self, mark: u8) {
        let at = (self.layout.at(0, Side::Out, 0) + self.layout.stride) as usize - 1;
        self.region.set_byte(at, mark);
    }

    #[inline]
    fn seen(&self) -> u8 {
        self.region.byte(self.watched)
    }

    /// Polls for a wanted mark; `None` after so many polls that the CPU should be yielded.
    #[inline]
    pub fn poll_once(&self, is_wanted: impl Fn(u8) -> bool) -> Option<u8> {
        (0..self.receives.patience * MEMORY_LOOKS).map(|_| self.seen()).find(|seen| is_wanted(*seen))
    }

    /// Waits for a mark; false if it does not arrive before it counts as lost.
    #[inline]
    pub fn await_mark(&mut self, mark: u8) -> Result<bool, Reason> {
        let mut silence = Silence::default();
        while self.poll_once(|seen| seen == mark).is_none() {
            self.sends.poll(SENDING)?;
            if silence.is_over(self.longest_silence()) {
                return if self.is_unreliable() { Ok(false) } else { Err(silent(&self.label, AWAITED)) };
            }
            std::thread::yield_now();
        }
        Ok(true)
    }

    /// Sends the announcement of the following messages to a far end that polls memory.
    pub fn announce(&mut self, word: u64) -> Result<(), Reason> {
        if let Some(list) = &mut self.sizes {
            self.region.set_word(self.layout.at(0, Side::Out, 0) as usize, word);
            self.sends.add(0, list, 0, true);
            self.sends.post(0, list, 0..1).map_err(during(&self.label, POSTING))?;
            self.done()?;
        }
        Ok(())
    }

    /// What the far end sent by [`Self::announce`].
    pub fn announced(&self) -> u64 {
        self.region.word(self.layout.at(0, Side::In, 0) as usize)
    }

    fn longest_silence(&self) -> Duration {
        if self.is_unreliable() { LOST_AFTER } else { REPLY_TIMEOUT }
    }
}

fn list(endpoint: &RdmaEndpoint, pair: &Pair, inline: bool) -> Result<SendList, VerbsError> {
    let config = &endpoint.config;
    let verb = match (config.method.verb, config.remote_completion(), config.transport) {
        (VerbKind::Write, RemoteCompletion::Cqe, _) => Verb::WriteImmediate(0),
        (VerbKind::Write, ..) => Verb::Write,
        (VerbKind::Read, ..) => Verb::Read,
        (VerbKind::Send, _, Transport::Rc) => Verb::Send,
        _ => Verb::SendImmediate(0),
    };
    let reads = config.method.verb == VerbKind::Read;
    let (own, far) = if reads { (Side::In, Side::Out) } else { (Side::Out, Side::In) };
    let address = endpoint.remote().address + endpoint.layout.at(0, far, 0);
    let is_aimed = config.method.verb != VerbKind::Send;
    let remote = is_aimed.then_some(Remote { address, key: endpoint.remote().key });
    let to = pair.handle.as_ref().map(|(handle, qp_number)| UdTarget {
        handle,
        qp_number: *qp_number,
        qkey: QKEY,
    });
    let bytes = if inline { 1 } else { config.largest() as u32 };
    let work = Work {
        remote,
        to,
        inline: inline && !reads && pair.qp.inline_bytes() > 0,
        solicited: config.event,
        ..Work::new(verb, &endpoint.region, endpoint.layout.at(0, own, 0) as usize, bytes)
    };
    SendList::new(&[work])
}

/// A write of the first word of the send slot to the first word of the far receive slot.
fn size_list(endpoint: &RdmaEndpoint, pair: &Pair) -> Result<SendList, VerbsError> {
    let address = endpoint.remote().address + endpoint.layout.at(0, Side::In, 0);
    let work = Work {
        remote: Some(Remote { address, key: endpoint.remote().key }),
        inline: pair.qp.inline_bytes() >= 8,
        ..Work::new(Verb::Write, &endpoint.region, endpoint.layout.at(0, Side::Out, 0) as usize, 8)
    };
    SendList::new(&[work])
}
