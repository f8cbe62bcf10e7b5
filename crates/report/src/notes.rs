//! Footnotes: a reason that many rows share is printed once.

use std::collections::HashMap;

use crate::grid;
use crate::ink::Ink;
use crate::words::clean;

/// The notes of one report, in the order of the first reference.
#[derive(Debug, Default)]
pub struct Notes {
    texts: Vec<String>,
    /// Index of each note: a fleet may have thousands.
    places: HashMap<String, usize>,
    /// Texts without a reference, about the whole table.
    remarks: Vec<String>,
    /// Number of notes printed already.
    shown: usize,
    remarked: usize,
}

impl Notes {
    /// The reference to a note of `text`: `[3]`.
    pub fn refer(&mut self, text: &str) -> String {
        let text = clean(text);
        let texts = &mut self.texts;
        let position = *self.places.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len() - 1
        });
        format!("[{}]", position + 1)
    }

    /// Prints `text` below the table, once, without a reference.
    pub fn remark(&mut self, text: &str) {
        let text = clean(text);
        if !self.tell(&text) {
            self.remarks.push(text);
        }
    }

    /// Whether a note says `text` already.
    pub fn tell(&self, text: &str) -> bool {
        let text = clean(text);
        self.texts.iter().chain(&self.remarks).any(|known| known.contains(&text))
    }

    /// The same as references and texts.
    pub fn take(&mut self) -> Vec<(String, String)> {
        let fresh = self.texts.iter().enumerate().skip(self.shown);
        let notes = fresh.map(|(position, text)| (format!("[{}]", position + 1), text.clone())).collect();
        self.shown = self.texts.len();
        notes
    }

    /// The notes that were added since the last call.
    pub fn flush(&mut self, width: u16) -> String {
        let fresh = self.texts.iter().enumerate().skip(self.shown);
        let mut rows: Vec<_> = fresh
            .map(|(position, text)| (Ink::Faint.on(&format!("[{}]", position + 1)), text.clone()))
            .collect();
        self.shown = self.texts.len();
        rows.extend(self.remarks[self.remarked..].iter().map(|text| (Ink::Faint.on("·"), text.clone())));
        self.remarked = self.remarks.len();
        grid::paragraphs(&rows, width)
    }
}
