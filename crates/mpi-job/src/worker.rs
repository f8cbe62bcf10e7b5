//! The parts of a case: the first starts the job, passes phases on, and records what the job was; those of other nodes run the
//! launcher's commands.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use seatrial_bench::group::PARTS;
use seatrial_bench::{Endpoint, Listener, Offer, Part, PeerAddress, Prepared, Running, Sink, Stop, ends};
use seatrial_model::{
    Case, Cause, Evidence, Integrity, Measures, Params, PartPlacement, PartRecord, Phase, Reason,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::between_nodes::hosts;
use crate::hung;
use crate::ranks::{PER_NODE, RANKS, patience};
use crate::{CONNECTIONS, HostLink, Job, JobHosts, JobSpec, Launcher, LibraryFacts, NodeEnd, kept};

/// Evidence of the part that the case keeps.
const KEPT: [&str; 5] = ["library", "launcher", "ranks", "environment", "printed"];

/// Time of all ranks in MPI_Finalize when everything is measured and checked.
const LEAVING: Duration = Duration::from_secs(10);

/// A path that a parameter names; `None` where it is `auto`.
fn path<'a>(params: &'a Params, name: &str) -> Result<Option<&'a Path>, Reason> {
    let text = params.text(name)?;
    Ok((text != "auto").then(|| Path::new(text)))
}

/// The part of `case` at `place`, which starts one job whose ranks run the program of the benchmark `bench` with what `config` reads.
pub fn part<C: Serialize + 'static>(
    bench: &'static str,
    case: &Case,
    place: &PartPlacement,
    config: fn(&Case) -> Result<C, Reason>,
) -> Part {
    let prepare = move |case: &Case, place: &PartPlacement| {
        let of_node = CONNECTIONS + cpus(case, place)?.len();
        if place.index > 0 {
            let start = |streams| Ok(Follower { end: NodeEnd::start(streams)? });
            return follow(case, place, of_node, start);
        }
        let spec = spec(bench, case, place, config(case)?)?;
        if count_nodes(case) > 1 {
            return lead(case, place, spec, of_node, move |spec, streams| {
                Worker::start(spec, HostLink::of_streams(streams, of_node))
            });
        }
        let running = Worker::start(spec, Vec::new())?;
        Ok(Prepared::new(place, Value::Null, |_| Ok(running))?.with_peers(Vec::new()))
    };
    Part::new(case, place, prepare)
}

/// What the part of a node tells the others.
#[derive(Serialize, Deserialize)]
struct NodeOffer {
    /// Where the part listens that starts the job.
    address: Option<PeerAddress>,
    /// The CPU of each of its ranks.
    cpus: Vec<Option<u32>>,
}

fn cpus(case: &Case, place: &PartPlacement) -> Result<Vec<Option<u32>>, Reason> {
    let ranks = case.planned.count(PER_NODE)? as usize;
    Ok((0..ranks).map(|rank| place.cpu(rank)).collect())
}

/// The job as far as the first part knows it alone.
pub fn spec(
    bench: &'static str,
    case: &Case,
    place: &PartPlacement,
    config: impl Serialize,
) -> Result<JobSpec, Reason> {
    let library = LibraryFacts::find(path(&case.params, "library")?)?;
    Ok(JobSpec {
        launcher: Launcher::of(&library, path(&case.params, "launcher")?)?,
        library,
        ranks: case.planned.count(RANKS)? as usize,
        hosts: JobHosts { names: vec![place.node.clone()], ..JobHosts::default() },
        bench,
        config: serde_json::to_value(config)
            .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?,
        thread_level: case.params.text("thread_level")?.to_owned(),
        cpus: cpus(case, place)?,
        patience: patience(case),
    })
}

/// The number of nodes of a case: a part of several nodes does not get the places of all.
pub fn count_nodes(case: &Case) -> usize {
    case.planned.count(PARTS).unwrap_or(1) as usize
}

fn endpoint(case: &Case) -> Endpoint {
    Endpoint::tcp(ends::interface_for(case, 0), false)
}

