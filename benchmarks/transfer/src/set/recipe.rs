//! What a data set is made of: the parameters that say it.

use seatrial_model::{Bytes, Cause, Kind, ParamError, ParamSpec, Params, Reason, Value};

/// Files and the size of each of the named sets. `losf`, `medium` and `large` are those of a published comparison of data
/// movers (lots of small files, 1 GiB; 10 GiB; 100 GiB), the other two its larger ones for movers that are done too soon.
const SETS: [(&str, u64, u64); 6] = [
    ("losf", 1024, 1 << 20),
    ("losf-10000", 10_000, 1 << 20),
    ("medium", 40, 256 << 20),
    ("medium-120", 120, 256 << 20),
    ("large", 10, 10 << 30),
    ("mix", 1000, 16 << 20),
];

const NAMES: [&str; SETS.len()] = ["losf", "losf-10000", "medium", "medium-120", "large", "mix"];

/// The smallest file of a mix.
const LEAST: u64 = 1 << 10;

/// The parameters of a data set.
const PARAMS: [ParamSpec; 7] = [
    ParamSpec::new("set", Kind::Choice(&NAMES), "losf").doc(
        "losf: 1024 files of 1 MiB; losf-10000: 10,000 of 1 MiB; medium: 40 of 256 MiB; medium-120: 120 of 256 MiB; large: \
         10 of 10 GiB; mix: 1000 files from 1 KiB to 16 MiB, as many between 1 and 2 KiB as between 8 and 16 MiB.",
    ),
    ParamSpec::new("files", Kind::Count(1, 10_000_000), "auto").word("auto").doc("Files; auto: those of `set`."),
    ParamSpec::new("size", Kind::Size(Bytes(0), Bytes::gib(1 << 14)), "auto")
        .word("auto")
        .doc("Bytes of each file, of a mix of the largest; auto: those of `set`."),
    ParamSpec::new("depth", Kind::Count(0, 16), "1").doc("Levels of directories; the files are in the lowest."),
    ParamSpec::new("breadth", Kind::Count(1, 1000), "8").doc("Directories in each directory above the lowest."),
    ParamSpec::new("names", Kind::Choice(&["plain", "hard"]), "plain").doc(
        "plain: letters and digits; hard: also spaces, quotes, newlines, a dash in front, bytes that are no UTF-8, and 255 \
         bytes long.",
    ),
    ParamSpec::new("compressible", Kind::Number(0.0, 100.0), "0")
        .doc("Percent of each 4 KiB that are zeros; the rest cannot be compressed."),
];

/// The parameters `first`, those of a data set, and `last`.
pub const fn with_set<const ALL: usize>(first: &[ParamSpec], last: &[ParamSpec]) -> [ParamSpec; ALL] {
    assert!(first.len() + PARAMS.len() + last.len() == ALL, "another number of parameters");
    let mut all = [PARAMS[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < first.len() {
            first[at]
        } else if at < first.len() + PARAMS.len() {
            PARAMS[at - first.len()]
        } else {
            last[at - first.len() - PARAMS.len()]
        };
        at += 1;
    }
    all
}

/// Which files there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    pub files: u64,
    /// Bytes of each file, or of the largest.
    pub size: u64,
    /// Whether the sizes are spread from [`LEAST`] to `size`.
    pub is_mix: bool,
    pub depth: u32,
    pub breadth: u64,
    pub has_hard_names: bool,
    pub has_special: bool,
    pub compressible: f64,
}

/// The most directories of a set.
const MOST_DIRECTORIES: u64 = 1_000_000;

impl Recipe {
    /// The recipe that the parameters say.
    ///
    /// # Errors
    /// When a parameter is missing.
    pub fn of(params: &Params) -> Result<Self, ParamError> {
        let name = params.text("set")?;
        let (_, files, size) = SETS.iter().find(|(known, ..)| *known == name).copied().unwrap_or(SETS[0]);
        Ok(Self {
            files: params.count("files").unwrap_or(files),
            size: params.bytes("size")?.map_or(size, Bytes::get),
            is_mix: name == "mix",
            depth: params.count("depth")? as u32,
            breadth: params.count("breadth")?,
            has_hard_names: params.text("names")? == "hard",
            has_special: params.flag("special").unwrap_or(false),
            compressible: match params.get("compressible") {
                Some(Value::Number(percent)) => *percent,
                Some(Value::Count(percent)) => *percent as f64,
                _ => 0.0,
            },
        })
    }

    /// The same for a plan.
    ///
    /// # Errors
    /// When a parameter is missing, or there are too many directories.
    pub fn planned(params: &Params) -> Result<Self, Reason> {
        let recipe = Self::of(params).map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?;
        if recipe.lowest().is_none() {
            let text = format!(
                "depth={} of breadth={} are more than a million directories: lower one of them",
                recipe.depth, recipe.breadth
            );
            return Err(Reason::new(Cause::Contradiction, text));
        }
        Ok(recipe)
    }

    /// Notes in `planned` how much it is.
    pub fn note(&self, planned: &mut Params) {
        planned.set("set_files", self.files);
        planned.set("set_bytes", Bytes(self.bytes()));
    }

    /// Directories with files, if they are not too many.
    pub fn lowest(&self) -> Option<u64> {
        self.breadth.checked_pow(self.depth).filter(|number| *number <= MOST_DIRECTORIES)
    }

    /// The size of the file of this number: the sizes of a mix are even on a logarithmic scale, in no order.
    pub fn size_of(&self, number: u64) -> u64 {
        if !self.is_mix || self.size <= LEAST {
            return self.size;
        }
        let place = seatrial_stats::mix(number) as f64 / u64::MAX as f64;
        (LEAST as f64 * (self.size as f64 / LEAST as f64).powf(place)) as u64
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        if self.is_mix {
            (0..self.files).map(|number| self.size_of(number)).sum()
        } else {
            self.files.saturating_mul(self.size)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_a_mix_are_even_on_a_logarithmic_scale() {
        let recipe = Recipe {
            files: 14_000,
            size: 16 << 20,
            is_mix: true,
            depth: 0,
            breadth: 1,
            has_hard_names: false,
            has_special: false,
            compressible: 0.0,
        };
        let mut octaves = [0_u32; 14];
        for size in (0..recipe.files).map(|number| recipe.size_of(number)) {
            assert!((LEAST..=recipe.size).contains(&size), "{size}");
            octaves[((size / LEAST).ilog2() as usize).min(13)] += 1;
        }
        assert!(octaves.iter().all(|count| (900..1100).contains(count)), "{octaves:?}");
    }
}
