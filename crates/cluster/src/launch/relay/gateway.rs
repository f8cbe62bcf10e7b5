//! The controller's view of a gateway: the process that leads to a relay, and the nodes behind the relay.

use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, thread};

use super::envelope::{Down, Order, Receiver, Sender, Up, Word};
use crate::fleet::LaunchError;
use crate::launch::copying::Copying;
use crate::launch::link::{Heard, Loss};
use crate::launch::outgoing::{BEAT, MOST, Outgoing, Queue, send_all};
use crate::launch::process::Process;
use crate::launch::ssh::Share;
use crate::launch::startup::{Opening, same_build, tell_renewal};
use crate::launch::words::never_came;
use crate::message::{Command, PROTOCOL, Report};

pub(in crate::launch) struct RelayStart {
    pub(in crate::launch) opening: Opening,
    /// How to start the relay with a fresh copy of the binary.
    pub(in crate::launch) renewed: Opening,
    /// The nodes; the first is the gateway.
    pub(in crate::launch) share: Share,
}

/// The connection to a running relay. Dropping it ends all agents behind the relay.
pub(in crate::launch) struct Gateway {
    /// `None` once dropped.
    orders: Option<Queue<Down>>,
    shared: Arc<Shared>,
}

struct Shared {
    process: Mutex<Option<Process>>,
    copying: Mutex<Arc<Copying>>,
    /// Whether the relay has said `Ready` and got its share.
    is_ready: AtomicBool,
    is_dropped: AtomicBool,
    /// Of each child, whether it is gone or was ended.
    closed: Vec<AtomicBool>,
}

impl Gateway {
    /// Starts a relay of `build`. Messages of its children go to `heard` as of the links from `first` on.
    pub(in crate::launch) fn start(
        start: RelayStart,
        build: &str,
        first: usize,
        heard: SyncSender<Heard>,
    ) -> io::Result<Self> {
        let closed = start.share.children.iter().map(|_| AtomicBool::new(false)).collect();
        let shared = Arc::new(Shared {
            process: Mutex::new(None),
            copying: Mutex::default(),
            is_ready: AtomicBool::new(false),
            is_dropped: AtomicBool::new(false),
            closed,
        });
        let stuck = Arc::clone(&shared);
        let node = start.share.children.first().map(|own| own.node.clone()).unwrap_or_default();
        let name = node.clone();
        let most = MOST.saturating_mul(start.share.children.len());
        let (orders, outgoing) = Outgoing::new(most, move |why| {
            tracing::warn!("the gateway {name} is given up: {why}");
            stuck.end();
        });
        let ear = Ear { node, build: build.to_owned(), first, heard, shared: Arc::clone(&shared) };
        thread::Builder::new().name("gateway".to_owned()).spawn(move || ear.serve(start, outgoing))?;
        Ok(Self { orders: Some(orders), shared })
    }

    /// Queues a command for a child. A child that is gone ignores it.
    pub(in crate::launch) fn send(&self, child: u32, command: Command) {
        if !self.shared.is_closed(child) {
            self.put(Down::Command(child, command));
        }
    }

    /// Ends a child; ends the relay when it has no child left, or has not begun.
    pub(in crate::launch) fn close(&self, child: u32) {
        if self.shared.close(child) {
            return;
        }
        if self.is_ready() {
            self.put(Down::Order(Order::Close { child }));
        } else if self.shared.closed.iter().all(|closed| closed.load(Ordering::Acquire)) {
            self.shared.end();
        }
    }

    pub(in crate::launch) fn is_ready(&self) -> bool {
        self.shared.is_ready.load(Ordering::Acquire)
    }

    /// Progress of the copies to the relay and its children.
    pub(in crate::launch) fn copying(&self) -> Arc<Copying> {
        self.shared.copying()
    }

    /// Whether a child is gone, and the relay, which exits with its last child.
    pub(in crate::launch) fn has_ended(&self, child: u32) -> bool {
        // Locked only for a moment, when the end of the process is examined.
        let process = self.shared.process.try_lock();
        let ended = process.is_ok_and(|mut process| process.as_mut().is_none_or(Process::has_ended));
        self.shared.is_closed(child) && ended
    }