/// The part that starts jobs over all nodes of the case, to which each other node makes `of_node` connections. `start` gets
/// the job of all nodes and the connections, node by node.
pub fn lead<R: Running + 'static>(
    case: &Case,
    place: &PartPlacement,
    mut spec: JobSpec,
    of_node: usize,
    start: impl FnOnce(JobSpec, Vec<TcpStream>) -> Result<R, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    let nodes = count_nodes(case);
    let listener = Listener::open(&endpoint(case))?;
    let offer = NodeOffer { address: Some(listener.address()?), cpus: spec.cpus.clone() };
    let (case, place_of_part) = (case.clone(), place.clone());
    Prepared::new(place, offer, move |offers| {
        let within = spec.patience.min(case.budget.connect.into());
        let streams = listener.accept_within((nodes - 1) * of_node, within)?.streams;
        let (mut names, mut addresses) = (Vec::new(), Vec::new());
        for index in 0..nodes {
            let (offer, node): (NodeOffer, &str) = Offer::of_part(offers, index as u32)?;
            names.push(node.to_owned());
            addresses.push(match index.checked_sub(1) {
                None => address(&streams[0], TcpStream::local_addr)?,
                Some(other) => address(&streams[other * of_node], TcpStream::peer_addr)?,
            });
            if index > 0 {
                spec.cpus.extend(offer.cpus);
            }
        }
        if let Some((first, second)) = same(&addresses) {
            let text = format!(
                "{} and {} have one address, {}: a job needs nodes with addresses of their own",
                names[first], names[second], addresses[first]
            );
            return Err(Reason::new(Cause::Contradiction, text));
        }
        debug_assert_eq!(names.first(), Some(&place_of_part.node));
        spec.hosts = hosts(&case, names, addresses);
        start(spec, streams)
    })
}

/// How a launcher is told the node at an end of a connection.
fn address(
    stream: &TcpStream,
    end: fn(&TcpStream) -> std::io::Result<std::net::SocketAddr>,
) -> Result<String, Reason> {
    let address = end(stream).map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
    match address.ip().to_canonical() {
        IpAddr::V4(address) => Ok(address.to_string()),
        IpAddr::V6(address) => {
            let text = format!(
                "the nodes meet by {address}: launchers take IPv4 addresses only; set -p interface= to one with IPv4"
            );
            Err(Reason::new(Cause::Missing, text))
        }
    }
}

/// Two nodes with one address.
fn same(addresses: &[String]) -> Option<(usize, usize)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    addresses.iter().enumerate().find_map(|(at, address)| Some((seen.insert(address, at)?, at)))
}

/// The part of another node, which makes `of_node` connections to the first part; `start` gets them.
pub fn follow<R: Running + 'static>(
    case: &Case,
    place: &PartPlacement,
    of_node: usize,
    start: impl FnOnce(Vec<TcpStream>) -> Result<R, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    let (endpoint, count, index) = (endpoint(case), of_node as u32, place.index);
    let offer = NodeOffer { address: None, cpus: cpus(case, place)? };
    let connect = move |offers: &[Offer]| {
        let (first, node): (NodeOffer, &str) = Offer::of_part(offers, 0)?;
        let missing = || Reason::new(Cause::Protocol, format!("the part on {node} offers no address"));
        let address = first.address.ok_or_else(missing)?;
        let numbers = (index - 1) * count..index * count;
        let streams = numbers.map(|number| address.connect(&endpoint, number)).collect::<Result<_, _>>()?;
        start(streams)
    };
    Ok(Prepared::new(place, offer, connect)?.with_peers(vec![0]))
}

/// Records what a job is.
pub fn tell_job(spec: &JobSpec, job: &Job, out: &mut dyn Sink) {
    out.evidence("library", json!(spec.library));
    out.evidence("launcher", json!(spec.launcher));
    out.evidence("ranks", json!(job.facts));
    let Job { scrubbed, network, .. } = job;
    out.evidence("environment", json!({ "kept": kept(), "set": network, "removed": scrubbed }));
    if let Some(words) = job.words() {
        out.evidence("printed", json!(words));
    }
}

struct Worker {
    job: Job,
    spec: JobSpec,
    /// Why ranks did not return from MPI_Finalize.
    hung: Option<String>,
}

impl Worker {
    fn start(spec: JobSpec, links: Vec<HostLink>) -> Result<Self, Reason> {
        Ok(Self { job: Job::start(&spec, links)?, spec, hung: None })
    }
}

impl Running for Worker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        for sample in self.job.run(phase, stop)? {
            out.sample(sample);
        }
        if phase == Phase::Measure {
            tell_job(&self.spec, &self.job, out);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let integrity = self.job.verify()?;
        match self.job.finish(self.spec.patience.min(LEAVING)) {
            Ok(_) => {}
            // What was measured is complete and checked.
            Err(reason) if reason.cause == Cause::Hang => self.hung = Some(reason.text),
            Err(reason) => return Err(reason),
        }
        Ok(integrity)
    }

    fn late_evidence(&self) -> Evidence {
        self.hung.iter().map(|text| (hung::EVIDENCE.to_owned(), json!(text))).collect()
    }
}

/// The part of a node on which another part's launcher starts ranks.
struct Follower {
    end: NodeEnd,
}

impl Running for Follower {
    fn run(&mut self, _: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Reason> {
        // The counters of this node are read when the ranks have ended the phase.
        self.end.wait()
    }

    /// The first part tells what all ranks have checked.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Verified { checked: 0 })
    }
}

/// Keeps what the first part recorded of the job.
pub fn keep_job(measures: &mut Measures, parts: &[PartRecord]) {
    measures.findings.extend(hung::finding(parts));
    measures.keep_evidence(parts, &KEPT);
    measures.keep_integrity(parts.first());
}
