//! Profiles, and what a person is told about one that is wrong.

use seatrial_profile::Source;

use crate::Target;

pub const TARGET: Target = Target { name: "profile", run, longest: 4096, most_allocated: 16 << 20 };

fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let source = Source::Text { name: "fuzz".to_owned(), text: text.to_owned() };
    match seatrial::load_profile(&source, jiff::civil::date(2026, 1, 1)) {
        Ok(loaded) => drop(loaded.warnings.render(false)),
        Err(wrong) => drop(wrong.render(true)),
    }
}
