//! The relay process on a gateway.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver as Inbox, RecvTimeoutError, Sender as Sending, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use seatrial_sys::process::{leave_with_parent, name_thread};

use super::envelope::{Down, Order, Receiver, Sender, Up, Word};
use crate::frame::FrameError;
use crate::launch::copying::Copying;
use crate::launch::link::{Heard, Link};
use crate::launch::local::LocalLauncher;
use crate::launch::outgoing::{BEAT, Queue};
use crate::launch::ssh::{Client, HELLO_WITHIN, Share};
use crate::launch::startup::{AgentStartup, Gathered, Start};
use crate::message::{Command, PROTOCOL, Report};

type Children = Arc<Mutex<BTreeMap<u32, Queue<Command>>>>;

/// Serves a controller as the relay of a share of nodes, until all nodes are gone or the controller is silent for
/// `silence`.
pub(crate) fn relay_main(build: &str, silence: Option<Duration>, commands: File, reports: File) -> ExitCode {
    let _ = name_thread("seatrial-relay");
    match relay(build, silence, Receiver(commands), Sender(reports)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            tracing::error!("a relay cannot serve: {why}");
            ExitCode::FAILURE
        }
    }
}

fn relay(
    build: &str,
    silence: Option<Duration>,
    down: Receiver<File>,
    mut up: Sender<File>,
) -> Result<(), String> {
    let ready = Up::Word(Word::Ready { protocol: PROTOCOL, build: build.to_owned() });
    up.up(&ready).map_err(|error| format!("sending its hello: {error}"))?;
    let children = Children::default();
    let (life, lives) = mpsc::sync_channel(1);
    let (give, given) = mpsc::sync_channel(1);
    let known = Arc::clone(&children);
    let listen = move || listen(down, &give, &known, &life);
    let watch = move || {
        watch(&lives, silence);
        leave();
    };
    thread::Builder::new()
        .name("listen".to_owned())
        .spawn(listen)
        .and_then(|_| thread::Builder::new().name("watch".to_owned()).spawn(watch))
        .map_err(|error| format!("starting its threads: {error}"))?;
    // A controller that never sends the share is silent, which `watch` notices.
    let Ok(share) = given.recv() else { leave() };
    let starts = starts(build, &share).map_err(|error| format!("reading its own binary: {error}"))?;
    let copies = copies(&starts);
    let (done, is_done) = mpsc::channel();
    let tell = move || {
        tell_of_copies(&copies, &is_done, BEAT, &mut up);
        up
    };
    let telling = thread::Builder::new().name("tell".to_owned()).spawn(tell);
    let telling = telling.map_err(|error| format!("starting the thread that reports copies: {error}"))?;
    let mut gathering = AgentStartup::new(build, HELLO_WITHIN);
    gathering.start_all(starts);
    drop::<Sending<()>>(done);
    let mut up = telling.join().map_err(|_| "the thread that reports copies failed".to_owned())?;
    if let Err(error) = pass_on(gathering.part(), &share, &children, &mut up) {
        tracing::debug!("the controller is gone: {error}");
        leave();
    }
    Ok(())
}

/// Exits at once: all pipes close, so that the local agent reads end of file, and the kernel signals the clients of
/// other nodes.
#[expect(clippy::exit, reason = "the main thread may be waiting for agents that come late or never")]
fn leave() -> ! {
    std::process::exit(0)
}

/// The agent of this node is a child; agents of other nodes are reached as the controller would reach them.
fn starts(build: &str, share: &Share) -> std::io::Result<Vec<Start>> {
    let client = Client::new(share.client.clone(), build)?;
    let mut starts = Vec::new();
    for (at, child) in share.children.iter().enumerate() {
        if at == 0 {
            let here = LocalLauncher::new(build).node(&child.node);
            let here = child.sysroot.iter().fold(here, LocalLauncher::sysroot);
            starts.push(Start::of(child.node.clone(), here.agent()));
        } else {
            let mut start = client.start(child);
            for opening in [Some(&mut start.opening), start.renewed.as_mut()].into_iter().flatten() {
                // The parent-death signal ties them to the thread that starts them, this one.
                leave_with_parent(&mut opening.command);
            }
            starts.push(start);
        }
    }
    Ok(starts)
}

