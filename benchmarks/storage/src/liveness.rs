//! A part that only touches what a case is to measure: before a case whose subject hung, to find out soon whether it still
//! does.

use seatrial_model::{Integrity, PartPlacement, Phase};
use seatrial_sys::storage::scratch;

use crate::io::files::opened;
use crate::io::outcome::refused;
use seatrial_bench::{Error, Offer, Part, Sink, Stop};

/// What is done to the subject, in the worker's process.
type Touch = Box<dyn FnOnce() -> Result<(), Error> + Send>;

/// A part without samples. It touches its subject while it connects, so that the start of its process is not counted.
pub struct LivenessPart {
    place: PartPlacement,
    touch: Option<Touch>,
}

impl LivenessPart {
    /// One that does `touch` to its subject.
    pub fn new(place: &PartPlacement, touch: impl FnOnce() -> Result<(), Error> + Send + 'static) -> Self {
        Self { place: place.clone(), touch: Some(Box::new(touch)) }
    }

    /// One that makes an empty file in each of `directories` and lets go of it. Looking alone would not do: a file system that
    /// is frozen is read as ever, and one whose server is gone answers from memory.
    pub fn in_directories(place: &PartPlacement, directories: &[&str]) -> Self {
        let directories: Vec<String> = directories.iter().map(|&one| one.to_owned()).collect();
        Self::new(place, move || {
            for directory in directories {
                let (path, at) = opened(&directory)?;
                let made = scratch(&at, false).map(drop);
                made.map_err(|errno| refused(&format!("making a file in {}", path.display()), errno))?;
            }
            Ok(())
        })
    }
}

impl Part for LivenessPart {
    fn prepare(&mut self) -> Result<Offer, Error> {
        Ok(Offer::new(&self.place, serde_json::Value::Null))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        self.touch.take().map_or(Ok(()), |touch| touch())
    }

    fn run(&mut self, _: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Error> {
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        Ok(Integrity::Unverified { why: "it was only looked whether the subject answers".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> PartPlacement {
        PartPlacement { part: "worker".to_owned(), index: 0, node: "n1".to_owned(), seats: Vec::new() }
    }

    #[test]
    fn a_directory_that_answers_is_found_well_and_nothing_is_left_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut check = LivenessPart::in_directories(&place(), &[folder.path().to_str().expect("text")]);
        check.prepare().expect("nothing to prepare");
        assert_eq!(check.connect(&[]), Ok(()));
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
        let mut check = LivenessPart::in_directories(&place(), &["/nowhere/at/all"]);
        check.prepare().expect("it is not looked at yet");
        assert!(check.connect(&[]).is_err());
    }
}
