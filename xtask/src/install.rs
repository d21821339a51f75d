//! `cargo xtask install`: libcycloid for programs in C and other languages.

use crate::process::{Failure, Outcome, cargo, program, run, target_folder};

/// Builds libcycloid and installs it below a prefix.
pub(crate) fn run_with(arguments: &[String]) -> Outcome {
    let prefix = match arguments {
        [option, prefix] if option == "--prefix" => prefix,
        _ => {
            return Err(Failure::new("no prefix").hint("cargo xtask install --prefix /usr/local"));
        }
    };
    let prefix =
        std::path::absolute(prefix).map_err(|error| Failure::new(format!("{prefix}: {error}")))?;
    run(&mut cargo("build -p cycloid-c --release --locked"))?;
    let archive = format!("{}/release/libcycloid_c.a", target_folder()?);
    let mut install = program("crates/cycloid-c/install.sh", "");
    run(install.arg(archive).arg(env!("CARGO_PKG_VERSION")).arg(prefix))
}
