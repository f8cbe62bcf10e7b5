//! The remote shell that launchers get: hands the command for a node to the worker that started the launcher, which passes it
//! on to the part on that node. No ssh between the nodes is needed, and nothing outlives the parts.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use super::SHELL_SOCKET;
use super::environment::kept;
use super::node::NO_EXIT_CODE;
use super::process::{call_worker, launcher_program};
use super::wire::{RemoteAnswer, RemoteCommand, messages, send};

/// Variables of the launcher that a node gets beside those that steer the library.
const PATHS: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];

/// Runs as `HOST COMMAND...`, as ssh(1) is called.
#[expect(clippy::print_stderr, reason = "what the command prints is for the launcher")]
pub fn remote_shell(arguments: &[String]) -> ExitCode {
    // Options such as -x of ssh have no meaning here.
    let mut words = arguments.iter().skip_while(|word| word.starts_with('-'));
    let host = words.next().cloned().unwrap_or_default();
    let line = words.map(String::as_str).collect::<Vec<_>>().join(" ");
    match ask(&host, line, false) {
        Ok(stream) => {
            for answer in messages::<RemoteAnswer>(stream) {
                match answer {
                    RemoteAnswer::Printed { text } | RemoteAnswer::Line { text } => eprint!("{text}"),
                    RemoteAnswer::Ended { code } => return ExitCode::from(code),
                }
            }
            eprintln!("seatrial: the connection to {host} closed while the command ran");
        }
        Err(error) => eprintln!("seatrial: cannot reach the worker of the benchmark: {error}"),
    }
    ExitCode::from(NO_EXIT_CODE)
}

/// Asks the worker that started the launcher for a command on a node; what becomes of it comes from the connection.
pub fn ask(host: &str, line: String, talks: bool) -> io::Result<UnixStream> {
    let paths = PATHS.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let environment: BTreeMap<String, String> = kept().into_iter().chain(paths).collect();
    let command =
        RemoteCommand { host: host.to_owned(), line, program: launcher_program(), environment, talks };
    let stream = call_worker(SHELL_SOCKET)?;
    send(&stream, &command)?;
    Ok(stream)
}
