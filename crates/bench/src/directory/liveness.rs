//! A liveness check: a part that only touches the subject of a case, to find out quickly whether a subject that hung
//! still hangs.

use seatrial_model::{Case, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::storage::scratch;

use super::error::refused;
use super::open::opened;
use crate::{Part, Prepared, Running, Sink, Stop};

/// A part without samples. It calls `touch` in the connect phase, so that process start-up is not counted.
pub fn check(
    case: &Case,
    place: &PartPlacement,
    touch: impl FnOnce() -> Result<(), Reason> + Send + 'static,
) -> Part {
    Part::new(case, place, |_, place| Prepared::new(place, (), |_| touch().map(|()| Checked)))
}

/// Makes an unnamed file in each of `directories`. A read would not do: a frozen file system can still be read, and a
/// network file system whose server is gone answers from the cache.
pub fn check_directories(case: &Case, place: &PartPlacement, directories: &[&str]) -> Part {
    let directories: Vec<String> = directories.iter().map(|&one| one.to_owned()).collect();
    check(case, place, move || {
        directories.iter().try_for_each(|directory| {
            let (path, at) = opened(directory)?;
            let made = scratch(&at, false).map(drop);
            made.map_err(|errno| refused(&format!("making a file in {}", path.display()), errno))
        })
    })
}

struct Checked;

impl Running for Checked {
    fn run(&mut self, _: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Reason> {
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified { why: "liveness check only: nothing was measured".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::connected;
    use seatrial_model::{Params, Subject};

    #[test]
    fn a_directory_that_answers_is_found_well_and_nothing_is_left_in_it() {
        let budget = crate::budget(&crate::toy::ABOUT.defaults()).expect("a budget");
        let case = Case::new(&crate::toy::ABOUT, "n1", Subject::node(), &Params::default(), budget);
        let place = PartPlacement::new("worker", 0, "n1", Vec::new());
        let folder = tempfile::tempdir().expect("a folder");
        let check = check_directories(&case, &place, &[folder.path().to_str().expect("text")]);
        assert!(connected(check).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0);
        let check = check_directories(&case, &place, &["/nowhere/at/all"]).prepare();
        assert!(check.expect("it is not looked at yet").connect(&[]).is_err());
    }
}
