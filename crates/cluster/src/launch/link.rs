//! The connection to one agent: a stream of frames each way, and the local process if there is one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

use super::outgoing::{BEAT, MOST, Outgoing, Queue, send_all};
use super::process::Process;
use super::relay::Gateway;
use crate::fleet::LaunchError;
use crate::frame::{FrameReader, FrameWriter};
use crate::message::{self, Report};

/// A report from an agent's stream, or why no more will come.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) link: usize,
    pub(super) said: Result<Report, Loss>,
}

impl Heard {
    /// Wakes the waiter without an event.
    pub(super) fn nothing() -> Self {
        Self { link: usize::MAX, said: Err(Loss::Stream(String::new())) }
    }
}

#[derive(Debug)]
pub(super) enum Loss {
    Stream(String),
    /// Why the gateway of the agent, and with it all agents behind it, is gone.
    Gateway(String),
    /// Reported by a relay: the agent did not start.
    NeverCame(LaunchError),
}

impl Loss {
    pub(super) fn text(self) -> String {
        match self {
            Self::Stream(why) | Self::Gateway(why) => why,
            Self::NeverCame(why) => why.to_string(),
        }
    }
}

/// Runs before the first frame, on the thread that then reads frames, since it may block on the node.
pub(super) type Preamble = Box<dyn FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), String> + Send>;

/// The connection to a running agent. Dropping it ends the agent and its workers.
pub(super) struct Link {
    near: Near,
    commands: Option<Queue<message::Command>>,
}

enum Near {
    /// The agent itself, or a client such as ssh that leads to it.
    Process(Process),
    /// A connection that the agent opened, and whether the agent has closed it.
    Stream(TcpStream, Arc<AtomicBool>),
    /// Child number of a relay.
    Relayed(Arc<Gateway>, u32),
}

#[derive(Default)]
pub(super) struct Manner {
    pub(super) preamble: Option<Preamble>,
    /// Whether the agent exits after long silence, so that it needs signs of life.
    pub(super) signs_of_life: bool,
}

/// Write half of a connection. Dropping it is the agent's end of file, as with a pipe.
struct WriteHalf(TcpStream);

impl Write for WriteHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Link {
    /// Starts an agent with `command`. Its messages go to `heard`, which is bounded, so that a busy controller slows
    /// its agents and does not fill its memory.
    pub(super) fn start(
        link: usize,
        command: &mut Command,
        manner: Manner,
        heard: SyncSender<Heard>,
    ) -> Result<Self, String> {
        let (process, pipes) = Process::start(command)?;
        let commands = serve(link, pipes.stdout, pipes.stdin, manner, heard, Arc::default())
            .map_err(|error| format!("starting the threads that serve it: {error}"))?;
        Ok(Self { near: Near::Process(process), commands: Some(commands) })
    }

    pub(super) fn adopt(link: usize, stream: TcpStream, heard: SyncSender<Heard>) -> io::Result<Self> {
        let (read, write) = (stream.try_clone()?, WriteHalf(stream.try_clone()?));
        let closed = Arc::new(AtomicBool::new(false));
        let commands = serve(link, read, write, Manner::default(), heard, Arc::clone(&closed))?;
        Ok(Self { near: Near::Stream(stream, closed), commands: Some(commands) })
    }

    pub(super) fn relayed(gateway: Arc<Gateway>, child: u32) -> Self {
        Self { near: Near::Relayed(gateway, child), commands: None }
    }

    /// Queues a command; an agent that is gone ignores it.
    pub(super) fn send(&self, command: message::Command) {
        match (&self.commands, &self.near) {
            (Some(commands), _) => commands.put(command),
            (None, Near::Relayed(gateway, child)) => gateway.send(*child, command),
            (None, _) => {}
        }
    }

    /// The command queue, for a thread that only sends.
    pub(super) fn commands(&self) -> Option<Queue<message::Command>> {
        self.commands.clone()
    }

    /// Asks the agent to exit and closes its input.
    pub(super) fn quit(&mut self) {
        self.send(message::Command::Quit);
        self.commands = None;
    }

    /// Whether the process has ended, or the agent has closed its connection.
    pub(super) fn has_ended(&mut self) -> bool {
        match &mut self.near {
            Near::Process(process) => process.has_ended(),
            Near::Stream(_, closed) => closed.load(Ordering::Acquire),
            Near::Relayed(gateway, child) => gateway.has_ended(*child),
        }
    }

    pub(super) fn gateway(&self) -> Option<(&Gateway, u32)> {
        match &self.near {
            Near::Relayed(gateway, child) => Some((gateway, *child)),
            Near::Process(_) | Near::Stream(..) => None,
        }
    }

    pub(super) fn exit_report(&mut self, why: &str) -> String {
        self.commands = None;
        match &mut self.near {
            Near::Process(process) => format!("{why}; {}", process.exit_report()),
            Near::Stream(stream, _) => {
                let _ = stream.shutdown(Shutdown::Both);
                why.to_owned()
            }
            // A relay includes all it knows in the loss report.
            Near::Relayed(gateway, child) => {
                gateway.close(*child);
                why.to_owned()
            }
        }
    }
}

/// Starts the two threads of a link: reader (after the preamble) and writer.
fn serve(
    link: usize,
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    manner: Manner,
    heard: SyncSender<Heard>,
    closed: Arc<AtomicBool>,
) -> io::Result<Queue<message::Command>> {
    let complaints = heard.clone();
    let stuck = move |why| _ = complaints.send(Heard { link, said: Err(Loss::Stream(why)) });
    let (commands, queue) = Outgoing::new(MOST, stuck);
    thread::Builder::new().name("hear".to_owned()).spawn(move || {
        let begun = manner.preamble.map_or(Ok(()), |preamble| preamble(&mut from, &mut to));
        let begun = begun.and_then(|()| {
            let mut frames = FrameWriter::new(to);
            let alive = manner.signs_of_life.then_some((&message::Command::Alive, BEAT));
            let send = move || send_all(&queue, alive, |command| frames.write(command));
            let started = thread::Builder::new().name("send".to_owned()).spawn(send);
            started.map(drop).map_err(|error| format!("starting a thread that sends: {error}"))
        });
        match begun {
            Ok(()) => hear_all(link, FrameReader::new(from), &heard),
            Err(why) => _ = heard.send(Heard { link, said: Err(Loss::Stream(why)) }),
        }
        closed.store(true, Ordering::Release);
    })?;
    Ok(commands)
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Near::Stream(stream, _) = &self.near {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn hear_all(link: usize, mut frames: FrameReader<impl Read>, heard: &SyncSender<Heard>) {
    loop {
        let said = match frames.read::<Report>() {
            Ok(Some(report)) => Ok(report),
            Ok(None) => Err("the agent closed its pipe".to_owned()),
            Err(error) if error.is_hang_up() => Err(format!("the connection to the agent broke: {error}")),
            Err(error) => Err(format!("the agent sent something that is not a message: {error}")),
        };
        let last = said.is_err();
        if heard.send(Heard { link, said: said.map_err(Loss::Stream) }).is_err() || last {
            return;
        }
    }
}
