//! The end of a flow, after the clock has stopped: compares the data sent with the data received.
//!
//! The receiver reports that it is ready, and from then on sees every byte, whatever its receive method was. The
//! sender sends some more of the stream and a closing word with the number of bytes before it, and closes its side.
//! The receiver checks every byte up to there and answers with its own count.

use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Integrity, Reason};
use seatrial_sys::net::{TcpInfo, tcp_info};

use super::pattern::{Check, PERIOD, bytes};
use seatrial_bench::is_timeout;

/// Longest silence: a lossy connection is silent for seconds whenever a retransmitted packet is lost too (RFC 6298,
/// 5.5), and a slow link has a queue of seconds. The phase has a deadline of its own.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How much longer the receiver waits than the sender: the sender's kernel knows why nothing moves.
const LONGER: Duration = Duration::from_secs(5);

const READY: u8 = 0x52;

/// Bytes that are sent for the check alone: few enough for the slowest connection.
pub const TAIL: usize = 8 << 10;

/// First half of the closing word, which occurs nowhere in the stream; the second half is the number of bytes.
const CLOSING: [u8; 8] = *b"\xffsea\xfeend";
const CLOSING_LEN: usize = 16;

/// The sender's side; `total` bytes were sent. `half_close` is for protocols that can close one side alone. The receiver
/// is ready within `turn`, which is longer where it ends many flows one after the other.
pub fn send_end(
    name: &dyn Display,
    stream: &TcpStream,
    total: u64,
    half_close: bool,
    turn: Duration,
) -> Result<Integrity, Reason> {
    let mut ready = [0];
    hear(name, stream, &mut ready, turn, "waiting for the receiver's ready message")?;
    let from = (total % PERIOD as u64) as usize;
    let stream_bytes = bytes(from + TAIL);
    let mut last = stream_bytes[from..].to_vec();
    let total = total + last.len() as u64;
    last.extend(CLOSING);
    last.extend(total.to_le_bytes());
    tell(name, stream, &last, PATIENCE, "sending the end of the stream")?;
    if half_close {
        stream
            .shutdown(Shutdown::Write)
            .map_err(|error| failed(name, "closing one side", PATIENCE, &error))?;
    }
    let mut received = [0; 8];
    hear(name, stream, &mut received, PATIENCE, "waiting for the receiver's byte count")?;
    let received = u64::from_le_bytes(received);
    if received != total {
        let first = format!("{name}: {total} bytes were sent and {received} received");
        return Ok(Integrity::Corrupt { wrong: total.abs_diff(received), of: total, first });
    }
    Ok(Integrity::Verified { checked: 0 })
}

/// The receiver's side; `total` bytes were received, and `check` has seen some of them.
pub fn receive_end(
    name: &dyn Display,
    stream: &TcpStream,
    total: u64,
    check: &mut Check,
    half_close: bool,
) -> Result<(), Reason> {
    receive_end_within(name, stream, total, check, half_close, PATIENCE + LONGER)
}

fn receive_end_within(
    name: &dyn Display,
    mut stream: &TcpStream,
    total: u64,
    check: &mut Check,
    half_close: bool,
    patience: Duration,
) -> Result<(), Reason> {
    tell(name, stream, &[READY], patience, "sending the ready message")?;
    let mut buffer = vec![0; 256 << 10];
    // The last bytes may be the closing word, so they are held until more arrive.
    let mut held: Vec<u8> = Vec::with_capacity(buffer.len() + CLOSING_LEN);
    let mut at = total;
    let mut progress = Instant::now();
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(came) => {
                progress = Instant::now();
                held.extend_from_slice(&buffer[..came]);
                let sure = held.len().saturating_sub(CLOSING_LEN);
                check.check_bytes(&held[..sure], at);
                at += sure as u64;
                held.drain(..sure);
                if !half_close && held.starts_with(&CLOSING) {
                    break;
                }
            }
            Err(error) if is_timeout(&error) && progress.elapsed() < patience => {}
            Err(error) => return Err(failed(name, "reading the end of the stream", patience, &error)),
        }
    }
    if !held.starts_with(&CLOSING) || held.len() < CLOSING_LEN {
        let text = format!("{name}: the peer closed the connection after {} bytes", at + held.len() as u64);
        return Err(Reason::new(Cause::PartnerLost, text));
    }
    let sent = u64::from_le_bytes(held[8..16].try_into().unwrap_or_default());
    if sent != at {
        check.fault(format!("{name}: {sent} bytes were sent and {at} received"));
    }
    tell(name, stream, &at.to_le_bytes(), patience, "sending the byte count")
}

