//! Printing the result.

use std::io::{self, BufWriter, IsTerminal, Write, stderr, stdout};
use std::path::Path;

use seatrial_model::record::Document;
use seatrial_report::terminal::Context;
use seatrial_report::{Look, Style, csv, export, json, terminal};

use crate::args::{ColorChoice, OutputArgs, OutputFormat, STANDARD_OUTPUT};
use crate::error::CliError;

/// How text for people is to look on standard output.
pub fn look(color: ColorChoice) -> Look {
    let style = if is_colored(color, stdout().is_terminal()) { Style::Coloured } else { Style::Plain };
    let width = terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0);
    Look::new(style, width)
}

/// Whether a stream gets colour; [`no-color.org`](https://no-color.org) says what NO_COLOR means.
pub fn is_colored(color: ColorChoice, is_terminal: bool) -> bool {
    match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    }
}

/// Prints a run in the form that was asked for.
///
/// # Errors
/// When standard output is closed or full.
pub fn document(document: &Document, args: &OutputArgs, folder: Option<&Path>) -> Result<(), CliError> {
    // Standard output is written line by line, and the document of a large cluster has millions.
    let mut out = BufWriter::new(stdout().lock());
    match args.output {
        OutputFormat::Table => {
            let context = Context { folder, ..Context::default() };
            out.write_all(terminal::render(document, &context, look(args.color)).as_bytes())?;
        }
        OutputFormat::Json => json::write(document, json::Spacing::Pretty, &mut out)?,
        OutputFormat::Csv => csv::write(document, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// Writes the one text that standard output is for.
///
/// # Errors
/// When standard output is closed or full.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes the page that `--html FILE` asks for, whole or not at all; `-` is standard output.
///
/// # Errors
/// When the file cannot be written, with its name.
pub fn page(file: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let written = if file.as_os_str() == STANDARD_OUTPUT {
        let mut out = BufWriter::new(stdout().lock());
        fill(&mut out).and_then(|()| out.flush())
    } else {
        export::put(file, |out| fill(out))
    };
    written.map_err(|error| io::Error::new(error.kind(), format!("--html {}: {error}", file.display())))?;
    Ok(())
}

/// Says something beside the result.
pub fn warn(text: &str) {
    // Nobody to tell when standard error is closed.
    let _ = writeln!(stderr(), "{}", text.trim_end());
}
