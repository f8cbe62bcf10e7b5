//! Printing the result.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write, stderr, stdout};
use std::path::Path;

use seatrial_model::record::Document;
use seatrial_report::terminal::TerminalContext;
use seatrial_report::{Style, TextStyle, clean_lines, csv, export, json, terminal};

use crate::args::{ColorChoice, OutputArgs, OutputFormat, STANDARD_OUTPUT};
use crate::error::CliError;

/// Colors and width of text on standard output.
pub fn text_style(color: ColorChoice) -> TextStyle {
    let style = if is_colored(color, stdout().is_terminal()) { Style::Coloured } else { Style::Plain };
    let width = terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0);
    TextStyle::new(style, width)
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
pub fn document(document: &Document, args: &OutputArgs, folder: Option<&Path>) -> Result<(), CliError> {
    fill(|out| match args.output {
        OutputFormat::Table => {
            let context = TerminalContext { folder, ..TerminalContext::default() };
            out.write_all(terminal::render(document, &context, text_style(args.color)).as_bytes())
        }
        OutputFormat::Json => json::write(document, json::Spacing::Pretty, out),
        OutputFormat::Csv => csv::write(document, out),
    })
}

/// Writes the one text that standard output is for.
pub fn print(text: &str) -> Result<(), CliError> {
    fill(|out| out.write_all(text.as_bytes()))
}

/// Has standard output filled. A reader that has seen enough, such as `head`, is no failure, and changes nothing about what
/// was found: how the command ends is up to the caller.
pub fn fill(fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<(), CliError> {
    // Standard output is written line by line, and the document of a large cluster has millions. Not its lock: an export
    // may write from a thread of its own.
    let mut out = BufWriter::new(Reader { out: stdout(), has_left: false });
    let written = fill(&mut out).and_then(|()| out.flush());
    let (reader, _) = out.into_parts();
    Ok(written.or_else(|error| if reader.has_left { Ok(()) } else { Err(error) })?)
}

/// Whoever reads standard output. An exporter may wrap the error of a closed pipe into one of its own, so it is noted here.
struct Reader {
    out: Stdout,
    has_left: bool,
}

impl Reader {
    fn noted<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        self.has_left |= matches!(&written, Err(error) if error.kind() == ErrorKind::BrokenPipe);
        written
    }
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

/// Writes the page that `--html FILE` asks for, whole or not at all; `-` is standard output.
pub fn page(file: &Path, page: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    if file.as_os_str() == STANDARD_OUTPUT {
        return fill(|out| page(out));
    }
    let written = export::put(file, |out| page(out));
    written.map_err(|error| io::Error::new(error.kind(), format!("--html {}: {error}", file.display())))?;
    Ok(())
}

/// Says something beside the result, which may contain what others wrote.
pub fn warn(text: &str) {
    tell(&clean_lines(text));
}

/// Says something that was made safe for a terminal already.
pub fn tell(text: &str) {
    // Nobody to tell when standard error is closed.
    let _ = writeln!(stderr(), "{}", text.trim_end());
}