/// Writes all of `bytes`; fails if the peer takes none of them for `patience`.
fn tell(
    name: &dyn Display,
    mut stream: &TcpStream,
    mut bytes: &[u8],
    patience: Duration,
    doing: &str,
) -> Result<(), Reason> {
    let mut silence = Silence::new(patience);
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(taken) => (bytes, silence) = (&bytes[taken..], Silence::new(patience)),
            Err(error) if is_timeout(&error) && silence.goes_on(stream) => {}
            Err(error) => return Err(silence.explained(failed(name, doing, patience, &error), stream)),
        }
    }
    Ok(())
}

/// A time in which nothing moves.
struct Silence {
    began: Instant,
    patience: Duration,
    /// Of a connection of which nothing moved for half of the time.
    half: Option<TcpInfo>,
}

impl Silence {
    fn new(patience: Duration) -> Self {
        Self { began: Instant::now(), patience, half: None }
    }

    fn goes_on(&mut self, stream: &TcpStream) -> bool {
        let elapsed = self.began.elapsed();
        if self.half.is_none() && elapsed >= self.patience / 2 {
            self.half = tcp_info(stream).ok();
        }
        elapsed < self.patience
    }

    /// The `reason` why nothing moved, with what the kernel of this end knows of the second half of the time.
    fn explained(&self, reason: Reason, stream: &TcpStream) -> Reason {
        let known = self.half.zip(tcp_info(stream).ok()).and_then(|(half, last)| {
            unanswered(&last).or_else(|| small_window(&half, &last).map(|why| (Cause::IoError, why)))
        });
        match known {
            Some((cause, why)) => Reason::new(cause, format!("{}: {why}", reason.text)),
            None => reason,
        }
    }
}

/// Share of the time with data to send from which on the window of the peer is what delays it.
const HELD: f64 = 0.5;

/// Segments that a window has room for at least, where its size is not what delays sending.
const SEGMENTS: u32 = 2;

/// Why the data on the way take long, if the peer takes them and its window is what they wait for. A peer that does not read
/// has a window too, but takes nothing.
fn small_window(first: &TcpInfo, last: &TcpInfo) -> Option<String> {
    let taken = last.bytes_acked?.saturating_sub(first.bytes_acked?);
    let share = last.rwnd_limited_us? as f64 / last.busy_us?.max(1) as f64;
    let (window, mss) = (last.snd_wnd?, last.snd_mss?);
    // A receiver announces its window in acknowledgements (RFC 9293, 3.8.6).
    let why = match window < mss.saturating_mul(SEGMENTS) {
        true => "raise the third value of net.ipv4.tcp_rmem on the receiving node",
        false => {
            "the window has room for several segments, so acknowledgements are lost or late: look for what drops small packets \
             on the way back (`nft list ruleset`, `tc filter show dev INTERFACE ingress`, switch port)"
        }
    };
    (taken > 0 && share >= HELD).then(|| {
        format!(
            "the receive window of {window} B, with segments of {mss} B, delayed sending for {:.0} % of the time, and {taken} \
             B were taken meanwhile: {why}",
            100.0 * share
        )
    })
}

/// The most bytes that open a connection: each of the messages fits into a small packet.
const OPENING: u64 = 16 << 10;

/// Timeouts of one segment, one after the other, from which on a queue is no explanation: each waits twice as long as the
/// one before.
const UNANSWERED: u8 = 4;

/// Why the peer takes nothing, if the kernel has sent a segment again and again without an answer; a peer that only does
/// not read answers. If no more than the opening of the connection ever arrived, the network has delivered nothing, and
/// that is a result.
fn unanswered(info: &TcpInfo) -> Option<(Cause, String)> {
    let (again, mss, arrived) = (info.retransmits?, info.snd_mss?, info.bytes_acked?);
    if again < UNANSWERED {
        return None;
    }
    let sent = format!("a segment of up to {mss} B was sent again {again} times without an answer");
    Some(if arrived <= OPENING {
        let text = format!(
            "{sent}, while the small packets before arrived: packets of this size are lost on the way, or the way was cut \
             since; `seatrial run net.mtu` finds the largest packets that arrive"
        );
        (Cause::IoError, text)
    } else {
        (Cause::PartnerLost, format!("{sent}: the way was cut, or the peer is gone"))
    })
}

fn hear(
    name: &dyn Display,
    mut stream: &TcpStream,
    room: &mut [u8],
    patience: Duration,
    doing: &str,
) -> Result<(), Reason> {
    let (mut silence, mut got) = (Silence::new(patience), 0);
    while got < room.len() {
        match stream.read(&mut room[got..]) {
            Ok(0) => return Err(closed(name, doing)),
            Ok(came) => got += came,
            Err(error) if is_timeout(&error) && silence.goes_on(stream) => {}
            Err(error) => return Err(silence.explained(failed(name, doing, patience, &error), stream)),
        }
    }
    Ok(())
}

