//! The JSON schemas that `-o json` keeps to.

use anyhow::{Context, Result};

use super::File;

/// The schema of the document that `run` and `check` print.
///
/// # Errors
/// When the schema cannot be written as JSON.
pub fn document() -> Result<File> {
    let schema = seatrial_model::record::schema();
    let text = serde_json::to_string_pretty(&schema).context("cannot write the schema as JSON")?;
    Ok(File::new("docs/schema/record.schema.json", &text))
}

/// The schema of the document that `settings` prints.
///
/// # Errors
/// When the schema cannot be written as JSON.
pub fn settings() -> Result<File> {
    let schema = seatrial_model::setting::schema();
    let text = serde_json::to_string_pretty(&schema).context("cannot write the schema as JSON")?;
    Ok(File::new("docs/schema/settings.schema.json", &text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_the_parts_of_a_document() {
        let value: serde_json::Value = serde_json::from_str(&document().unwrap().text).unwrap();
        for property in ["schema", "run", "results", "findings", "verdicts", "verdict"] {
            assert!(value["properties"][property].is_object(), "{property}");
        }
    }

    #[test]
    fn the_schema_of_settings_names_the_parts_of_a_document() {
        let value: serde_json::Value = serde_json::from_str(&settings().unwrap().text).unwrap();
        for property in ["schema", "profile", "nodes", "settings", "verdicts", "verdict"] {
            assert!(value["properties"][property].is_object(), "{property}");
        }
        let reading = value["$defs"]["AuditedSetting"]["properties"].as_object().unwrap();
        assert!(
            ["node", "setting", "subject", "present", "wanted"]
                .iter()
                .all(|name| reading.contains_key(*name))
        );
    }
}
