//! The client's loop of requests and responses, one at a time or at a set rate.

use std::time::Duration;

use seatrial_model::{Cause, Nanos, Reason, Verification};
use seatrial_sys::clock::now_ns;

use super::message::{MessagePattern, number_after, verified_bytes};
use super::unclear::Unclear;
use super::wire::{ReceivedMessage, Wire};
use seatrial_bench::{REPLY_TIMEOUT, Stop};

/// Longest wait for a datagram. TCP too would retransmit after this (RFC 6298, 2.4, with Linux' minimum).
pub const LOST_AFTER: Duration = Duration::from_millis(200);

/// Lost datagrams in a row from which the peer counts as gone.
const GONE: u64 = 25;

pub struct RequestLoop {
    wire: Wire,
    pattern: MessagePattern,
    request: Vec<u8>,
    response: Vec<u8>,
    verification: Verification,
    /// Requests sent so far, over all phases; also their number.
    sent: u64,
    /// Responses that have arrived or been given up, in the order of their requests.
    settled: u64,
    unclear: Unclear,
    pub lost: u64,
    pub late: u64,
    /// The longest delay of a request behind its schedule.
    pub behind: Nanos,
}

impl RequestLoop {
    pub fn new(wire: Wire, request: usize, response: usize) -> Self {
        Self {
            unclear: Unclear::new("response", response, wire.is_udp()),
            wire,
            pattern: MessagePattern::default(),
            request: vec![0; request],
            response: vec![0; response],
            verification: Verification::Full,
            sent: 0,
            settled: 0,
            lost: 0,
            late: 0,
            behind: Nanos(0),
        }
    }

    /// The same of which only so much is made and checked.
    pub fn verified_by(self, verification: Verification) -> Self {
        Self { verification, ..self }
    }

    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn checked(&self) -> u64 {
        (self.settled - self.lost) * self.response.len() as u64
    }

    /// One round trip; `None` if a datagram was lost. The pattern is written and checked outside the timed section.
    pub fn once(&mut self) -> Result<Option<Nanos>, Reason> {
        let number = self.sent;
        self.make(number);
        let start = Nanos(now_ns());
        let patience = if self.wire.is_udp() { LOST_AFTER } else { REPLY_TIMEOUT };
        let patience = Nanos(patience.as_nanos() as u64);
        while !self.wire.send(&self.request).map_err(|error| failed(number, start, &error.to_string()))? {
            if Nanos(now_ns()).since(start) > patience {
                return self.give_up(number, start);
            }
        }
        self.sent += 1;
        loop {
            let received = self.wire.receive(&mut self.response);
            let now = Nanos(now_ns());
            match received.map_err(|error| failed(number, start, &error.to_string()))? {
                ReceivedMessage::Message(bytes) => {
                    if self.is_late(bytes, number) {
                        continue;
                    }
                    self.check(bytes, number)?;
                    self.settled = self.sent;
                    return Ok(Some(now.since(start)));
                }
                ReceivedMessage::Nothing if now.since(start) < patience => {}
                ReceivedMessage::Nothing => return self.give_up(number, start),
                ReceivedMessage::Closed => {
                    return Err(failed(number, start, "the server closed the connection"));
                }
            }
        }
    }

    fn make(&mut self, number: u64) {
        let bytes = verified_bytes(self.verification, self.request.len());
        self.pattern.fill(&mut self.request[..bytes], number);
    }

    /// The part of a response of `bytes` bytes that is checked.
    fn checked_part(&self, bytes: usize) -> &[u8] {
        &self.response[..verified_bytes(self.verification, bytes)]
    }

    fn give_up(&mut self, number: u64, start: Nanos) -> Result<Option<Nanos>, Reason> {
        self.sent = number + 1;
        if !self.wire.is_udp() {
            return Err(failed(number, start, "no response"));
        }
        self.lose(self.sent - self.settled)?;
        Ok(None)
    }

    fn lose(&mut self, count: u64) -> Result<(), Reason> {
        self.lost += count;
        self.settled += count;
        if self.lost >= GONE && self.lost == self.settled {
            let text =
                format!("none of {} datagrams was answered: check for a firewall that drops UDP", self.lost);
            return Err(Reason::new(Cause::IoError, text));
        }
        Ok(())
    }

    fn is_late(&mut self, bytes: usize, number: u64) -> bool {
        let message = self.checked_part(bytes);
        let late = self.wire.is_udp()
            && self.pattern.first_wrong(message, number).is_some()
            && self.pattern.is_before(message, number);
        self.late += u64::from(late);
        late
    }

    fn check_length(&self, bytes: usize, number: u64) -> Result<(), Reason> {
        if bytes == self.response.len() {
            return Ok(());
        }
        let text = format!("response {number} is {bytes} B long, not {}", self.response.len());
        Err(Reason::new(Cause::CorruptData, text))
    }

    fn check(&self, bytes: usize, number: u64) -> Result<(), Reason> {
        self.check_length(bytes, number)?;
        match self.pattern.first_wrong(self.checked_part(bytes), number) {
            None => Ok(()),
            Some(at) => {
                let text = format!("byte {at} of response {number} is {:#04x}", self.response[at]);
                Err(Reason::new(Cause::CorruptData, text))
            }
        }
    }

