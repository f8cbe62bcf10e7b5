//! Errors and warnings about a profile, with their positions.

use std::fmt;

/// In characters.
const LONGEST_TITLE: usize = 240;

/// Longer names are no typos, and comparing two names takes the square of their length.
const LONGEST_NAME: usize = 100;

/// Names are suggested for this many errors only: the search for similar names takes time.
const MOST_SUGGESTED: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The profile cannot be used.
    Error,
    /// The profile can be used, but part of it has no effect.
    Warning,
}

/// A range of bytes in one of the files read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub file: usize,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub value: T,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diagnostic {
    pub severity: Severity,
    pub title: String,
    pub at: Option<Position>,
    pub label: Option<String>,
    /// A related position, such as the first of two equal ids.
    pub also: Option<(Position, String)>,
    pub help: Option<String>,
    /// Whether a similar name is searched.
    suggests: bool,
}

/// The text of a file, for printing lines of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub name: String,
    pub body: String,
}

/// All errors and warnings of a profile, with the texts to quote. `Display` is [`Diagnostics::render`] without
/// colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics {
    pub(crate) texts: Vec<Text>,
    pub(crate) list: Vec<Diagnostic>,
}

impl Diagnostics {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// One line each: severity and title, in the order of [`Diagnostics::render`].
    pub fn titles(&self) -> impl Iterator<Item = (Severity, &str)> {
        self.list.iter().map(|diagnostic| (diagnostic.severity, diagnostic.title.as_str()))
    }

    pub(crate) fn add_text(&mut self, name: &str, body: &str) -> usize {
        self.texts.push(Text { name: name.to_owned(), body: body.to_owned() });
        self.texts.len() - 1
    }

    pub(crate) fn error(&mut self, at: Position, title: impl Into<String>) -> &mut Diagnostic {
        self.push(Severity::Error, Some(at), title.into())
    }

    pub(crate) fn error_nowhere(&mut self, title: impl Into<String>) -> &mut Diagnostic {
        self.push(Severity::Error, None, title.into())
    }

    pub(crate) fn warning(&mut self, at: Position, title: impl Into<String>) -> &mut Diagnostic {
        self.push(Severity::Warning, Some(at), title.into())
    }

    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| diagnostic.at.map(|at| (at.file, at.start)));
        // Cells of a table share their test, metric and axes.
        self.list.dedup_by(|one, other| one.at == other.at && one.title == other.title);
    }

    fn push(&mut self, severity: Severity, at: Option<Position>, mut title: String) -> &mut Diagnostic {
        // Names may be as long as the profile.
        if let Some((cut, _)) = title.char_indices().nth(LONGEST_TITLE) {
            title.truncate(cut);
            title.push_str("...");
        }
        let index = self.list.len();
        let suggests = index < MOST_SUGGESTED;
        self.list.push(Diagnostic { severity, title, at, label: None, also: None, help: None, suggests });
        &mut self.list[index]
    }
}

impl Diagnostic {
    pub fn label(&mut self, label: impl Into<String>) -> &mut Self {
        self.label = Some(label.into());
        self
    }

    /// Suggests the nearest name if there is one; else lists all.
    pub fn suggest<'a>(
        &mut self,
        typed: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) -> &mut Self {
        if !self.suggests || typed.len() > LONGEST_NAME {
            return self;
        }
        let near = known.clone().into_iter().filter(|name| name.len() <= LONGEST_NAME);
        match seatrial_model::name::nearest(typed, near) {
            Some(near) => self.label(format!("did you mean '{near}'?")),
            None => {
                let known: Vec<_> = known.into_iter().collect();
                if known.is_empty() { self } else { self.help(format!("allowed are: {}", known.join(", "))) }
            }
        }
    }

    /// Points at another position.
    pub fn also(&mut self, at: Position, label: impl Into<String>) -> &mut Self {
        self.also = Some((at, label.into()));
        self
    }

    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}
