//! How results are shown.

use clap::{Args, ValueEnum};

/// How results are shown.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Form of the result on standard output; json and csv print nothing else there
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    pub output: OutputFormat,
    /// When to use colour; NO_COLOR is honoured by auto
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// Form of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table for people
    #[default]
    Table,
    /// One JSON document, by the published schema
    Json,
    /// One line a metric of a case
    Csv,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
