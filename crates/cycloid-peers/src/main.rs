//! The program `cycloid-peers`: `cycloid` with every peer and every suite. `cycloid` starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cycloid_peers::add_to_lab();
    cycloid_cli::main()
}
