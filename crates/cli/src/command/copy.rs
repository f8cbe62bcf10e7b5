//! `seatrial copy`.

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write, stderr, stdin, stdout};
use std::net::IpAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use seatrial_cluster::{COPY_RECEIVER_READY, CopyReceiver};
use seatrial_model::Bytes;
use seatrial_mover::{
    Cipher, ControlChannel, CopyError, CopyOptions, Progress, Reach, Window, copy_here, count, roots, send,
    serve,
};

use crate::args::CopyArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fleet;
use crate::output;
use crate::signals::Signals;

/// How long the other host may say nothing until its receiver runs.
const RECEIVER_WITHIN: Duration = Duration::from_secs(90);

/// How often the progress is shown, and signals are looked at.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// Failures that are printed; of more, the number is.
const MOST_FAILURES: usize = 50;

pub fn run(args: &CopyArgs) -> Result<Exit, CliError> {
    let signals = Signals::listen()?;
    let options = CopyOptions {
        streams: args.streams.into(),
        preserve: args.preserve,
        checksum: args.checksum,
        window: args.window,
        cipher: args.encrypt.then(Cipher::of_this_cpu),
        dry_run: args.dry_run.then_some(print_path as fn(&[u8])),
    };
    let (host, target) = host_and_path(&args.target);
    let progress = Progress::default();
    let (start, is_over) = (Instant::now(), AtomicBool::new(false));
    let copied = thread::scope(|scope| {
        let watching = scope.spawn(|| watch(&progress, &signals, &is_over));
        let copied = copy(args, host.as_deref(), target, &options, &progress, scope);
        is_over.store(true, Ordering::Relaxed);
        watching.thread().unpark();
        copied
    });
    tell_failures(&progress);
    tell_smaller_window(&progress);
    let failed = progress.failed();
    output::print(&summary(&progress, start.elapsed(), args.dry_run))?;
    if let Some(number) = signals.number() {
        return Ok(Exit::signal(number));
    }
    match copied {
        Ok(()) if failed == 0 => Ok(Exit::MET),
        Ok(()) => Ok(Exit::NOT_ALL_COPIED),
        Err(CopyError::Refused(why)) => Err(CliError::Usage(why)),
        Err(error) => {
            let again = "what is complete stays; the same command continues";
            output::warn(&format!("seatrial: the copy is incomplete: {error}; {again}"));
            Ok(Exit::INCOMPLETE)
        }
    }
}

/// The hidden other side, started over ssh.
pub fn receive() -> Result<Exit, CliError> {
    let mut out = stdout();
    out.write_all(&[COPY_RECEIVER_READY])?;
    out.flush()?;
    let received = serve(stdin(), out, reach());
    match received {
        Ok(()) => Ok(Exit::MET),
        // The sender has the same to tell.
        Err(CopyError::Refused(_)) => Ok(Exit::USAGE),
        Err(error) => {
            output::warn(&format!("seatrial: receiving the copy: {error}"));
            Ok(Exit::INCOMPLETE)
        }
    }
}

/// By the address that the ssh client came to, first (ssh(1), `SSH_CONNECTION`).
fn reach() -> Reach {
    let connection = std::env::var("SSH_CONNECTION").unwrap_or_default();
    let first = connection.split_whitespace().nth(2).and_then(|address| address.parse::<IpAddr>().ok());
    match first {
        Some(address) if address.is_loopback() => Reach::Loopback,
        first => Reach::Network { first },
    }
}

fn copy<'scope, 'env>(
    args: &CopyArgs,
    host: Option<&str>,
    target: &[u8],
    options: &CopyOptions,
    progress: &'env Progress,
    scope: &'scope thread::Scope<'scope, 'env>,
) -> Result<(), CopyError> {
    let roots = roots(&args.sources)?;
    if stderr().is_terminal() {
        let roots = roots.clone();
        scope.spawn(move || count(&roots, progress));
    }
    let Some(host) = host else {
        if args.window != Window::Auto {
            let text = "--window: within this host there is no connection: leave it out";
            return Err(CopyError::Refused(text.to_owned()));
        }
        return copy_here(&roots, target, options, progress);
    };
    let refused = |error: CliError| CopyError::Refused(error.to_string());
    let client: Vec<OsString> =
        fleet::words("--ssh", &args.ssh).map_err(refused)?.into_iter().map(OsString::from).collect();
    let build = fleet::build().map_err(refused)?;
    let started = CopyReceiver::start(&client, host, &build, RECEIVER_WITHIN, &|| progress.is_stopped());
    let mut receiver = started.map_err(|why| CopyError::Stream {
        doing: "starting the receiver over ssh",
        source: std::io::Error::other(format!("{host}: {why}")),
    })?;
    let control = ControlChannel { from: &mut receiver.from, to: &mut receiver.to };
    let sent = send(&roots, target, options, control, progress);
    receiver.end();
    sent
}

