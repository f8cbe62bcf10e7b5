//! A value as indented lines; unknown values with a question mark and the reason.

use serde_json::{Map, Value};

const NAMES: [&str; 5] = ["name", "mount", "address", "index", "number"];

const WIDE: usize = 140;

/// The value behind its name: on the same line if short, else below.
pub fn text(value: &Value, depth: usize) -> String {
    if let Some(line) = line(value) {
        return format!(" {line}");
    }
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) => match known(value) {
            Some(inner) => text(inner, depth),
            None => named_first(fields)
                .map(|(name, field)| format!("\n{indent}{name}:{}", text(field, depth + 1)))
                .collect(),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let body = text(item, depth + 1);
                format!(
                    "\n{indent}-{}",
                    body.strip_prefix(&format!("\n{indent}  ")).map_or(body.clone(), |b| format!(" {b}"))
                )
            })
            .collect(),
        other => format!(" {other}"),
    }
}

fn named_first(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let is_name = |(name, _): &(&String, &Value)| NAMES.contains(&name.as_str());
    fields.iter().filter(is_name).chain(fields.iter().filter(move |field| !is_name(field)))
}

fn known(value: &Value) -> Option<&Value> {
    value.as_object().filter(|fields| fields.len() == 1)?.get("known")
}

fn line(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<String>> =
                items.iter().map(|item| if item.is_object() { None } else { line(item) }).collect();
            Some(format!("[{}]", items?.join(", "))).filter(|line| line.len() < WIDE)
        }
        Value::Object(fields) => {
            if let Some(inner) = known(value) {
                return line(inner);
            }
            if let (1, Some(why)) = (fields.len(), fields.get("unknown")) {
                return Some(format!("? {}", why.as_str()?));
            }
            let fields: Option<Vec<String>> =
                named_first(fields).map(|(name, field)| Some(format!("{name} {}", line(field)?))).collect();
            Some(fields?.join(", ")).filter(|line| line.len() < WIDE)
        }
        other => Some(other.to_string()),
    }
}
