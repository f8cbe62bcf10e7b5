//! Sending and receiving one message at a time on one queue pair.

use std::sync::Arc;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason};
use seatrial_sys::verbs::{
    GRH_BYTES, MemoryRegion, ReceiveList, ReceiveWork, Remote, SendList, Transport, UdTarget, Verb, VerbKind,
    VerbsError, Work, WorkCompletion,
};

use seatrial_bench::verbs::queue::Queue;
use seatrial_bench::verbs::{
    CAUSE_AFTER, Layout, Pair, QKEY, RdmaConfig, RdmaEndpoint, RemoteCompletion, Side, during, is_flush,
    preparing, wait,
};

/// Every so many messages one asks for a completion, so that the send queue does not fill up.
const GROUP: u64 = 16;

/// Looks in vain between two looks at the clock and at the send queue.
const LOOKS: u32 = 1024;

/// Looks at memory that cost as much as one at a completion queue, which is a call with a lock.
const MEMORY_LOOKS: u32 = 16;

/// How long the far end may be silent over a reliable connection.
const SILENCE: Duration = Duration::from_secs(5);

/// The same over the others, before a message counts as lost.
const LOST_AFTER: Duration = Duration::from_millis(100);

/// How long nothing has come, from the first look at the clock on. That is not taken before many looks were in vain: a
/// message that comes in time would pay for it.
#[derive(Default)]
struct Silence {
    since: Option<Instant>,
}

impl Silence {
    /// Whether it is longer than that.
    #[cold]
    fn is_over(&mut self, longest: Duration) -> bool {
        let now = Instant::now();
        now.duration_since(*self.since.get_or_insert(now)) > longest
    }
}

/// A message as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    pub bytes: u64,
    /// Its number, where it carries one.
    pub number: Option<u32>,
}

/// The queue pair of one end of a ping-pong.
pub struct PingPongQp {
    config: RdmaConfig,
    label: String,
    pair: Pair,
    region: Arc<MemoryRegion>,
    layout: Layout,
    remote: Remote,
    /// How the far end learns of a message: fixed by the configuration, and asked for with every message.
    remote_completion: RemoteCompletion,
    /// Where messages of memory are looked at: their last byte.
    watched: usize,
    sends: Queue,
    receives: Queue,
    /// For messages that are put into the request, and for others.
    lists: [SendList; 2],
    /// The list for messages of the size that was sent last, and that size.
    target: (usize, u64),
    /// Tells the far end the size, where it looks at memory.
    sizes: Option<SendList>,
    posts: Option<ReceiveList>,
    /// Receives that messages took and that are to be posted again.
    owed: u32,
    posted: u64,
    completed: u64,
    completions: [WorkCompletion; 16],
    misses: u32,
}