/// Silence at the end says nothing about the measurement before: data that could not be checked is no verdict.
fn failed(name: &dyn Display, doing: &str, patience: Duration, error: &std::io::Error) -> Reason {
    if is_timeout(error) {
        let text = format!("{name}: {doing}: no data moved for {} s", patience.as_secs_f64());
        return Reason::new(Cause::PartnerLost, text);
    }
    if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) {
        return closed(name, doing);
    }
    Reason::new(Cause::IoError, format!("{name}: {doing}: {error}"))
}

/// The peer has its own reason, which is the one that counts.
fn closed(name: &dyn Display, doing: &str) -> Reason {
    Reason::new(Cause::PartnerLost, format!("{name}: {doing}: the peer closed the connection"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const NAME: &dyn Display = &"flow 0 forward";
    const SHORT: Duration = Duration::from_millis(200);

    #[test]
    fn a_sender_that_falls_silent_at_the_end_is_told_in_words_and_is_no_verdict() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let _silent = TcpStream::connect(listener.local_addr().expect("an address")).expect("connects");
        let (stream, _) = listener.accept().expect("accepts");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("set");
        let mut check = Check::new();
        let error =
            receive_end_within(NAME, &stream, 100, &mut check, true, SHORT).expect_err("nothing came");
        assert_eq!(error.cause, Cause::PartnerLost);
        assert_eq!(error.text, "flow 0 forward: reading the end of the stream: no data moved for 0.2 s");
    }

    #[test]
    fn segments_that_are_never_answered_say_what_is_lost() {
        let info = |again, arrived| TcpInfo {
            retransmits: Some(again),
            snd_mss: Some(8948),
            bytes_acked: Some(arrived),
            ..TcpInfo::default()
        };
        assert_eq!(unanswered(&info(3, 200)), None, "a few losses are no reason");
        let (cause, why) = unanswered(&info(8, 200)).expect("a reason");
        let says = "a segment of up to 8948 B was sent again 8 times without an answer, while the small packets before arrived";
        assert!(cause == Cause::IoError && why.starts_with(says), "{cause:?}: {why}");
        let (cause, why) = unanswered(&info(8, 1 << 30)).expect("a reason");
        assert!(
            cause == Cause::PartnerLost && why.ends_with("the way was cut, or the peer is gone"),
            "{why}"
        );
        let recovered = TcpInfo { total_retrans: Some(500), ..info(0, 1 << 30) };
        assert_eq!(unanswered(&recovered), None, "losses that were answered are no reason");
        assert_eq!(unanswered(&TcpInfo::default()), None);
    }

    #[test]
    fn a_window_that_is_too_small_is_told_where_the_peer_takes_data_and_not_where_it_takes_none() {
        let info = |arrived| TcpInfo {
            bytes_acked: Some(arrived),
            busy_us: Some(1_000_000),
            rwnd_limited_us: Some(980_000),
            snd_wnd: Some(2304),
            snd_mss: Some(8948),
            ..TcpInfo::default()
        };
        let why = small_window(&info(1000), &info(90_000)).expect("the window");
        let says = "the receive window of 2304 B, with segments of 8948 B, delayed sending for 98 % of the time, and 89000 B";
        assert!(why.starts_with(says) && why.contains("net.ipv4.tcp_rmem"), "{why}");
        let large = |arrived| TcpInfo { snd_wnd: Some(3 << 20), ..info(arrived) };
        let why = small_window(&large(1000), &large(90_000)).expect("a full window");
        assert!(why.contains("acknowledgements are lost or late") && !why.contains("tcp_rmem"), "{why}");
        assert_eq!(small_window(&info(1000), &info(1000)), None, "the peer does not read");
        let busy = TcpInfo { rwnd_limited_us: Some(100_000), ..info(90_000) };
        assert_eq!(small_window(&info(1000), &busy), None, "something else delays it");
        assert_eq!(small_window(&TcpInfo::default(), &TcpInfo::default()), None);
    }

    #[test]
    fn a_receiver_that_takes_nothing_is_told_in_words_and_is_no_verdict() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).expect("connects");
        let (_deaf, _) = listener.accept().expect("accepts");
        stream.set_write_timeout(Some(Duration::from_millis(10))).expect("set");
        let error = tell(NAME, &stream, &vec![0; 64 << 20], SHORT, "sending the end of the stream")
            .expect_err("nobody reads");
        assert_eq!(error.cause, Cause::PartnerLost);
        assert!(error.text.ends_with("sending the end of the stream: no data moved for 0.2 s"));
    }
}
