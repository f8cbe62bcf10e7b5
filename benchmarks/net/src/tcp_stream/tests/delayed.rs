//! A path with a delay between two network namespaces: packets leave each through a TUN interface, wait in this
//! process, and enter the other. Other delays are not available: TCP_TX_DELAY needs the queueing discipline `fq`, and
//! `netem` is not in every kernel.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::kernel::tun;
use super::space::Pair;

pub const INTERFACE: &str = "far0";

const LARGEST: usize = 1 << 16;

pub struct Delayed {
    one_way_ns: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Delayed {
    pub fn between(pair: &Pair) -> Self {
        let end = |space: &super::space::Space, own: u8, other: u8| {
            let file = std::thread::scope(|scope| {
                let make = || {
                    space.enter();
                    tun(INTERFACE)
                };
                scope.spawn(make).join().expect("made")
            });
            // Queues that hold a whole window, so that no packet is lost however late these threads get a CPU.
            space.run(&format!(
                "ip addr add 10.98.0.{own} peer 10.98.0.{other} dev {INTERFACE} \
                 && ip link set {INTERFACE} mtu 1500 txqueuelen 100000 up \
                 && tc qdisc replace dev {INTERFACE} root pfifo limit 100000"
            ));
            file
        };
        let (one, other) = (end(&pair.first, 1, 2), end(&pair.second, 2, 1));
        let mut way = Self { one_way_ns: Arc::default(), over: Arc::default(), threads: Vec::new() };
        let copy = |file: &File| file.try_clone().expect("a second handle");
        way.carry(copy(&one), copy(&other));
        way.carry(other, one);
        way
    }

    pub fn set_one_way(&self, delay: Duration) {
        self.one_way_ns.store(delay.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Two threads: one reads packets, one writes them after the delay.
    fn carry(&mut self, mut from: File, mut to: File) {
        let (hold, held) = channel::<(Instant, Vec<u8>)>();
        let (delay, over) = (Arc::clone(&self.one_way_ns), Arc::clone(&self.over));
        self.threads.push(std::thread::spawn(move || {
            let mut room = vec![0; LARGEST];
            let patience = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            while !over.load(Ordering::Relaxed) {
                let mut ready = [PollFd::new(&from, PollFlags::IN)];
                if !poll(&mut ready, Some(&patience)).is_ok_and(|count| count > 0) {
                    continue;
                }
                let Ok(length) = from.read(&mut room) else { continue };
                let due = Instant::now() + Duration::from_nanos(delay.load(Ordering::Relaxed));
                if hold.send((due, room[..length].to_vec())).is_err() {
                    return;
                }
            }
        }));
        self.threads.push(std::thread::spawn(move || {
            for (due, packet) in held {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let _ = to.write(&packet);
            }
        }));
    }
}

impl Drop for Delayed {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
