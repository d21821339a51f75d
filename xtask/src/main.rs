//! The project's own commands: `cargo xtask test`, `lint`, `layers`, `ct`, `fuzz-smoke`.

fn main() {}
