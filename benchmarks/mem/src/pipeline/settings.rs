//! The parameters as types.

use seatrial_model::{Cause, ParamError, Params, Reason};
use seatrial_sys::sched::Class;

use super::scenario::Scenario;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Paced,
    Max,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    Core,
    Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Enough blocks to exceed the caches.
    Rotate,
    /// The same block again and again.
    One,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub scenario: Scenario,
    pub mode: Mode,
    pub threads: Threads,
    pub blocks: Blocks,
    pub class: Class,
}

impl Settings {
    /// Parses `params`; words that only this benchmark can check fail with cause `contradiction`, a usage error.
    pub fn of(params: &Params) -> Result<Self, Reason> {
        let missing = |error: ParamError| Reason::new(Cause::Protocol, error.to_string());
        let word = |name: &str| params.text(name).map_err(missing);
        Ok(Self {
            scenario: Scenario::shipped(word("scenario")?)
                .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))?,
            mode: if word("mode")? == "max" { Mode::Max } else { Mode::Paced },
            threads: if word("threads")? == "step" { Threads::Step } else { Threads::Core },
            blocks: if word("blocks")? == "one" { Blocks::One } else { Blocks::Rotate },
            class: seatrial_bench::sched::class(params)?,
        })
    }
}
