//! Diagnostics as text: the line, a caret, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::Diagnostics;
use crate::diagnostic::{Diagnostic, Position, Severity, Text};

const MOST_SHOWN: usize = 20;

impl Diagnostics {
    /// The text for a terminal, with or without ANSI colours; empty without diagnostics.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut shown: Vec<String> = self
            .list
            .iter()
            .take(MOST_SHOWN)
            .map(|diagnostic| renderer.render(&[self.group(diagnostic)]))
            .collect();
        if self.list.len() > MOST_SHOWN {
            shown.push(format!("... and {} more", self.list.len() - MOST_SHOWN));
        }
        shown.join("\n\n")
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> Group<'a> {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(diagnostic.title.as_str()));
        if let Some(at) = diagnostic.at {
            group = group.element(self.snippet(at, AnnotationKind::Primary, diagnostic.label.as_deref()));
        }
        if let Some((at, label)) = &diagnostic.also {
            group = group.element(self.snippet(*at, AnnotationKind::Context, Some(label)));
        }
        match &diagnostic.help {
            Some(help) => group.element(Level::HELP.message(help.as_str())),
            None => group,
        }
    }

    fn snippet<'a>(
        &'a self,
        at: Position,
        kind: AnnotationKind,
        label: Option<&'a str>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let text = &self.texts[at.file];
        let line = Line::of(text, at);
        Snippet::source(line.text)
            .path(text.name.as_str())
            .line_start(line.number)
            .annotation(kind.span(line.start..line.end).label(label))
    }
}

/// The line that a position starts in, and the position within it.
struct Line<'a> {
    text: &'a str,
    number: usize,
    start: usize,
    end: usize,
}

impl<'a> Line<'a> {
    fn of(text: &'a Text, at: Position) -> Self {
        let body = text.body.as_str();
        let from = floor(body, at.start);
        let first = body[..from].rfind('\n').map_or(0, |newline| newline + 1);
        let last = body[from..].find('\n').map_or(body.len(), |newline| from + newline);
        let end = floor(body, at.end.clamp(from, last));
        let number = 1 + body[..first].matches('\n').count();
        Self { text: &body[first..last], number, start: from - first, end: end - first }
    }
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
