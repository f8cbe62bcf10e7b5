//! One agent as its controller holds it: a stream of frames each way, and the process at the near end if there is one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use super::process::Process;
use crate::frame::{FrameReader, FrameWriter};
use crate::message::{self, Report};

/// What came from an agent's stream: a report, or why there will be none.
pub(super) struct Heard {
    /// The link, by its position.
    pub(super) link: usize,
    pub(super) said: Result<Report, String>,
}

/// What is exchanged before the first frame, by the thread that then reads the frames: it may wait for the far end.
pub(super) type Preamble = Box<dyn FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), String> + Send>;

/// A running agent. Dropping it ends the connection, and with it the agent and its workers.
pub(super) struct Link {
    near: Near,
    commands: Option<Sender<message::Command>>,
}

/// What we hold of the connection.
enum Near {
    /// The agent, or a client such as ssh that leads to it.
    Process(Process),
    /// A connection that the agent opened to us, and whether its other end has closed it.
    Stream(TcpStream, Arc<AtomicBool>),
}

/// The half of a connection that commands go out on. Its end is the agent's end of file, as with a pipe.
struct Outgoing(TcpStream);

impl Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Link {
    /// Starts an agent with `command`; what it says goes to `heard`, which is bounded, so that a controller that is
    /// busy slows its agents instead of filling up.
    ///
    /// # Errors
    /// What was tried and what the system answered.
    pub(super) fn start(
        link: usize,
        command: &mut Command,
        preamble: Option<Preamble>,
        heard: SyncSender<Heard>,
    ) -> Result<Self, String> {
        let (process, pipes) = Process::start(command)?;
        let commands = serve(link, pipes.stdout, pipes.stdin, preamble, heard, Arc::default())
            .map_err(|error| format!("starting the threads that serve it: {error}"))?;
        Ok(Self { near: Near::Process(process), commands: Some(commands) })
    }

    /// Takes over the connection of an agent that has proved who it is.
    ///
    /// # Errors
    /// What the system answered.
    pub(super) fn adopt(link: usize, stream: TcpStream, heard: SyncSender<Heard>) -> io::Result<Self> {
        let (read, write) = (stream.try_clone()?, Outgoing(stream.try_clone()?));
        let closed = Arc::new(AtomicBool::new(false));
        let commands = serve(link, read, write, None, heard, Arc::clone(&closed))?;
        Ok(Self { near: Near::Stream(stream, closed), commands: Some(commands) })
    }

    /// Queues a command; the agent always reads, so the queue stays short. One that is gone swallows it.
    pub(super) fn send(&self, command: message::Command) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(command);
        }
    }

    /// Asks the agent to leave and closes the way to it.
    pub(super) fn quit(&mut self) {
        self.send(message::Command::Quit);
        self.commands = None;
    }

    /// Whether the process has ended, or the agent has closed its connection.
    pub(super) fn has_ended(&mut self) -> bool {
        match &mut self.near {
            Near::Process(process) => process.has_ended(),
            Near::Stream(_, closed) => closed.load(Ordering::Acquire),
        }
    }

    /// Ends the connection and says what is known of its end.
    pub(super) fn obituary(&mut self, why: &str) -> String {
        self.commands = None;
        match &mut self.near {
            Near::Process(process) => format!("{why}; {}", process.obituary()),
            Near::Stream(stream, _) => {
                let _ = stream.shutdown(Shutdown::Both);
                why.to_owned()
            }
        }
    }
}

/// The two threads of a link: one reads, and talks first where something comes before the frames; one writes.
fn serve(
    link: usize,
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    preamble: Option<Preamble>,
    heard: SyncSender<Heard>,
    closed: Arc<AtomicBool>,
) -> io::Result<Sender<message::Command>> {
    let (commands, queue) = mpsc::channel();
    thread::Builder::new().name("hear".to_owned()).spawn(move || {
        let begun = preamble.map_or(Ok(()), |preamble| preamble(&mut from, &mut to));
        let begun = begun.and_then(|()| {
            let send = move || send_all(&queue, FrameWriter::new(to));
            let started = thread::Builder::new().name("send".to_owned()).spawn(send);
            started.map(drop).map_err(|error| format!("starting a thread that sends: {error}"))
        });
        match begun {
            Ok(()) => hear_all(link, FrameReader::new(from), &heard),
            Err(why) => _ = heard.send(Heard { link, said: Err(why) }),
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

fn send_all(queue: &Receiver<message::Command>, mut frames: FrameWriter<impl Write>) {
    for command in queue {
        if let Err(error) = frames.write(&command) {
            // That the agent is gone arrives on its other stream.
            tracing::debug!("an agent was not sent a command: {error}");
            return;
        }
    }
}

fn hear_all(link: usize, mut frames: FrameReader<impl Read>, heard: &SyncSender<Heard>) {
    loop {
        let said = match frames.read::<Report>() {
            Ok(Some(report)) => Ok(report),
            Ok(None) => Err("the agent closed its pipe".to_owned()),
            Err(error) if error.is_hang_up() => Err(format!("the connection to the agent broke: {error}")),
            Err(error) => Err(format!("the agent said something that is no message: {error}")),
        };
        let last = said.is_err();
        if heard.send(Heard { link, said }).is_err() || last {
            return;
        }
    }
}