impl PingPongQp {
    /// The first queue pair of `endpoint`, which is connected.
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
            remote: endpoint.remote,
            remote_completion: endpoint.config.remote_completion(),
            watched: (endpoint.layout.at(0, Side::In, 0) + endpoint.layout.stride) as usize - 1,
            sends: endpoint.sends[0].clone(),
            receives: endpoint.receives[0].clone(),
            lists,
            target: (0, 0),
            sizes,
            posts: None,
            owed: 0,
            posted: 0,
            completed: 0,
            completions: [WorkCompletion::default(); 16],
            misses: 0,
        })
    }

    /// Posts the receives; before the far end may send.
    pub fn post_receives(endpoint: &RdmaEndpoint) -> Result<ReceiveList, Reason> {
        let label = endpoint.config.label();
        let at = endpoint.layout.at(0, Side::In, 0) as usize;
        let work =
            ReceiveWork { id: 0, memory: &endpoint.region, offset: at, bytes: endpoint.layout.stride as u32 };
        let mut list = ReceiveList::new(&[work]).map_err(preparing(&label, "preparing receives"))?;
        for _ in 0..endpoint.config.receives {
            let posted = endpoint.pairs[0].qp.post_receive(&mut list, 0..1).map_err(VerbsError::from);
            posted.map_err(preparing(&label, "posting receives"))?;
        }
        Ok(list)
    }

    /// Takes over the receives that [`Self::post_receives`] posted.
    pub fn receive_with(&mut self, list: ReceiveList) {
        self.posts = Some(list);
    }

    /// Whether a message may get lost.
    pub fn is_unreliable(&self) -> bool {
        self.config.transport != Transport::Rc
    }

    /// Sends a message of so many bytes with a number, or asks for so many.
    #[inline]
    pub fn post_send(&mut self, bytes: u64, number: u32) -> Result<(), Reason> {
        while self.posted - self.completed >= self.config.depth as u64 {
            self.reap()?;
        }
        if self.target.1 != bytes {
            self.set_target(bytes);
        }
        let list = &mut self.lists[self.target.0];
        if self.remote_completion == RemoteCompletion::Cqe {
            list.set_immediate(0, number);
        }
        self.posted += 1;
        // Where the far end does not answer, the completion is all that tells of the end.
        list.set_signalled(
            0,
            self.remote_completion == RemoteCompletion::None || self.posted.is_multiple_of(GROUP),
        );
        list.set_id(0, self.posted);
        let posted = self.pair.qp.post_send(list, 0..1).map_err(VerbsError::from);
        posted.map_err(during(&self.label, "posting a request"))?;
        self.replenish()
    }

    /// Posts the receives that messages took: while the next message is under way, so that no answer waits for it. What
    /// was posted beforehand takes what comes meanwhile.
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

    /// Makes a request of so many bytes.
    fn set_target(&mut self, bytes: u64) {
        let is_inline = bytes <= u64::from(self.inline());
        let (local, remote) = self.places(bytes);
        self.target = (usize::from(!is_inline), bytes);
        let list = &mut self.lists[self.target.0];
        // At no step may it reach beyond the memory, whatever it was before.
        list.set_bytes(0, 1);
        list.aim(0, local, remote);
        list.set_bytes(0, bytes as u32);
    }

    fn inline(&self) -> u32 {
        match (self.config.method.verb, self.config.inline) {
            (VerbKind::Read, _) => 0,
            (_, Some(most)) => self.pair.qp.inline_bytes().min(most as u32),
            (_, None) => self.pair.qp.inline_bytes(),
        }
    }

    /// Where a message of so many bytes lies here and there. Where the far end looks at memory, its last byte is always
    /// in the same place, at the end of the slot.
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

    /// Takes completions of requests.
    fn reap(&mut self) -> Result<bool, Reason> {
        let count =
            self.sends.cq.poll(&mut self.completions).map_err(during(&self.label, "taking completions"))?;
        for at in 0..count {
            let completion = self.completions[at];
            completion.check().map_err(during(&self.label, "sending a message"))?;
            self.completed = self.completed.max(completion.id());
        }
        Ok(count > 0)
    }

    /// Waits until the last request is done.
    #[inline]
    pub fn done(&mut self) -> Result<(), Reason> {
        let mut silence = Silence::default();
        let mut looks = 0_u32;
        while self.completed < self.posted {
            let count = wait(&self.sends, &mut self.completions, &mut self.misses);
            let count = count.map_err(during(&self.label, "taking completions"))?;
            for at in 0..count {
                let completion = self.completions[at];
                completion.check().map_err(during(&self.label, "a request"))?;
                self.completed = self.completed.max(completion.id());
            }
            looks += 1;
            // A look by events sleeps.
            if (self.config.event || looks.is_multiple_of(LOOKS)) && silence.is_over(SILENCE) {
                return Err(self.silent());
            }
        }
        Ok(())
    }

    /// The next message; none when none came for so long that it counts as lost.
    #[inline]
    pub fn wait_recv(&mut self) -> Result<Option<Received>, Reason> {
        let mut silence = Silence::default();
        let mut looks = 0_u32;
        loop {
            if let Some(received) = self.poll_recv()? {
                return Ok(Some(received));
            }
            looks += 1;
            if self.config.event || looks.is_multiple_of(LOOKS) {
                self.reap()?;
                if silence.is_over(self.longest_silence()) {
                    return if self.is_unreliable() { Ok(None) } else { Err(self.silent()) };
                }
            }
        }
    }

    /// The next message, if one is there.
    #[inline]
    pub fn poll_recv(&mut self) -> Result<Option<Received>, Reason> {
        let count = wait(&self.receives, &mut self.completions[..1], &mut self.misses);
        if count.map_err(during(&self.label, "taking a message"))? == 0 {
            return Ok(None);
        }
        let completion = self.completions[0];
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

    /// What an error follows from. A receive that is flushed was in nobody's way: the cause stands among the requests,
    /// or the other end tells it in the meantime.
    #[cold]
    fn cause(&mut self, error: Reason) -> Reason {
        let deadline = Instant::now() + CAUSE_AFTER;
        while is_flush(&error) && Instant::now() < deadline {
            match self.reap() {
                Err(cause) if !is_flush(&cause) => return cause,
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        error
    }

    /// Puts a mark at the end of what will be sent.
    #[inline]
    pub fn mark(&self, mark: u8) {
        let at = (self.layout.at(0, Side::Out, 0) + self.layout.stride) as usize - 1;
        self.region.set_byte(at, mark);
    }

    /// The mark at the end of what came last.
    #[inline]
    fn seen(&self) -> u8 {
        self.region.byte(self.watched)
    }

    /// Looks at that mark until it is the wanted one; none after so many looks in vain that the processor is to be
    /// offered to others.
    #[inline]
    pub fn poll_once(&self, is_wanted: impl Fn(u8) -> bool) -> Option<u8> {
        (0..self.sends.patience * MEMORY_LOOKS).map(|_| self.seen()).find(|seen| is_wanted(*seen))
    }

    /// Waits for a mark; false when it did not come for so long that it counts as lost.
    #[inline]
    pub fn await_mark(&mut self, mark: u8) -> Result<bool, Reason> {
        let mut silence = Silence::default();
        while self.poll_once(|seen| seen == mark).is_none() {
            self.reap()?;
            if silence.is_over(self.longest_silence()) {
                return if self.is_unreliable() { Ok(false) } else { Err(self.silent()) };
            }
            std::thread::yield_now();
        }
        Ok(true)
    }

    /// Tells the far end, which looks at memory, of what size messages are from now on.
    pub fn send_size(&mut self, bytes: u64) -> Result<(), Reason> {
        if let Some(list) = &mut self.sizes {
            self.region.set_word(self.layout.at(0, Side::Out, 0) as usize, bytes);
            self.posted += 1;
            list.set_signalled(0, true);
            list.set_id(0, self.posted);
            let posted = self.pair.qp.post_send(list, 0..1).map_err(VerbsError::from);
            posted.map_err(during(&self.label, "posting a request"))?;
            self.done()?;
        }
        Ok(())
    }

    /// What the far end told by [`Self::send_size`].
    pub fn received_size(&self) -> u64 {
        self.region.word(self.layout.at(0, Side::In, 0) as usize)
    }

    /// How long nothing may come.
    fn longest_silence(&self) -> Duration {
        if self.is_unreliable() { LOST_AFTER } else { SILENCE }
    }

    fn silent(&self) -> Reason {
        let text = format!(
            "{}: no answer came for {} s: the peer or the path is silent",
            self.label,
            SILENCE.as_secs()
        );
        Reason::new(Cause::IoError, text)
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
    let address = endpoint.remote.address + endpoint.layout.at(0, far, 0);
    let is_aimed = config.method.verb != VerbKind::Send;
    let remote = is_aimed.then_some(Remote { address, key: endpoint.remote.key });
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

/// Writes the word at the beginning of what is sent to the beginning of what comes there.
fn size_list(endpoint: &RdmaEndpoint, pair: &Pair) -> Result<SendList, VerbsError> {
    let address = endpoint.remote.address + endpoint.layout.at(0, Side::In, 0);
    let work = Work {
        remote: Some(Remote { address, key: endpoint.remote.key }),
        inline: pair.qp.inline_bytes() >= 8,
        ..Work::new(Verb::Write, &endpoint.region, endpoint.layout.at(0, Side::Out, 0) as usize, 8)
    };
    SendList::new(&[work])
}
