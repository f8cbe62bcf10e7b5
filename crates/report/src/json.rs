//! The record as one JSON document.

use std::io::{self, Write};

use seatrial_model::record::Document;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    #[default]
    Compact,
    Pretty,
}

/// Writes `document` to `out`, followed by a line feed. Fails on NaN and infinity, which no record has.
pub fn write(document: &Document, spacing: Spacing, out: &mut dyn Write) -> io::Result<()> {
    match spacing {
        Spacing::Compact => serde_json::to_writer(&mut *out, document),
        Spacing::Pretty => serde_json::to_writer_pretty(&mut *out, document),
    }
    .map_err(io::Error::from)?;
    out.write_all(b"\n")
}
