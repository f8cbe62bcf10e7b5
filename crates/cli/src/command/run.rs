//! `seatrial run`.

use seatrial_engine::{Request, RequestError};
use seatrial_model::Params;

use crate::args::RunArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::params;
use crate::session::{self, Job};

/// Measures without judging.
pub fn run(args: &RunArgs) -> Result<Exit, CliError> {
    session::run(|| job(args), &args.measure, false)
}

fn job(args: &RunArgs) -> Result<Job, CliError> {
    let registry = seatrial_bench::registry();
    let mut abouts = Vec::new();
    for id in &args.benchmarks {
        let bench = registry.find(id).ok_or_else(|| RequestError::UnknownBenchmark {
            id: id.clone(),
            nearest: registry.nearest(id).map(str::to_owned),
        })?;
        abouts.push(bench.about());
    }
    let shares = params::share_out(&params::parse(&args.params)?, &abouts)?;
    let requests = abouts.iter().zip(shares).map(|(about, params)| Request {
        group: about.id.to_owned(),
        bench: about.id.to_owned(),
        params,
        on: Params::default(),
        roles: Vec::new(),
        pattern: args.pattern.clone(),
        partner: None,
        rounds: args.rounds,
        links: args.links,
    });
    Ok(Job { requests: requests.collect(), profile: None })
}
