//! One target under libFuzzer; `cargo xtask fuzz` builds and starts it.

fn main() {
    seatrial_fuzz::engine::main();
}
