//! Sources of profile texts.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use seatrial_model::name::nearest;

use crate::Shipped;

/// The largest profile that is read, in bytes. A profile of 1000 tests has a tenth of it.
pub const LARGEST: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Shipped(String),
    File(PathBuf),
    /// A text in memory, with its name for messages. It can extend shipped profiles only.
    Text {
        name: String,
        text: String,
    },
}

#[derive(Debug)]
pub(crate) struct Opened {
    pub name: String,
    /// The same for every name of the same source.
    pub identity: String,
    /// The default name of the profile.
    pub stem: String,
    /// The base of relative paths; `None` for a source that is not a file.
    pub folder: Option<PathBuf>,
    pub text: String,
}

#[derive(Debug)]
pub(crate) struct Refusal {
    pub why: String,
    pub help: Option<String>,
}

impl Source {
    /// The source that `typed` names: a path when it has a slash or ends in `.toml`, else a shipped profile.
    pub fn named(typed: &str) -> Self {
        if typed.contains('/') || typed.ends_with(".toml") {
            Self::File(PathBuf::from(typed))
        } else {
            Self::Shipped(typed.to_owned())
        }
    }

    pub(crate) fn extended(typed: &str, folder: Option<&Path>) -> Result<Self, Refusal> {
        match (Self::named(typed), folder) {
            (Self::File(path), Some(folder)) => Ok(Self::File(folder.join(path))),
            (Self::File(_), None) => Err(Refusal {
                why: format!("cannot extend '{typed}': a shipped profile can extend only shipped profiles"),
                help: None,
            }),
            (source, _) => Ok(source),
        }
    }

    pub(crate) fn open(&self, shipped: &[Shipped]) -> Result<Opened, Refusal> {
        match self {
            Self::Shipped(name) => open_shipped(name, shipped),
            Self::File(path) => open_file(path),
            Self::Text { name, text } => Ok(Opened {
                name: name.clone(),
                identity: format!("text:{name}"),
                stem: name.clone(),
                folder: None,
                text: text.clone(),
            }),
        }
    }
}

fn open_shipped(name: &str, shipped: &[Shipped]) -> Result<Opened, Refusal> {
    let Some(found) = shipped.iter().find(|profile| profile.name == name) else {
        let names: Vec<_> = shipped.iter().map(|profile| profile.name).collect();
        let near = nearest(name, names.iter().copied());
        if let Some(file) =
            [format!("./{name}.toml"), format!("./{name}")].iter().find(|at| Path::new(at).is_file())
        {
            return Err(Refusal {
                why: format!("there is no shipped profile '{name}'"),
                help: Some(format!("there is a file of that name: write '{file}'")),
            });
        }
        return Err(Refusal {
            why: format!("there is no shipped profile '{name}'"),
            help: Some(match near {
                Some(near) => format!("did you mean '{near}'? a file is written as a path: './{name}'"),
                None => format!("shipped are: {}; a file is written as a path: './{name}'", names.join(", ")),
            }),
        });
    };
    Ok(Opened {
        name: format!("{name} (shipped)"),
        identity: format!("shipped:{name}"),
        stem: name.to_owned(),
        folder: None,
        text: found.text.to_owned(),
    })
}

fn open_file(path: &Path) -> Result<Opened, Refusal> {
    let name = path.display().to_string();
    let refuse =
        |why: String| Refusal { why: format!("cannot read the profile '{name}': {why}"), help: None };
    let mut bytes = Vec::new();
    // Reads one byte beyond the limit, to detect a file that is too large, whatever its size: it may be a device.
    let reading = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    reading.map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > LARGEST {
        return Err(refuse("it is larger than 1 MiB, and no profile is".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        refuse(format!("it is not UTF-8 text: byte {} in line {line} starts no character", valid + 1))
    })?;
    let identity = path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let stem = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    Ok(Opened { name, identity, stem, folder: path.parent().map(Path::to_owned), text })
}