/// `HOST:PATH`, as scp and rsync read it: a colon before the first slash; an IPv6 address in brackets.
fn host_and_path(target: &OsStr) -> (Option<String>, &[u8]) {
    let bytes = target.as_bytes();
    let end = match bytes.strip_prefix(b"[") {
        Some(rest) => rest.iter().position(|byte| *byte == b']').map(|at| at + 2),
        None => bytes.iter().position(|byte| *byte == b':' || *byte == b'/'),
    };
    let Some(at) = end.filter(|at| *at > 0 && bytes.get(*at) == Some(&b':')) else { return (None, bytes) };
    let host = String::from_utf8_lossy(&bytes[..at]);
    (Some(host.trim_matches(['[', ']']).to_owned()), &bytes[at + 1..])
}

fn print_path(path: &[u8]) {
    // A reader that closed the pipe is no error; the summary tells.
    let _ = output::print(&format!("{}\n", Path::new(OsStr::from_bytes(path)).display()));
}

/// Shows the progress until the end, and passes signals on.
fn watch(progress: &Progress, signals: &Signals, is_over: &AtomicBool) {
    let bar = stderr().is_terminal().then(|| {
        let style = "{decimal_bytes}/{msg} {decimal_bytes_per_sec} {wide_bar} {eta} left";
        // The template is right.
        let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::no_length().with_style(style)
    });
    while !is_over.load(Ordering::Relaxed) {
        if signals.flag().load(Ordering::Relaxed) {
            progress.stop.store(true, Ordering::Relaxed);
        }
        if let Some(bar) = &bar {
            let found = Progress::get(&progress.found_bytes);
            let more = if progress.is_all_found.load(Ordering::Relaxed) { "" } else { "+" };
            bar.set_message(format!("{}{more}", Bytes(found).rounded()));
            bar.set_length(found);
            bar.set_position(Progress::get(&progress.bytes).min(found));
        }
        thread::park_timeout(SHOWN_EVERY);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn tell_failures(progress: &Progress) {
    let failures = progress.take_failures();
    for failure in failures.iter().take(MOST_FAILURES) {
        output::warn(&format!("seatrial: {failure}"));
    }
    let more = progress.failed().saturating_sub(failures.len().min(MOST_FAILURES) as u64);
    if more > 0 {
        output::warn(&format!("seatrial: {more} more files were not copied"));
    }
}

/// The kernel doubles what is asked for, and takes no more than its limit (socket(7)).
fn tell_smaller_window(progress: &Progress) {
    let asked = Progress::get(&progress.window);
    for (buffer, end, limit) in [
        (&progress.send_buffer, "source", "net.core.wmem_max"),
        (&progress.receive_buffer, "target", "net.core.rmem_max"),
    ] {
        let given = Progress::get(buffer) / 2;
        if given > 0 && given < asked {
            let [asked, given] = [asked, given].map(|bytes| Bytes(bytes).rounded());
            output::warn(&format!(
                "seatrial: a window of {asked}: the {end} gave {given}; raise {limit} there"
            ));
        }
    }
}

fn summary(progress: &Progress, took: Duration, is_dry: bool) -> String {
    let (files, bytes) = (Progress::get(&progress.files), Progress::get(&progress.bytes));
    let (unchanged, failed) = (Progress::get(&progress.unchanged), progress.failed());
    let size = Bytes(bytes).rounded();
    if is_dry {
        return format!("would copy {files} files, {size}; {unchanged} unchanged, {failed} failed\n");
    }
    let seconds = took.as_secs_f64();
    let rate = bytes as f64 / seconds.max(f64::MIN_POSITIVE) / 1e6;
    format!(
        "copied {files} files, {size} in {seconds:.1} s ({rate:.0} MB/s); {unchanged} unchanged, {failed} failed\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_stands_before_a_colon_without_a_slash() {
        for (target, host, path) in [
            ("n1:/scratch", Some("n1"), "/scratch"),
            ("ada@n1:", Some("ada@n1"), ""),
            ("[fe80::1]:a:b", Some("fe80::1"), "a:b"),
            ("/scratch/a:b", None, "/scratch/a:b"),
            ("./a:b", None, "./a:b"),
            (":a", None, ":a"),
            ("plain", None, "plain"),
            ("[x", None, "[x"),
        ] {
            let found = host_and_path(OsStr::new(target));
            assert_eq!((found.0.as_deref(), found.1), (host, path.as_bytes()), "{target}");
        }
    }
}
