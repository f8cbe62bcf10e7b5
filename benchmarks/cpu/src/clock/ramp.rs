//! Rise of the clock when an idle core gets work.

use serde_json::{Value, json};

/// Share of the settled clock that counts as reached.
const REACHED: f64 = 0.95;

/// Blocks in a row that must reach it; a single one may by chance.
const IN_A_ROW: usize = 4;

/// First blocks of a core after idling: start in milliseconds after the first block, clock in GHz.
#[derive(Clone, Debug, Default)]
pub struct Ramp(pub Vec<(f64, f64)>);

impl Ramp {
    /// Milliseconds until the clock reached `settled` and stayed there, if it did.
    fn reached_ms(&self, settled: f64) -> Option<f64> {
        let reached = |window: &&[(f64, f64)]| window.iter().all(|(_, clock)| *clock >= REACHED * settled);
        self.0.windows(IN_A_ROW).find(reached).map(|window| window[0].0)
    }

    /// Evidence, relative to the clock of the same core under lasting load in GHz; `None` without blocks.
    pub fn evidence(&self, settled: f64) -> Option<Value> {
        let (_, first) = self.0.first()?;
        let watched = self.0.last()?.0;
        Some(json!({
            "reached_ms": self.reached_ms(settled),
            "first_percent": 100.0 * first / settled,
            "watched_ms": watched,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_reached_when_it_stays() {
        let clocks = [1.2, 1.2, 3.0, 1.2, 2.9, 3.0, 3.0, 3.0, 3.0];
        let ramp = Ramp((0..).map(f64::from).zip(clocks).collect());
        let found = ramp.evidence(3.0).expect("watched");
        assert_eq!(found, json!({ "reached_ms": 4.0, "first_percent": 40.0, "watched_ms": 8.0 }));
        assert_eq!(ramp.evidence(4.0).expect("watched")["reached_ms"], Value::Null);
        assert_eq!(Ramp::default().evidence(3.0), None);
    }
}
