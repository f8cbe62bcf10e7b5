//! The parameter `verify`, and the part that verifies nothing.

use seatrial_model::{Evidence, Integrity, Kind, ParamSpec, Phase, Reason, Verification};

use crate::{Running, Sink, Stop};

/// Of benchmarks that check contents.
pub const VERIFY: ParamSpec =
    ParamSpec::new(Verification::PARAM, Kind::Choice(&["full", "none"]), Verification::Full.word()).doc(
        "full: contents are checked; none: they are not, which the record says, for comparison with programs that check \
         nothing.",
    );

/// Of benchmarks that check blocks of files.
pub const VERIFY_BLOCKS: ParamSpec = ParamSpec {
    kind: Kind::Choice(Verification::WORDS),
    doc: "full: every byte is made anew before each write and checked after each read; header: of each 4 KiB only a header of \
          32 B (file, offset, generation, checksum of the header) is, the rest is made once; none: all is made once, and \
          nothing is checked, for comparison with programs that check nothing. The record says which.",
    ..VERIFY
};

/// A part whose data is not verified.
pub(crate) struct Unverified(pub(crate) Box<dyn Running>);

impl Running for Unverified {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.0.run(phase, stop, out)
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let why = Verification::None.left_out().unwrap_or_default();
        Ok(Integrity::Unverified { why: why.to_owned() })
    }

    fn late_evidence(&self) -> Evidence {
        self.0.late_evidence()
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Case, Params, PartPlacement, Subject};

    use super::*;
    use crate::Part;

    struct Corrupt;

    impl Running for Corrupt {
        fn run(&mut self, _: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Reason> {
            Ok(())
        }

        fn verify(&mut self) -> Result<Integrity, Reason> {
            Ok(Integrity::Corrupt { wrong: 1, of: 2, first: "word 1".to_owned() })
        }
    }

    #[test]
    fn a_part_is_not_asked_what_it_found_with_verify_none_and_says_so() {
        let found = |word: &str| {
            let about = &crate::toy::ABOUT;
            let params = Params::from([(VERIFY.name, word.into())]);
            let budget = crate::budget(&about.defaults()).expect("a budget");
            let case = Case::new(about, "n1", Subject::node(), &params, budget);
            let place = PartPlacement::new("worker", 0, "n1", Vec::new());
            let prepared = Part::alone(&case, &place, |_, _| Ok(Corrupt)).prepare().expect("prepared");
            prepared.connect(&[]).expect("connected").verify().expect("an answer")
        };
        assert!(found("full").is_corrupt() && found("header").is_corrupt());
        let Integrity::Unverified { why } = found("none") else { panic!("asked") };
        assert_eq!(why, "contents were not checked (verify=none)");
    }
}
