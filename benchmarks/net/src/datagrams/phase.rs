//! One phase of an end: both ends become ready, send and receive, and agree on the number sent.

use std::net::IpAddr;
use std::thread;
use std::time::{Duration, Instant};

use seatrial_model::{Cause, Reason, Sample};
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::datagram::{DatagramCounters, fine_timers, qdiscs};
use seatrial_sys::net::host_time;
use seatrial_sys::root::SysRoot;

use super::closed::{nothing, refused};
use super::config::UdpStreamConfig;
use super::control::Control;
use super::inbound::{Inbound, ReceiveThread};
use super::kernel;
use super::outbound::{SendThread, SenderSpec};
use super::record::{Effort, Received, Sent};
use super::rules::Rules;
use super::shared::Shared;
use super::talk::Talk;
use super::threads::{Took, effort, timed};
use seatrial_bench::{REPLY_TIMEOUT, Stop, ThreadSpec, ThreadTeam};

/// Phase number of the warm-up; measured phases follow.
pub const WARM_UP: u16 = 1;

/// Datagrams of a warm-up of which at least one must arrive; fewer could all be lost on a lossy path.
const MANY: u64 = 30;

pub struct Stage {
    pub control: Control,
    pub peer: IpAddr,
    pub interface: Option<String>,
    pub sending: Option<(SenderSpec, Vec<SendThread>)>,
    pub receiving: Option<(SenderSpec, Received, Vec<ReceiveThread>)>,
    pub silent: Option<String>,
}

pub struct Ran {
    pub sent: Option<Sent>,
    pub received: Option<Received>,
    pub samples: Vec<Sample>,
}

struct Threads {
    other: Option<Vec<u64>>,
    sending: Vec<Took>,
    receiving: Vec<Took>,
}

impl Stage {
    pub fn run(&mut self, config: &UdpStreamConfig, number: u16, stop: &Stop) -> Result<Ran, Reason> {
        if let Some(why) = &self.silent {
            return Err(Reason::new(Cause::IoError, why.clone()));
        }
        let root = SysRoot::live();
        let interface = self.interface.clone();
        let interface = interface.as_deref();
        let before = (DatagramCounters::read(&root, interface), host_time(&root).ok());
        let (shared, began_ns) = (Shared::new(config.flows), now_ns());
        let threads = self.threads(config, number, stop, &shared)?;
        let machine = host_time(&root).ok().zip(before.1).map(|(now, then)| now.since(&then));
        let counters = DatagramCounters::read(&root, interface).since(&before.0);
        let phase_ns = now_ns() - began_ns;
        let effort = |took: &[Took]| Effort {
            phase_ns,
            machine_busy_ns: machine.map(|time| time.busy_ns()),
            machine_softirq_ns: machine.map(|time| time.softirq_ns),
            ..effort(took)
        };
        let silent = threads.other.is_none().then(|| {
            let text = "did not answer for";
            format!(
                "{} {text} {} s: the network was cut, or the process is frozen",
                self.peer,
                REPLY_TIMEOUT.as_secs()
            )
        });
        self.silent.clone_from(&silent);
        let sent = self.sending.as_ref().map(|(common, senders)| {
            let mut flows: Vec<_> = senders.iter().flat_map(SendThread::end).collect();
            flows.sort_by_key(|(number, _)| *number);
            let queues = interface.and_then(|name| qdiscs(name).ok()).unwrap_or_default();
            Sent {
                message: common.message,
                rate: config.rate,
                path_mtu: common.path_mtu,
                headers: common.headers,
                segments: senders.iter().map(|thread| thread.out.layout().segments).min().unwrap_or(1),
                queues: queues.into_iter().filter(|queue| queue.is_root).map(|queue| queue.kind).collect(),
                interface: self.interface.clone(),
                flows: flows.into_iter().map(|(_, flow)| flow).collect(),
                effort: effort(&threads.sending),
                counters: counters.clone().into(),
                silent: silent.clone(),
            }
        });
        let mut samples = Vec::new();
        let mut received = None;
        if let Some((_, about, receivers)) = &mut self.receiving {
            let mut flows: Vec<_> = receivers.iter_mut().flat_map(|thread| thread.end(&shared)).collect();
            flows.sort_by_key(|(number, _)| *number);
            for flow in receivers.iter().flat_map(|thread| &thread.flows) {
                samples.extend(flow.slices.samples(flow.number));
            }
            let found = Received {
                flows: flows.into_iter().map(|(_, tally)| tally).collect(),
                effort: effort(&threads.receiving),
                counters: counters.into(),
                silent,
                ..about.clone()
            };
            if number > WARM_UP || found.total(|flow| flow.sent) >= MANY {
                nothing(&found, self.peer)?;
            }
            received = Some(found);
        }
        Ok(Ran { sent, received, samples })
    }

