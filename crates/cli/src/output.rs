//! Prints results.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write, stderr, stdout};
use std::path::Path;

use seatrial_model::record::Document;
use seatrial_report::terminal::{Content, TerminalContext};
use seatrial_report::{Style, TextStyle, clean_lines, csv, export, json, terminal};

use crate::args::{ColorChoice, OutputArgs, OutputFormat, STANDARD_OUTPUT};
use crate::error::CliError;

pub fn text_style(color: ColorChoice) -> TextStyle {
    let style = if is_colored(color, stdout().is_terminal()) { Style::Coloured } else { Style::Plain };
    let width = terminal_size::terminal_size_of(stdout()).map(|(width, _)| width.0);
    TextStyle::new(style, width)
}

/// Whether a stream gets colour; see [`no-color.org`](https://no-color.org) for NO_COLOR.
pub fn is_colored(color: ColorChoice, is_terminal: bool) -> bool {
    match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    }
}

/// Prints the result in the chosen format; as text that `content`.
pub fn document(
    document: &Document,
    args: &OutputArgs,
    content: Content<'_>,
    folder: Option<&Path>,
) -> Result<(), CliError> {
    fill(|out| match args.output {
        OutputFormat::Table => {
            let abouts: Vec<_> = seatrial_registry::REGISTRY.abouts().collect();
            let context = TerminalContext { folder, content, abouts: &abouts, ..TerminalContext::default() };
            out.write_all(terminal::render(document, &context, text_style(args.color)).as_bytes())
        }
        OutputFormat::Json => json::write(document, json::Spacing::Pretty, out),
        OutputFormat::Csv => csv::write(document, out),
    })
}

/// The first screen, or everything with `details`.
pub fn content(details: bool) -> Content<'static> {
    if details { Content::Details } else { Content::Screen }
}

pub fn print(text: &str) -> Result<(), CliError> {
    fill(|out| out.write_all(text.as_bytes()))
}

/// Fills standard output. A reader that closes the pipe, such as `head`, is no error, and keeps the exit code.
pub fn fill(fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> Result<(), CliError> {
    // Standard output is line-buffered, and the document of a large cluster has millions of lines. Not locked: an
    // export may write from a thread of its own.
    let mut out = BufWriter::new(Reader { out: stdout(), has_left: false });
    let written = fill(&mut out).and_then(|()| out.flush());
    let (reader, _) = out.into_parts();
    Ok(written.or_else(|error| if reader.has_left { Ok(()) } else { Err(error) })?)
}

/// Standard output. Notes a closed pipe, since an exporter may wrap the error.
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

/// Writes the page of `--html FILE`, whole or not at all; `-` is standard output.
pub fn page(file: &Path, page: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    if file.as_os_str() == STANDARD_OUTPUT {
        return fill(|out| page(out));
    }
    let written = export::put(file, |out| page(out));
    written.map_err(|error| io::Error::new(error.kind(), format!("--html {}: {error}", file.display())))?;
    Ok(())
}

/// Prints a warning, which may contain text of others.
pub fn warn(text: &str) {
    tell(&clean_lines(text));
}

/// Prints text that is safe for a terminal.
pub fn tell(text: &str) {
    // Standard error may be closed.
    let _ = writeln!(stderr(), "{}", text.trim_end());
}
