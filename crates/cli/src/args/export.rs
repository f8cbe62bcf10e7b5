//! `seatrial export`: one flag for every export that there is.

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use seatrial_report::export::{EXPORTS, Export, find};

/// Write a run in the forms that other programs read; several at once, `-` is standard output.
#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// An id, the start of one, `last`, `last~1`, or a run folder
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// What to write where.
    #[command(flatten)]
    pub targets: Targets,
}

/// What to write where: a flag each, made from the registry of exports.
#[derive(Clone, Default)]
pub struct Targets(pub Vec<(&'static dyn Export, String)>);

/// Standard output in the place of a file.
pub const STANDARD_OUTPUT: &str = "-";

/// The forms of which one at least must be asked for.
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
            // `--nagios RUN` would take the run for the file, so a file needs its equals sign there.
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
