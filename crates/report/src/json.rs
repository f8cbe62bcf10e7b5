//! The record as one JSON document.

use std::io::{self, Write};

use seatrial_model::record::Document;

/// How the document is spaced; the content is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    #[default]
    Compact,
    Pretty,
}

/// Writes `document` to `out`, with a line feed behind it. NaN and infinity cannot occur: the record has none.
///
/// # Errors
/// When `out` cannot be written, or a number is not finite and JSON cannot say it.
pub fn write(document: &Document, spacing: Spacing, out: &mut dyn Write) -> io::Result<()> {
    match spacing {
        Spacing::Compact => serde_json::to_writer(&mut *out, document),
        Spacing::Pretty => serde_json::to_writer_pretty(&mut *out, document),
    }
    .map_err(io::Error::from)?;
    out.write_all(b"\n")
}
