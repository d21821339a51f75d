//! The program `cycloid`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cycloid_cli::main()
}