fn copies(starts: &[Start]) -> Vec<Arc<Copying>> {
    let openings = starts.iter().flat_map(|start| std::iter::once(&start.opening).chain(&start.renewed));
    openings.map(|opening| Arc::clone(&opening.copying)).collect()
}

/// Reports progress of copies to the controller, so that its deadlines wait, while a child is awaited.
fn tell_of_copies(
    copies: &[Arc<Copying>],
    is_done: &Inbox<()>,
    every: Duration,
    up: &mut Sender<impl Write>,
) {
    let mut told = None;
    while is_done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let moved = copies.iter().filter_map(|copying| copying.moved()).max();
        // The reading thread notices a controller that is gone.
        if moved > told && up.up(&Up::Word(Word::Copying)).is_ok() {
            told = moved;
        }
    }
}

/// Returns when the controller was silent for `silence`, or its stream ended.
fn watch(lives: &Inbox<()>, silence: Option<Duration>) {
    match silence {
        Some(silence) => while lives.recv_timeout(silence).is_ok() {},
        None => while lives.recv().is_ok() {},
    }
}

/// Passes commands to the children, without blocking on one.
fn listen(
    mut down: Receiver<impl Read>,
    give: &SyncSender<Share>,
    children: &Children,
    life: &SyncSender<()>,
) {
    loop {
        let said = down.down();
        let _ = life.try_send(());
        let children = children.lock().unwrap_or_else(PoisonError::into_inner);
        match said {
            Ok(Some(Down::Command(child, command))) => {
                if let Some(queue) = children.get(&child) {
                    queue.put(command);
                }
            }
            Ok(Some(Down::Order(Order::Close { child }))) => {
                if let Some(queue) = children.get(&child) {
                    queue.give_up("the controller does not want it any more".to_owned());
                }
            }
            Ok(Some(Down::Order(Order::Alive))) => {}
            Ok(Some(Down::Order(Order::Serve(share)))) => {
                if give.try_send(share).is_err() {
                    tracing::error!("a relay was given a second share");
                }
            }
            Ok(None) => return,
            Err(error) => return tracing::debug!("the controller is gone: {error}"),
        }
    }
}

/// Passes on messages of the children until none is left.
fn pass_on(
    gathered: Gathered,
    share: &Share,
    children: &Children,
    up: &mut Sender<impl Write>,
) -> Result<(), FrameError> {
    let Gathered { here, missing, heard, hear: _hear } = gathered;
    let numbers: BTreeMap<&str, u32> =
        share.children.iter().zip(0..).map(|(child, number)| (child.node.as_str(), number)).collect();
    for missing in missing {
        if let Some(&child) = numbers.get(missing.node.as_str()) {
            up.up(&Up::Word(Word::NeverCame { child, why: missing.why }))?;
        }
    }
    let mut open: BTreeMap<usize, (u32, Link)> = BTreeMap::new();
    for agent in here {
        let Some(&child) = numbers.get(agent.node.as_str()) else { continue };
        if let Some(queue) = agent.link.commands() {
            children.lock().unwrap_or_else(PoisonError::into_inner).insert(child, queue);
        }
        open.insert(agent.at, (child, agent.link));
        say(up, child, Report::Hello(Box::new(agent.hello)))?;
    }
    while !open.is_empty() {
        let Ok(Heard { link, said }) = heard.recv() else { return Ok(()) };
        let Some((child, _)) = open.get(&link) else { continue };
        let child = *child;
        match said {
            Ok(report) => say(up, child, report)?,
            Err(loss) => {
                children.lock().unwrap_or_else(PoisonError::into_inner).remove(&child);
                let why = loss.text();
                let why = open.remove(&link).map_or(why.clone(), |(_, mut link)| link.exit_report(&why));
                up.up(&Up::Word(Word::Lost { child, why }))?;
            }
        }
    }
    Ok(())
}

