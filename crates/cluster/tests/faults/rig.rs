//! A fleet for a test: starts workers, leads them through phases, and waits for their messages in bounded time.

use seatrial_bench::Offer;
use seatrial_cluster::{
    Command, Fleet, FleetEvent, FromWorker, Launcher, LocalLauncher, NodeIndex, Report, ToWorker, WorkerEnd,
    WorkerId,
};
use seatrial_model::{Case, Nanos};

use crate::process::PATIENCE;
use crate::{BUILD, cases};

pub const NODE: NodeIndex = NodeIndex(0);

pub struct Rig {
    pub fleet: Box<dyn Fleet>,
    last: u64,
}

pub struct Toy {
    pub id: WorkerId,
    pub pid: u32,
    pub agent: u32,
    pub child: Option<u32>,
    offer: Offer,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(&LocalLauncher::new(BUILD).node("n1").hello_within(PATIENCE))
    }

    pub fn with(launcher: &impl Launcher) -> Self {
        Self { fleet: launcher.launch().expect("the agent starts"), last: 0 }
    }

    pub fn spawn(&mut self, case: &Case) -> WorkerId {
        self.last += 1;
        let worker = WorkerId(self.last);
        self.fleet.send(NODE, Command::Spawn { worker, case: Box::new(case.clone()), place: 0, trial: 0 });
        worker
    }

    /// Starts a worker that does `what`, and prepares it.
    pub fn prepare(&mut self, what: &str) -> Toy {
        let id = self.spawn(&cases::case(what));
        self.tell(id, ToWorker::Prepare);
        let FromWorker::Prepared { offer } = self.said(id) else { panic!("not prepared") };
        let number = |name: &str| offer.data[name].as_u64().map(|pid| pid as u32);
        let (pid, agent) = (number("pid").expect("a pid"), number("agent").expect("a pid"));
        Toy { id, pid, agent, child: number("child"), offer }
    }

    /// Starts a worker that does `what`, and connects it to itself.
    pub fn connect(&mut self, what: &str) -> Toy {
        let toy = self.prepare(what);
        self.tell(toy.id, ToWorker::Connect { offers: vec![toy.offer.clone()].into() });
        assert_eq!(self.said(toy.id), FromWorker::Connected);
        toy
    }

    /// Starts a worker, and its measurement without time limit.
    pub fn measure(&mut self, what: &str) -> Toy {
        let toy = self.connect(what);
        self.tell(toy.id, ToWorker::WarmUp { span: Nanos::millis(5) });
        assert_eq!(self.said(toy.id), FromWorker::WarmedUp);
        self.tell(toy.id, ToWorker::Measure { span: Nanos::secs(3600), at: None });
        toy
    }

    pub fn tell(&mut self, worker: WorkerId, message: ToWorker) {
        self.fleet.send(NODE, Command::Tell { worker, message });
    }

    pub fn kill(&mut self, worker: WorkerId) {
        self.fleet.send(NODE, Command::Kill { worker });
    }

    pub fn next(&mut self) -> FleetEvent {
        let deadline = self.fleet.now().plus(PATIENCE.into());
        match self.fleet.next(deadline) {
            FleetEvent::Quiet => panic!("nothing came for {PATIENCE:?}"),
            notice => notice,
        }
    }

    pub fn said(&mut self, worker: WorkerId) -> FromWorker {
        loop {
            match self.next() {
                FleetEvent::From(_, Report::Said { worker: who, message }) if who == worker => {
                    return message;
                }
                FleetEvent::From(_, Report::Ended { worker: who, end }) if who == worker => {
                    panic!("{who} ended: {end:?}")
                }
                FleetEvent::Lost(_, why) => panic!("the agent is lost: {why}"),
                _ => {}
            }
        }
    }

    /// How this worker ends, and the number of samples before.
    pub fn ended(&mut self, worker: WorkerId) -> (WorkerEnd, usize) {
        let mut samples = 0;
        loop {
            match self.next() {
                FleetEvent::From(_, Report::Ended { worker: who, end }) if who == worker => {
                    return (end, samples);
                }
                FleetEvent::From(_, Report::Said { worker: who, message: FromWorker::Samples { batch } })
                    if who == worker =>
                {
                    samples += batch.len();
                }
                FleetEvent::Lost(_, why) => panic!("the agent is lost: {why}"),
                _ => {}
            }
        }
    }

    pub fn lost(&mut self) -> String {
        loop {
            if let FleetEvent::Lost(NODE, why) = self.next() {
                return why;
            }
        }
    }
}
