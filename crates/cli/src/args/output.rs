//! How results are shown.

use clap::{Args, ValueEnum};

/// How results are shown, in one of the formats of the command.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs<Form: ValueEnum + Default + Send + Sync + 'static = OutputFormat> {
    /// Format of the result on standard output; with any but table, nothing else is printed there
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    pub output: Form,
    /// When to use colour; auto follows NO_COLOR
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// Format of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table for people
    #[default]
    Table,
    /// One JSON document in the published schema
    Json,
    /// One CSV line per metric of a case
    Csv,
}

/// Format of a result that is not a list of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableOrJson {
    /// A table for people
    #[default]
    Table,
    /// One JSON document
    Json,
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