fn say(up: &mut Sender<impl Write>, child: u32, report: Report) -> Result<(), FrameError> {
    match up.up(&Up::Report(child, report)) {
        Err(error) if !error.is_hang_up() => {
            let why = format!("its report cannot be passed on: {error}");
            up.up(&Up::Word(Word::Lost { child, why }))
        }
        sent => sent,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::launch::outgoing::{Outgoing, send_all};
    use crate::launch::ssh::Child;
    use crate::message::WorkerId;

    const SOON: Duration = Duration::from_secs(60);

    fn heard(orders: &[Down], children: &Children) -> (Inbox<Share>, Inbox<()>) {
        let mut bytes = Sender(Vec::new());
        for order in orders {
            bytes.down(order).expect("fits");
        }
        let (give, given) = mpsc::sync_channel(1);
        let (life, lives) = mpsc::sync_channel(1);
        listen(Receiver(&bytes.0[..]), &give, children, &life);
        (given, lives)
    }

    #[test]
    fn each_child_gets_its_own_commands_and_those_of_others_go_nowhere() {
        let children = Children::default();
        let queues: Vec<_> = (0..2).map(|_| Outgoing::new(9, |why| panic!("{why}"))).collect();
        for (child, (queue, _)) in (0..).zip(&queues) {
            children.lock().expect("whole").insert(child, queue.clone());
        }
        let kill = |worker| Command::Kill { worker: WorkerId(worker) };
        let share = Share {
            client: vec!["ssh".into()],
            children: vec![Child { node: "n1".to_owned(), sysroot: None }],
        };
        let orders = [
            Down::Order(Order::Serve(share.clone())),
            Down::Command(1, kill(10)),
            Down::Command(0, kill(11)),
            Down::Order(Order::Alive),
            Down::Command(7, kill(12)),
            Down::Command(1, kill(13)),
        ];
        let (given, _) = heard(&orders, &children);
        assert_eq!(given.try_recv(), Ok(share));
        children.lock().expect("whole").clear();
        let got = queues.into_iter().map(|(queue, outgoing)| {
            drop(queue);
            let mut got = Vec::new();
            send_all(&outgoing, None, |command| {
                got.push(command.clone());
                Ok(())
            });
            got
        });
        assert_eq!(got.collect::<Vec<_>>(), [vec![kill(11)], vec![kill(10), kill(13)]]);
    }

    #[test]
    fn a_child_that_nobody_wants_is_given_up() {
        let children = Children::default();
        let (told, tells) = channel();
        let (queue, _outgoing) = Outgoing::new(9, move |why| told.send(why).expect("heard"));
        children.lock().expect("whole").insert(3, queue);
        heard(&[Down::Order(Order::Close { child: 4 }), Down::Order(Order::Close { child: 3 })], &children);
        let why = tells.recv_timeout(SOON).expect("told");
        assert!(why.contains("does not want it"), "{why}");
    }

    /// Stores written bytes, and signals each write.
    struct Told(Vec<u8>, Sending<()>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            let _ = self.1.send(());
            Ok(())
        }
    }

    #[test]
    fn a_copy_is_told_of_when_it_has_moved_and_not_when_it_stands_still() {
        let copies: Vec<Arc<Copying>> = vec![Arc::default(), Arc::default()];
        let (done, is_done) = channel();
        let (wrote, written) = channel();
        let known = copies.clone();
        let telling = thread::spawn(move || {
            let mut up = Sender(Told(Vec::new(), wrote));
            tell_of_copies(&known, &is_done, Duration::from_millis(1), &mut up);
            up.0.0
        });
        for copying in &copies {
            copying.sent(7, 9);
            written.recv_timeout(SOON).expect("told");
        }
        // Many polls find nothing new.
        assert!(written.recv_timeout(Duration::from_millis(20)).is_err(), "told again");
        drop::<Sending<()>>(done);
        let bytes = telling.join().expect("ended");
        let mut told = Receiver(&bytes[..]);
        let words: Vec<Up> = std::iter::from_fn(|| told.up().expect("whole")).collect();
        assert_eq!(words, [Up::Word(Word::Copying), Up::Word(Word::Copying)]);
    }

    #[test]
    fn silence_and_the_end_of_the_pipe_both_end_the_watch() {
        let (life, lives) = mpsc::sync_channel(1);
        watch(&lives, Some(Duration::from_millis(1)));
        life.send(()).expect("room");
        drop(life);
        watch(&lives, Some(SOON));
        watch(&lives, None);
    }
}
