//! `seatrial export`: one flag per export format.

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use seatrial_report::export::{EXPORTS, Export, find};

/// Write a run in formats of other programs; several at once, `-` is standard output.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Run: an id, a unique start or end of an id, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Formats and files.
    #[command(flatten)]
    pub targets: Targets,
}

/// Formats and files: one flag per entry of the registry of exports.
#[derive(Clone, Default)]
pub struct Targets(pub Vec<(&'static dyn Export, String)>);

/// File name for standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Group of the formats, of which at least one is required.
const GROUP: &str = "forms";

impl std::fmt::Debug for Targets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(export, file)| (export.about().flag, file))).finish()
    }
}

impl Args for Targets {
    fn augment_args(command: Command) -> Command {
        let group = ArgGroup::new(GROUP).multiple(true).required(true);
        let args = EXPORTS.iter().map(|export| {
            let about = export.about();
            let arg =
                Arg::new(about.flag).long(about.flag).value_name(about.value).help(about.help).group(GROUP);
            // `--nagios RUN` would take the run for the file, so a file needs an equals sign there.
            if about.bare {
                arg.num_args(0..=1).require_equals(true).default_missing_value(STANDARD_OUTPUT)
            } else {
                arg
            }
        });
        command.group(group).args(args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Targets {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut targets = Self::default();
        targets.update_from_arg_matches(matches)?;
        Ok(targets)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let flags = EXPORTS.iter().map(|export| export.about().flag);
        let given = flags.filter_map(|flag| Some((find(flag)?, matches.get_one::<String>(flag)?.clone())));
        self.0 = given.collect();
        Ok(())
    }
}
