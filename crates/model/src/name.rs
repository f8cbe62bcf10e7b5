//! Names of things, and the nearest one to a typo.

/// The candidate nearest to `typed`, if one is near enough to be meant.
///
/// Near is a Damerau-Levenshtein distance of at most a third of the length (at least 1), or a candidate that
/// holds the typed text.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = typed.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            let other = candidate.to_lowercase();
            let held =
                lower.len() >= 3 && (other.contains(&lower) || lower.contains(&other) && other.len() >= 3);
            (if held { 1 } else { strsim::damerau_levenshtein(&lower, &other) }, candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(typed.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The tail of a message about an unknown name: `; did you mean 'X'?`, or nothing.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

/// Serialises a type as the text of its `Display`, and reads it by its `FromStr`.
#[macro_export]
#[doc(hidden)]
macro_rules! text_serde {
    ($name:ty, $description:literal) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "description": $description })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word() {
        let words = ["mem.bandwidth", "mem.latency", "net.rr"];
        assert_eq!(nearest("mem.bandwith", words), Some("mem.bandwidth"));
        assert_eq!(nearest("bandwidth", words), Some("mem.bandwidth"));
        assert_eq!(nearest("gpu.peer_copy", words), None);
    }
}
