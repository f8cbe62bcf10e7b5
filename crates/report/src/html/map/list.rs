//! The text alternative of a map: the same parts as nested lists.

use std::fmt::Write;

use super::svg::{Target, safe};
use crate::inventory::LimitText;
use crate::view::map::{MapBox, MapLink, MapResult};

pub fn list(drawn: &MapBox, target: Target<'_>) -> String {
    let mut out = String::from("<ul>");
    item(drawn, target, &mut out);
    out + "</ul>"
}

fn item(drawn: &MapBox, target: Target<'_>, out: &mut String) {
    let _ = write!(out, "<li><strong>{}</strong>", safe(&drawn.name));
    if !drawn.words.is_empty() {
        let _ = write!(out, " {}", safe(&drawn.words.join(", ")));
    }
    limit(drawn.limit.as_ref(), out);
    let has_more = !drawn.links.is_empty() || !drawn.results.is_empty() || !drawn.inside.is_empty();
    if has_more {
        out.push_str("<ul>");
        drawn.results.iter().for_each(|one| result(one, target, out));
        drawn.links.iter().for_each(|one| link(one, target, out));
        drawn.inside.iter().for_each(|inside| item(inside, target, out));
        out.push_str("</ul>");
    }
    out.push_str("</li>");
}

fn link(link: &MapLink, target: Target<'_>, out: &mut String) {
    let _ = write!(out, "<li>link {}", safe(&link.name));
    limit(link.limit.as_ref(), out);
    if !link.results.is_empty() {
        out.push_str("<ul>");
        link.results.iter().for_each(|one| result(one, target, out));
        out.push_str("</ul>");
    }
    out.push_str("</li>");
}

fn limit(limit: Option<&LimitText>, out: &mut String) {
    let Some(limit) = limit else { return };
    let _ = match &limit.value {
        Some(value) => write!(out, "; limit {}, from {}", safe(value), safe(&limit.from)),
        None => write!(out, "; limit unknown"),
    };
    let _ = limit.why.iter().try_for_each(|why| write!(out, ": {}", safe(why)));
}

fn result(result: &MapResult, target: Target<'_>, out: &mut String) {
    let to = target(&result.case);
    let told = safe(&result.text());
    let _ = if to.is_empty() {
        write!(out, "<li>{told}</li>")
    } else {
        write!(out, "<li><a href=\"#{to}\">{told}</a></li>")
    };
}