    fn put(&self, message: Down) {
        if let Some(orders) = &self.orders {
            orders.put(message);
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.is_dropped.store(true, Ordering::Release);
        self.orders = None;
        let process = self.shared.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(process);
    }
}

impl Shared {
    fn copying(&self) -> Arc<Copying> {
        Arc::clone(&self.copying.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_closed(&self, child: u32) -> bool {
        self.closed.get(child as usize).is_none_or(|closed| closed.load(Ordering::Acquire))
    }

    /// Marks a child as gone; returns whether it was gone before.
    fn close(&self, child: u32) -> bool {
        self.closed.get(child as usize).is_none_or(|closed| closed.swap(true, Ordering::AcqRel))
    }

    fn end(&self) {
        if let Some(process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            process.terminate();
        }
    }

    fn exit_report(&self) -> String {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_mut().map_or_else(|| "it was ended".to_owned(), Process::exit_report)
    }
}

struct Ear {
    node: String,
    build: String,
    first: usize,
    heard: SyncSender<Heard>,
    shared: Arc<Shared>,
}

type Streams = (Receiver<ChildStdout>, Sender<ChildStdin>);

impl Ear {
    fn serve(self, start: RelayStart, outgoing: Outgoing<Down>) {
        let copying = Arc::clone(&start.opening.copying);
        let opened = match self.open(start.opening) {
            Err(why) if copying.was_there() && !self.is_dropped() => {
                tell_renewal(&self.node, &why);
                self.open(start.renewed)
            }
            opened => opened,
        };
        let begun = opened.and_then(|(receiver, mut sender)| {
            let begun = sender.down(&Down::Order(Order::Serve(start.share.clone())));
            begun.map_err(|error| self.never_came(&format!("giving it its share: {error}")))?;
            let alive = Down::Order(Order::Alive);
            let send = move || send_all(&outgoing, Some((&alive, BEAT)), |message| sender.down(message));
            let started = thread::Builder::new().name("send".to_owned()).spawn(send);
            started.map_err(|error| self.never_came(&format!("starting a thread that sends: {error}")))?;
            Ok(receiver)
        });
        match begun {
            Ok(receiver) => {
                self.shared.is_ready.store(true, Ordering::Release);
                let why = self.pass_on(receiver);
                let is_all = self.shared.closed.iter().all(|closed| closed.load(Ordering::Acquire));
                if !is_all && !self.is_dropped() {
                    let why =
                        format!("its gateway {} was lost: {why}; {}", self.node, self.shared.exit_report());
                    self.lose_all(|_| Loss::Gateway(why.clone()));
                }
            }
            Err(why) => self.lose_all(|child| {
                let node = match start.share.children.get(child as usize) {
                    Some(other) if child > 0 => other.node.clone(),
                    _ => return Loss::NeverCame(why.clone()),
                };
                Loss::NeverCame(LaunchError::NoHello { node, why: format!("its gateway is missing: {why}") })
            }),
        }
    }

    /// Starts the relay and waits for `Ready`. The controller has a deadline for that and ends the relay.
    fn open(&self, opening: Opening) -> Result<Streams, LaunchError> {
        let Opening { mut command, manner, copying } = opening;
        *self.shared.copying.lock().unwrap_or_else(PoisonError::into_inner) = copying;
        let (process, mut pipes) = Process::start(&mut command)
            .map_err(|why| LaunchError::Start { node: self.node.clone(), why })?;
        let former = self.shared.process.lock().unwrap_or_else(PoisonError::into_inner).replace(process);
        drop(former);
        if self.is_dropped() {
            self.shared.end();
        }
        if let Some(preamble) = manner.preamble {
            preamble(&mut pipes.stdout, &mut pipes.stdin).map_err(|why| self.never_came(&why))?;
        }
        let mut receiver = Receiver(pipes.stdout);
        match receiver.up() {
            Ok(Some(Up::Word(Word::Ready { protocol, build }))) => {
                same_build((&build, protocol), (&self.build, PROTOCOL), &self.node)?;
                Ok((receiver, Sender(pipes.stdin)))
            }
            Ok(Some(other)) => Err(self.never_came(&format!("its first message is {other:?}"))),
            Ok(None) => Err(self.never_came("the agent closed its pipe")),
            Err(error) => Err(self.never_came(&format!("the connection to the agent broke: {error}"))),
        }
    }

    fn never_came(&self, why: &str) -> LaunchError {
        let why = format!("{why}; {}", self.shared.exit_report());
        never_came(self.node.clone(), why)
    }

    /// Passes on messages of the children until the relay ends; returns the reason.
    fn pass_on(&self, mut receiver: Receiver<ChildStdout>) -> String {
        loop {
            let (child, said) = match receiver.up() {
                Ok(Some(Up::Report(child, report))) if !self.shared.is_closed(child) => (child, Ok(report)),
                // A report of a child that was ended.
                Ok(Some(Up::Report(..))) => continue,
                Ok(Some(Up::Word(Word::Copying))) => {
                    self.shared.copying().went_on();
                    continue;
                }
                Ok(Some(Up::Word(Word::NeverCame { child, why }))) => (child, Err(Loss::NeverCame(why))),
                Ok(Some(Up::Word(Word::Lost { child, why }))) => (child, Err(Loss::Stream(why))),
                Ok(Some(Up::Word(Word::Ready { .. }))) => return "it said hello twice".to_owned(),
                Ok(None) => return "it closed its pipe".to_owned(),
                Err(error) if error.is_hang_up() => return format!("the connection broke: {error}"),
                Err(error) => return format!("it sent something that is not a message: {error}"),
            };
            if said.is_err() && self.shared.close(child) {
                continue;
            }
            if !self.hear(child, said) {
                return "no listener".to_owned();
            }
        }
    }

    fn lose_all(&self, loss: impl Fn(u32) -> Loss) {
        for child in 0..u32::try_from(self.shared.closed.len()).unwrap_or(u32::MAX) {
            if !self.shared.close(child) && !self.hear(child, Err(loss(child))) {
                return;
            }
        }
    }

    fn hear(&self, child: u32, said: Result<Report, Loss>) -> bool {
        self.heard.send(Heard { link: self.first + child as usize, said }).is_ok()
    }

    fn is_dropped(&self) -> bool {
        self.shared.is_dropped.load(Ordering::Acquire)
    }
}
