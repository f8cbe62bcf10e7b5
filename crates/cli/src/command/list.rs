//! `seatrial list`.

use seatrial_engine::RequestError;
use seatrial_profile::{SHIPPED, Shipped};
use seatrial_report::list::{self, ProfileLine};

use crate::args::ListArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Shows benchmarks and profiles, or explains one.
pub fn run(args: &ListArgs) -> Result<Exit, CliError> {
    let registry = seatrial_bench::registry();
    let look = output::look(args.color);
    let text = match &args.name {
        None => {
            let abouts: Vec<_> = registry.abouts().collect();
            let profiles: Vec<_> = SHIPPED.iter().map(line).collect();
            list::overview(&abouts, registry.planned, &profiles, look)
        }
        Some(name) => match (registry.find(name), SHIPPED.iter().find(|shipped| shipped.name == name)) {
            (Some(bench), _) => list::page(bench.about(), look),
            (None, Some(shipped)) => shipped.text.to_owned(),
            (None, None) => {
                let nearest = registry.nearest(name).map(str::to_owned);
                return Err(RequestError::UnknownBenchmark { id: name.clone(), nearest }.into());
            }
        },
    };
    output::print(&text)?;
    Ok(Exit::MET)
}

/// A shipped profile's name and the title in its text.
fn line(shipped: &Shipped) -> ProfileLine {
    let title = shipped.text.lines().find_map(|line| line.strip_prefix("title = "));
    ProfileLine { id: shipped.name.to_owned(), title: title.unwrap_or_default().trim_matches('"').to_owned() }
}
