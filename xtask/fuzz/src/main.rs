//! One target under libFuzzer; `cargo xtask fuzz` builds and starts it.

fn main() -> std::process::ExitCode {
    seatrial_fuzz::engine::main()
}
