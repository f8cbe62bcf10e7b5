//! Runs the tool on the node whose part it is: that of the source, or with `direction=pull` that of the target.

use std::path::Path;
use std::time::Duration;

use seatrial_bench::{Sink, Stop};
use seatrial_model::{Case, Cause, Nanos, PartPlacement, Reason};
use seatrial_sys::clock::now_ns;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::busiest::Busiest;
use super::command::{self, Route};
use super::process;
use super::tool::Tool;

/// Longest wait for a version or a login.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Evidence: what a login that does nothing took, in ns.
pub const LOGIN: &str = "login";

/// Whether the target's node runs the tool.
pub fn is_pull(case: &Case) -> Result<bool, Reason> {
    Ok(case.params.text("direction")? == "pull")
}

/// A program of this node, and what it is told.
#[derive(Clone, Debug)]
pub struct Runner {
    tool: Tool,
    /// The other node, if there is one.
    host: Option<String>,
    is_pull: bool,
    cipher: Option<String>,
    preserve: bool,
    streams: u64,
    /// What both ends agreed upon, where ssh tells it.
    negotiated: Option<String>,
    /// What a login that does nothing took.
    login: Option<Nanos>,
}

/// A copy by a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    pub took_ns: u64,
    /// CPU time of its busiest thread, and the name of that.
    pub busiest_ns: u64,
    pub busiest_thread: String,
    pub words: String,
    pub command: String,
}

impl Runner {
    /// The runner of the part at `place`; none at the other end, and for the mover.
    ///
    /// # Errors
    /// When a program is absent, or cannot log in to the other node.
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Option<Self>, Reason> {
        let (params, is_remote, is_pull) = (&case.params, case.nodes.len() > 1, is_pull(case)?);
        let (tool, is_runner) = (Tool::of(params)?, (place.index == 1) == is_pull);
        tool.require_programs(is_remote, is_runner, &place.node)?;
        if !is_runner || tool == Tool::Native {
            return Ok(None);
        }
        let cipher = params.text("cipher")?;
        let mut runner = Self {
            tool,
            host: case.nodes.get(usize::from(!is_pull)).filter(|_| is_remote).cloned(),
            is_pull,
            cipher: (cipher != "auto").then(|| cipher.to_owned()),
            preserve: params.flag("preserve")?,
            streams: params.count("streams")?,
            negotiated: None,
            login: None,
        };
        runner.log_in(&place.node)?;
        Ok(Some(runner))
    }

    /// Refuses a tool that cannot log in to the other node, before anything is made.
    fn log_in(&mut self, node: &str) -> Result<(), Reason> {
        let Some(host) = &self.host else { return Ok(()) };
        let (login, begin) = (command::login(host, self.cipher.as_deref()), now_ns());
        let came = process::run(vec![login], &Stop::after(ANSWER_WITHIN), &mut Busiest::of_this_process())?;
        let words = match came {
            Some(ended) if ended.is_success => {
                self.negotiated = command::negotiated_cipher(&ended.words).map(str::to_owned);
                self.login = Some(Nanos(ended.at.get().saturating_sub(begin)));
                return Ok(());
            }
            Some(ended) => command::without_debugging(&ended.words),
            None => format!("no answer within {} s", ANSWER_WITHIN.as_secs()),
        };
        let text = format!(
            "{node} cannot log in to {host} with ssh, which tool={} does: {words}; set up keys between the nodes, or \
             measure tool=native",
            self.tool.name()
        );
        Err(Reason::new(Cause::NeverReached, text))
    }

    /// Tells the version of the program, the cipher of its connection, and how long a login took.
    pub fn tell(&self, out: &mut dyn Sink) {
        if let Some(login) = self.login {
            out.evidence(LOGIN, json!(login.get()));
        }
        if let Some(version) = self.version() {
            out.evidence("version", json!(version));
        }
        if let Some(cipher) = self.negotiated.as_ref().filter(|_| self.tool != Tool::Bbcp) {
            out.evidence("cipher", json!(cipher));
        }
    }

    /// What the tool says of its version, in one line.
    fn version(&self) -> Option<String> {
        let asked = vec![self.tool.version()?];
        let told = process::run(asked, &Stop::after(ANSWER_WITHIN), &mut Busiest::of_this_process());
        Some(told.ok()??.words.lines().next()?.to_owned())
    }

    /// Copies `source` into `target`; `None` when `stop` came first.
    ///
    /// # Errors
    /// When the tool fails, with the last lines that it printed.
    pub fn run(
        &self,
        source: &Path,
        target: &Path,
        window: Option<u64>,
        stop: &Stop,
    ) -> Result<Option<Ran>, Reason> {
        let route = Route {
            source,
            target,
            host: self.host.as_deref(),
            is_pull: self.is_pull,
            cipher: self.cipher.as_deref(),
            preserve: self.preserve,
            streams: self.streams,
            window,
        };
        let commands = route.commands(self.tool);
        let (command, mut busiest) = (command::shown(&commands), Busiest::of_this_process());
        let start = now_ns();
        let Some(ended) = process::run(commands, stop, &mut busiest)? else { return Ok(None) };
        let words = ended.last_words().to_owned();
        if !ended.is_success {
            let text = format!("{} failed: {words}; the command was: {command}", self.tool.name());
            return Err(Reason::new(Cause::IoError, text));
        }
        let took_ns = ended.at.get().saturating_sub(start);
        let (used, name) = busiest.used();
        Ok(Some(Ran { took_ns, busiest_ns: used.get(), busiest_thread: name.to_owned(), words, command }))
    }
}
