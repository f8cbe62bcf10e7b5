//! Hot loops, whose instructions `cargo xtask instructions` counts.

/// Names the rounds; without it one is run, as in every other test.
const ROUNDS: &str = "SEATRIAL_HOT_LOOP_ROUNDS";

/// Runs `round` as often as the environment asks.
///
/// # Panics
/// When the environment asks for something that is no number.
pub fn hot_loop(mut round: impl FnMut()) {
    let rounds = std::env::var(ROUNDS).map_or(1_u32, |rounds| rounds.parse().expect("a number of rounds"));
    for _ in 0..rounds {
        round();
    }
}
