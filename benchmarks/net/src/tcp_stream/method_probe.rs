//! Chooses the methods to send and to receive in the warm-up, by a short trial of each.
//!
//! Both ends follow one timetable from the start of the phase, so they need no messages: first the connections ramp
//! up, then the senders try their methods twice, in forward and in reverse order, while receivers use the plain one.
//! Then the receivers do the same, while senders use the chosen method. A method that is not available keeps its
//! turn, so that the ends stay in step.

use std::time::{Duration, Instant};

use seatrial_model::{Cause, Nanos, Reason};
use seatrial_sys::Errno;
use serde_json::{Value, json};

use super::config::TcpStreamConfig;
use super::flow::Lap;
use super::method::{Method, Receiving, Sending, choose};
use super::team::FlowTeam;
use seatrial_bench::Stop;

/// Ramp-up of the connections.
const RAMP: Duration = Duration::from_millis(200);

/// One turn of a method. Connections with round trips that are not short against it show no difference between
/// methods, and the plain one is kept.
const TURN: Duration = Duration::from_millis(40);

/// Drains what the last turn left in queues.
const SETTLE: Duration = Duration::from_millis(100);

/// Turns of one end: each method in forward and in reverse order.
const TURNS: usize = 8;

/// Length of the warm-up by which ends have to choose.
pub const fn warm_up(send: bool, receive: bool) -> Nanos {
    let turns = (send as u64 + receive as u64) * TURNS as u64;
    Nanos::millis((RAMP.as_millis() + SETTLE.as_millis()) as u64 + turns * TURN.as_millis() as u64)
}

#[derive(Debug)]
pub struct Found {
    pub send: Sending,
    pub receive: Receiving,
    pub shown: Value,
}

pub fn run(team: &mut FlowTeam, config: &TcpStreamConfig, stop: &Stop) -> Result<Found, Reason> {
    let mut send = config.send.unwrap_or(Sending::ALL[0]);
    let mut receive = config.receive.unwrap_or(Receiving::ALL[0]);
    let mut clock = Instant::now();
    team.turn(send, receive, false)?;
    clock += RAMP;
    team.wait(clock, stop, |_| {})?;
    let mut shown = json!({});
    let mut laps = Vec::new();
    if config.send.is_none() {
        let mut moved = MethodProbe::<Sending>::new();
        for method in moved.turns() {
            laps = team.turn(method, receive, false)?;
            moved.note(&laps, true);
            clock += TURN;
            team.wait(clock, stop, |_| {})?;
        }
        laps = team.turn(send, receive, false)?;
        moved.note(&laps, true);
        send = moved.chosen();
        shown["send"] = moved.shown();
    }
    if config.receive.is_none() {
        let mut moved = MethodProbe::<Receiving>::new();
        for method in moved.turns() {
            laps = team.turn(send, method, false)?;
            moved.note(&laps, false);
            clock += TURN;
            team.wait(clock, stop, |_| {})?;
        }
        laps = team.turn(send, receive, false)?;
        moved.note(&laps, false);
        receive = moved.chosen();
        shown["receive"] = moved.shown();
    }
    laps.extend(team.turn(send, receive, false)?);
    while !stop.is_over() {
        team.wait(Instant::now() + SETTLE, stop, |_| {})?;
    }
    let asked = (config.send.map(Method::word), config.receive.map(Method::word));
    Ok(Found {
        send,
        receive,
        shown: json!({ "asked": asked, "trials": shown, "send": send.word(), "receive": receive.word() }),
    })
}

/// Bytes, time (ns) and error by method.
struct MethodProbe<M> {
    tried: Vec<(M, Option<u64>, u64, Option<Errno>)>,
    turn: usize,
}

impl<M: Method> MethodProbe<M> {
    fn new() -> Self {
        Self { tried: M::ALL.map(|method| (method, None, 0, None)).to_vec(), turn: 0 }
    }

    fn turns(&self) -> Vec<M> {
        M::ALL.into_iter().chain(M::ALL.into_iter().rev()).collect()
    }

    /// Adds the result of the last turn; the first call ends the ramp-up, which has no result.
    fn note(&mut self, laps: &[Lap], sends: bool) {
        let turn = self.turn;
        self.turn += 1;
        let Some(method) = turn.checked_sub(1).and_then(|turn| self.turns().get(turn).copied()) else {
            return;
        };
        let Some(tally) = self.tried.iter_mut().find(|(other, ..)| *other == method) else { return };
        for lap in laps.iter().filter(|lap| lap.end.sends == sends) {
            match lap.refused {
                Some(error) => tally.3 = Some(error),
                None => {
                    *tally.1.get_or_insert(0) += lap.end.bytes;
                    tally.2 += lap.end.window_ns;
                }
            }
        }
    }

    /// Rates, because turns are not exactly equal in length.
    fn rate(tally: &(M, Option<u64>, u64, Option<Errno>)) -> Option<u64> {
        let (bytes, ns) = (tally.1?, tally.2.max(1));
        tally.3.is_none().then(|| (bytes as f64 / ns as f64 * 1e9) as u64)
    }

    fn chosen(&self) -> M {
        choose(&self.tried.iter().map(|tally| (tally.0, Self::rate(tally))).collect::<Vec<_>>())
    }

    fn shown(&self) -> Value {
        let show = |tally: &(M, Option<u64>, u64, Option<Errno>)| {
            let told = match tally.3 {
                Some(error) => json!({ "refused": error.to_string() }),
                // Per flow: bytes over the time of this flow.
                None => json!({ "gbit_s_a_flow": Self::rate(tally).map(|rate| rate as f64 * 8e-9) }),
            };
            (tally.0.word().to_owned(), told)
        };
        let told = self.tried.iter().filter(|tally| tally.1.is_some() || tally.3.is_some());
        Value::Object(told.map(show).collect())
    }
}

/// Fails if the kernel refuses a requested method.
pub fn require(config: &TcpStreamConfig, laps: &[Lap]) -> Result<(), Reason> {
    let Some((lap, error)) = laps.iter().find_map(|lap| Some((lap, lap.refused?))) else { return Ok(()) };
    let (parameter, word) = if lap.end.sends {
        ("send", config.send.map_or("auto", Method::word))
    } else {
        ("receive", config.receive.map_or("auto", Method::word))
    };
    let cause = if matches!(error, Errno::PERM | Errno::ACCESS) { Cause::Denied } else { Cause::Missing };
    let text =
        format!("{parameter}={word}: the kernel refuses this method: {error}; choose another, or auto");
    Err(Reason::new(cause, text))
}
