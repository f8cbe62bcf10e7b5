//! Direction of the traffic between the two ends of a case.

use seatrial_model::{Case, Kind, ParamSpec, Params};
use serde::{Deserialize, Serialize};

/// Which of the two ends sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The first end sends, the second receives.
    Forward,
    /// The second end sends, the first receives.
    Reverse,
}

impl Direction {
    /// Both, in the order in which metrics declare them.
    pub const ALL: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The parameter of the direction.
    pub const fn parameter(doc: &'static str) -> ParamSpec {
        ParamSpec::new("direction", Kind::Choice(&["forward", "reverse", "both"]), "forward").doc(doc)
    }

    /// The word in parameters, channels and coordinates of samples.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.word() == word)
    }

    /// The directions of the parameter; forward for a benchmark without the parameter.
    pub fn asked(params: &Params) -> &'static [Self] {
        match params.text("direction") {
            Ok("both") => &Self::ALL,
            Ok("reverse") => &[Self::Reverse],
            _ => &[Self::Forward],
        }
    }

    /// The directions of a case: of the parameter, or as planned by a benchmark without the parameter.
    pub fn of_case(case: &Case) -> &'static [Self] {
        Self::asked(if case.params.get("direction").is_some() { &case.params } else { &case.planned })
    }

    pub const fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }

    /// Whether the end of this index sends.
    pub const fn is_sender(self, index: u32) -> bool {
        matches!(self, Self::Forward) == (index == 0)
    }
}

#[cfg(test)]
mod tests {
    use seatrial_model::Value;

    use super::*;

    #[test]
    fn every_word_of_the_parameter_has_its_directions_and_senders() {
        for (word, directions, senders) in [
            ("forward", vec![Direction::Forward], [true, false]),
            ("reverse", vec![Direction::Reverse], [false, true]),
            ("both", vec![Direction::Forward, Direction::Reverse], [true, true]),
        ] {
            let mut params = Params::default();
            params.set("direction", Value::Text(word.to_owned()));
            let found = Direction::asked(&params);
            assert_eq!(found, directions);
            assert_eq!([0, 1].map(|index| found.iter().any(|one| one.is_sender(index))), senders);
            let receivers = [0, 1].map(|index| found.iter().any(|one| one.opposite().is_sender(index)));
            assert_eq!(receivers, [senders[1], senders[0]]);
        }
        assert_eq!(Direction::asked(&Params::default()), [Direction::Forward]);
        assert_eq!(Direction::ALL.map(|one| Direction::parse(one.word())), Direction::ALL.map(Some));
        assert_eq!(Direction::parse("both"), None);
    }
}
