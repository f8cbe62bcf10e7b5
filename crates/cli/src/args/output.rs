//! How results are shown.

use clap::{Args, ValueEnum};

/// How results are shown, in one of the forms that the command has.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs<Form: ValueEnum + Default + Send + Sync + 'static = OutputFormat> {
    /// Form of the result on standard output; every form but table prints nothing else there
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    pub output: Form,
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

/// Form of a result that is not a list of numbers.
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