    /// Sends `rate` requests per second until `stop`, and waits for the last answers. `each` gets each latency with
    /// the time of its end. A latency counts from the scheduled time of the request, so a late answer adds to all
    /// requests that wait behind it (no coordinated omission). The wire must not block.
    pub fn at_rate(
        &mut self,
        rate: u64,
        stop: &Stop,
        each: &mut dyn FnMut(Nanos, Nanos),
    ) -> Result<(), Reason> {
        self.make(self.sent);
        let (first, start) = (self.sent, Nanos(now_ns()));
        let due = |number: u64| {
            let after = u128::from(number - first) * 1_000_000_000 / u128::from(rate);
            Nanos(start.get() + after as u64)
        };
        let mut heard = start;
        loop {
            let now = Nanos(now_ns());
            let over = stop.is_over();
            let is_due = !over && now >= due(self.sent);
            let number = self.sent;
            let refused = |error: std::io::Error| failed(number, now, &error.to_string());
            if is_due && self.wire.send(&self.request).map_err(refused)? {
                self.behind = self.behind.max(now.since(due(self.sent)));
                self.sent += 1;
                // Before it is due, so that its own time holds nothing of this.
                self.make(self.sent);
            }
            if over && self.settled == self.sent {
                return self.unclear.undecided();
            }
            let received = self.wire.receive(&mut self.response);
            let now = Nanos(now_ns());
            match received.map_err(|error| failed(self.settled, due(self.settled), &error.to_string()))? {
                ReceivedMessage::Message(bytes) => {
                    heard = now;
                    if let Some(number) = self.settle(bytes)? {
                        each(now.since(due(number)), now);
                    }
                }
                ReceivedMessage::Nothing => self.give_up_old(now, heard, &due)?,
                ReceivedMessage::Closed => {
                    return Err(failed(self.settled, due(self.settled), "the server closed the connection"));
                }
            }
        }
    }

    /// The number of the response that arrived; `None` for one that was given up, or whose number is not clear.
    fn settle(&mut self, bytes: usize) -> Result<Option<u64>, Reason> {
        let expected = self.settled;
        let number = if self.wire.is_udp() {
            if self.is_late(bytes, expected) {
                self.unclear.undecided()?;
                return Ok(None);
            }
            let found = number_after(self.checked_part(bytes), expected);
            let Some(number) = found.filter(|number| *number < self.sent) else {
                return self.never_asked(bytes, expected).map(|()| None);
            };
            self.unclear.expected()?;
            number
        } else {
            expected
        };
        self.check(bytes, number)?;
        self.lost += number - expected;
        self.settled = number + 1;
        Ok(Some(number))
    }

    fn never_asked(&mut self, bytes: usize, expected: u64) -> Result<(), Reason> {
        self.check_length(bytes, expected)?;
        let text = format!("response {expected} came without its request");
        let wrong = self.check(bytes, expected).err().unwrap_or(Reason::new(Cause::CorruptData, text));
        self.unclear.unknown(wrong)
    }

    fn give_up_old(&mut self, now: Nanos, heard: Nanos, due: &dyn Fn(u64) -> Nanos) -> Result<(), Reason> {
        if self.settled == self.sent {
            return Ok(());
        }
        let waits = now.since(due(self.settled).max(heard));
        if !self.wire.is_udp() {
            let dead = waits > Nanos(REPLY_TIMEOUT.as_nanos() as u64);
            return if dead { Err(failed(self.settled, due(self.settled), "no response")) } else { Ok(()) };
        }
        if waits > Nanos(LOST_AFTER.as_nanos() as u64) {
            self.lose(1)?;
        }
        Ok(())
    }
}

fn failed(number: u64, since: Nanos, why: &str) -> Reason {
    let took = Nanos(now_ns()).since(since).get() / 1_000_000;
    Reason::new(Cause::IoError, format!("round trip {number} after {took} ms: {why}"))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    /// Settles responses of `len` bytes and these numbers, to 300 requests.
    fn settled(len: usize, numbers: &[u64]) -> (RequestLoop, Result<Vec<Option<u64>>, Reason>) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let mut requests = RequestLoop::new(Wire::Udp { socket, _control: None }, len, len);
        requests.sent = 300;
        let each = numbers.iter().map(|number| {
            MessagePattern::default().fill(&mut requests.response, *number);
            requests.settle(len)
        });
        let each = each.collect();
        (requests, each)
    }

    #[test]
    fn a_wrong_byte_behind_a_number_that_was_expected_is_wrong_data() {
        let (mut requests, _) = settled(300, &[0]);
        MessagePattern::default().fill(&mut requests.response, 1);
        requests.response[299] ^= 1;
        let refused = requests.settle(300).expect_err("wrong data");
        assert_eq!(refused.cause, Cause::CorruptData);
        assert!(refused.text.starts_with("byte 299 of response 1 is "), "{refused:?}");
    }

    #[test]
    fn a_long_run_of_lost_responses_is_no_wrong_data() {
        let (requests, each) = settled(8, &[0, 200, 3, 201]);
        assert_eq!(each, Ok(vec![Some(0), Some(200), None, Some(201)]));
        assert_eq!((requests.lost, requests.late), (199, 1));
    }

    #[test]
    fn a_response_to_what_was_never_asked_is_wrong_data() {
        for numbers in [&[0, 300][..], &[299, 300]] {
            assert_eq!(settled(8, numbers).1.expect_err("refused").cause, Cause::CorruptData);
        }
    }

    #[test]
    fn short_responses_that_may_be_wrong_or_behind_lost_ones_are_decided_by_the_next() {
        let cause = |numbers: &[u64]| settled(1, numbers).1.expect_err("refused").cause;
        assert_eq!(cause(&[0, 100, 101]), Cause::Contradiction);
        assert_eq!(cause(&[0, 1, 100, 0]), Cause::Contradiction, "followed by an old one");
        assert_eq!(cause(&[0, 100, 1]), Cause::CorruptData, "nothing was lost before the next");
        let (requests, each) = settled(1, &[0, 100]);
        assert_eq!(each, Ok(vec![Some(0), None]));
        assert_eq!(requests.unclear.undecided().expect_err("refused").cause, Cause::Contradiction);
    }
}
