//! The binary `seatrial`.

use std::process::ExitCode;

fn main() -> ExitCode {
    seatrial::main()
}
