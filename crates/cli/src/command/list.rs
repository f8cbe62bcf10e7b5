//! `seatrial list`.

use seatrial_model::name::{did_you_mean, nearest};
use seatrial_profile::{SHIPPED, Shipped};
use seatrial_report::list::{self, ProfileLine};
use seatrial_report::settings;

use crate::args::ListArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Shows benchmarks, settings and profiles, or explains one.
pub fn run(args: &ListArgs) -> Result<Exit, CliError> {
    let registry = seatrial_bench::registry();
    let known_settings = seatrial_settings::registry();
    let look = output::look(args.color);
    let text = match &args.name {
        None => {
            let abouts: Vec<_> = registry.abouts().collect();
            let profiles: Vec<_> = SHIPPED.iter().map(line).collect();
            let settings: Vec<_> = known_settings.abouts().collect();
            list::overview(&abouts, registry.planned, &settings, &profiles, look)
        }
        Some(name) => {
            if let Some(bench) = registry.find(name) {
                list::page(bench.about(), look)
            } else if let Some(setting) = known_settings.find(name) {
                settings::page(setting.about(), look)
            } else if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
                shipped.text.to_owned()
            } else {
                let known = registry
                    .abouts()
                    .map(|about| about.id)
                    .chain(known_settings.abouts().map(|about| about.id));
                let near =
                    nearest(name, known.chain(SHIPPED.iter().map(|shipped| shipped.name))).map(str::to_owned);
                let text =
                    format!("there is no benchmark, setting or profile '{name}'{}", did_you_mean(&near));
                return Err(CliError::Usage(text));
            }
        }
    };
    output::print(&text)?;
    Ok(Exit::MET)
}

/// A shipped profile's name and the title in its text.
fn line(shipped: &Shipped) -> ProfileLine {
    let title = shipped.text.lines().find_map(|line| line.strip_prefix("title = "));
    ProfileLine { id: shipped.name.to_owned(), title: title.unwrap_or_default().trim_matches('"').to_owned() }
}
