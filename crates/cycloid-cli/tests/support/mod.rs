//! Test support: the program, and the programs that it starts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;

/// Returns a command that runs `cycloid` as if it were installed next to the other programs.
/// Cargo builds them first if they are missing; the tests of the whole workspace have built them.
pub(crate) fn cycloid() -> Command {
    static SERVICES: Once = Once::new();
    let program = env!("CARGO_BIN_EXE_cycloid");
    SERVICES.call_once(|| {
        let there = |name| Path::new(program).with_file_name(name).exists();
        if !(there("cycloid-hsm") && there("cycloid-vpn") && there("cycloid-peers")) {
            let mut build =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            build.args(["build", "--quiet", "-p", "cycloid-hsm", "-p", "cycloid-vpn"]);
            build.args(["-p", "cycloid-peers"]);
            assert!(build.status().unwrap().success());
        }
    });
    let mut command = Command::new(program);
    // Cargo's variables would make it build the services, as under `cargo run`.
    command.env_remove("CARGO_PKG_NAME").env_remove("CYCLOID_CPU").env_remove("CYCLOID_PROFILE");
    command.stdin(Stdio::null());
    command
}
