//! `seatrial settings`.

mod apply;
mod ask;
mod orders;
mod plan;
mod restore;
mod rule;
mod trial;
pub mod tried;
pub mod worth;

use jiff::Zoned;
use jiff::civil::Date;
use seatrial_analysis::audit;
use seatrial_model::SiteNode;
use seatrial_model::profile::Profile;
use seatrial_model::setting::SettingsDocument;
use seatrial_profile::{SHIPPED, Source};
use seatrial_report::settings::render;

use super::check;
use crate::args::{SettingsArgs, SettingsCommand, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::session::{exit_of_verdict, site_of};
use crate::{fleet, output, roles};

pub fn run(args: &SettingsArgs) -> Result<Exit, CliError> {
    match &args.command {
        Some(SettingsCommand::Apply(args)) => apply::run(args),
        Some(SettingsCommand::Restore(args)) => restore::run(args),
        Some(SettingsCommand::Try(args)) => trial::run(args),
        None => shown(args),
    }
}

fn shown(args: &SettingsArgs) -> Result<Exit, CliError> {
    let abouts: Vec<_> = seatrial_settings::registry().abouts().collect();
    let today = Zoned::now().date();
    let mut chosen =
        args.profile.as_ref().map(|typed| check::chosen(typed, args.output.color)).transpose()?;
    if let Some((profile, _)) = &mut chosen {
        roles::give(profile, &args.roles)?;
    }
    let (profiles, name) = match chosen {
        Some((profile, name)) => (vec![profile], Some(name)),
        None => (shipped(today)?, None),
    };

    let fleet = fleet::launch(&args.nodes, args.script.as_deref())?;
    let mut site = site_of(fleet.as_ref());
    for missing in fleet.missing() {
        output::warn(&format!("no settings were read on {}: {}", missing.node, missing.why));
        site.nodes.push(SiteNode::new(&missing.node, Default::default()));
    }
    let audit = audit(&profiles, &site, &abouts, today);
    let is_judged = name.is_some();
    let document = SettingsDocument {
        schema: SettingsDocument::SCHEMA,
        seatrial: env!("CARGO_PKG_VERSION").to_owned(),
        profile: name,
        nodes: site.nodes.into_iter().map(|node| node.name).collect(),
        settings: audit.settings,
        verdicts: if is_judged { audit.verdicts } else { Vec::new() },
        verdict: audit.verdict.filter(|_| is_judged),
    };
    match args.output.output {
        TableOrJson::Json => {
            let text = serde_json::to_string_pretty(&document).map_err(std::io::Error::from)?;
            output::print(&(text + "\n"))?;
        }
        TableOrJson::Table => {
            output::print(&render(&document, &abouts, output::text_style(args.output.color)))?;
        }
    }
    Ok(match is_judged {
        true => exit_of_verdict(document.verdict, false),
        // Nothing was judged, but all nodes had to be read.
        false if fleet.missing().is_empty() => Exit::MET,
        false => Exit::INCOMPLETE,
    })
}

/// Shipped profiles that require settings.
fn shipped(today: Date) -> Result<Vec<Profile>, CliError> {
    let mut profiles = Vec::new();
    for shipped in SHIPPED {
        let loaded = check::load(&Source::Shipped(shipped.name.to_owned()), today);
        let profile = loaded.map_err(|found| CliError::profile(&found, false))?.profile;
        if !profile.settings.is_empty() {
            profiles.push(profile);
        }
    }
    Ok(profiles)
}