    fn threads(
        &mut self,
        config: &UdpStreamConfig,
        number: u16,
        stop: &Stop,
        shared: &Shared,
    ) -> Result<Threads, Reason> {
        let Self { control, sending, receiving, peer, .. } = self;
        let peer = *peer;
        let until = Instant::now() + stop.left() + REPLY_TIMEOUT;
        let mut talk = Talk::new(control, number, until);
        thread::scope(|scope| {
            let own = receiving.iter_mut().flat_map(|(common, _, threads)| {
                let rules = rules(common, number);
                threads.iter_mut().map(move |thread| (rules, thread))
            });
            let own = own.enumerate().map(|(at, (rules, thread))| {
                thread.begin();
                (ThreadSpec::new("receive", config.receiving_cpu(at)), move || Ok((rules, thread)))
            });
            let receivers = ThreadTeam::start_in(scope, own, "-p threads=")?;
            let received = receivers.begin(0..receivers.len(), move |_, (rules, thread)| {
                let ReceiveThread { flows, sockets, incoming } = &mut **thread;
                let failed = |error| Reason::new(Cause::IoError, format!("receiving from {peer}: {error}"));
                let (took, ()) =
                    timed(|| kernel::receive(flows, sockets, incoming, *rules, shared).map_err(failed))?;
                // Behind the last datagram it waits for those that are lost.
                let last = flows.iter().filter_map(Inbound::last_ns).max();
                let end = shared.ended_ns().map(|end| last.map_or(end, |last| last.max(end)));
                Ok((took.until(end), ()))
            });
            let is_broken = &|| receivers.owed() < receivers.len();
            while shared.ready() < receivers.len() && !is_broken() {
                thread::sleep(Duration::from_micros(100));
            }
            let talked: Result<_, Reason> = (move || {
                if !talk.begin(is_broken)? {
                    return Ok((Vec::new(), None));
                }
                // Moved, not borrowed: the threads outlive this block.
                let own = { sending }.iter_mut().flat_map(|(common, threads)| {
                    let rules = rules(common, number);
                    threads.iter_mut().map(move |thread| (rules, thread))
                });
                let own = own.enumerate().map(|(at, (rules, thread))| {
                    thread.begin(config, rules.message);
                    (ThreadSpec::new("send", config.sending_cpu(at)), move || Ok((rules, thread)))
                });
                let senders = ThreadTeam::start_in(scope, own, "-p threads=")?;
                let sent = senders.begin(0..senders.len(), move |_, (rules, thread)| {
                    let SendThread { flows, out } = &mut **thread;
                    timed(|| {
                        // Without fine timers sleeps are 50 us longer, which the schedule makes up for.
                        let _ = fine_timers();
                        let sent = kernel::send(flows, out, *rules, config.pacing, stop, shared);
                        sent.map_err(|(at, error)| {
                            shared.halt();
                            refused(&flows[at], error, rules.message)
                        })?;
                        Ok(flows.iter().map(|flow| (flow.number, flow.sent)).collect::<Vec<_>>())
                    })
                });
                let is_over = || senders.owed() == 0;
                let listened = talk.listen_until(|| is_over() || is_broken());
                if listened.is_err() || is_broken() {
                    shared.halt();
                }
                let (took, sent): (Vec<_>, Vec<_>) = sent.collect(Duration::MAX)?.into_iter().unzip();
                listened?;
                let mut sent: Vec<(u16, u64)> = sent.into_iter().flatten().collect();
                sent.sort_unstable();
                let sent = sent.into_iter().map(|(_, sent)| sent).collect();
                Ok((took, talk.end(sent, is_broken)?))
            })();
            match &talked {
                Ok((_, Some(sent))) => shared.end(sent, now_ns()),
                _ => shared.halt(),
            }
            // An error of this end says more than that the other end left because of it.
            let receiving = received.collect(Duration::MAX)?.into_iter().map(|(took, ())| took).collect();
            let (sending, other) = talked?;
            Ok(Threads { other, sending, receiving })
        })
    }
}

fn rules(common: &SenderSpec, phase: u16) -> Rules<'_> {
    Rules { cookie: common.cookie, phase, message: common.message, pattern: &common.pattern }
}
