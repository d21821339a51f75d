//! The project's own commands: `cargo xtask test`, `lint`, `layers`, `deny`, `publish-check`,
//! `targets`, `tables`, `ct`, `residue`, `fuzz-smoke`, `no-std`, `packages`, `install`,
//! `dependants`, `cortex-m4`, `aarch64`, `size`.
//!
//! The few dependencies (large numbers, JSON, parsing of Rust) build in seconds. Each command is
//! printed before it is run.

mod aarch64;
mod api;
mod c_header;
mod cortex_m4;
mod ct;
mod debian;
mod deny;
mod dependants;
mod dependencies;
mod fuzz;
mod install;
mod layers;
mod links;
mod lint;
mod no_std;
mod packages;
mod parts;
mod paths;
mod process;
mod public_values;
mod publish;
mod residue;
mod size;
mod tables;
mod targets;
mod test;
mod test_programs;
mod uncompiled;
mod workspace;

use std::process::ExitCode;

use process::{Failure, Outcome};

/// A command: its name, its options, a one-line description, and its function.
struct Command {
    name: &'static str,
    options: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: [Command; 17] = [
    Command {
        name: "test",
        options: "",
        about: "install missing packages, then run all tests, no-std, ct, residue and fuzz-smoke",
        run: |arguments| none(arguments).and_then(|()| test::run()),
    },
    Command {
        name: "lint",
        options: "",
        about: "format, clippy, rustdoc, layers, tables, dependencies, cargo-deny, links in the documents, packages",
        run: |arguments| none(arguments).and_then(|()| lint::run_all()),
    },
    Command {
        name: "layers",
        options: "",
        about: "check that imports go down and in no cycle, `unsafe` is where it belongs, and the library has no heap",
        run: |arguments| none(arguments).and_then(|()| layers::run()),
    },
    Command {
        name: "deny",
        options: "",
        about: "run `cargo deny check`; install cargo-deny if it is missing",
        run: |arguments| none(arguments).and_then(|()| deny::run(true)),
    },
    Command {
        name: "publish-check",
        options: "",
        about: "compile every crate as it would be published; takes minutes",
        run: |arguments| none(arguments).and_then(|()| publish::check()),
    },
    Command {
        name: "targets",
        options: "",
        about: "check the crates for other targets and for the oldest supported compiler",
        run: |arguments| none(arguments).and_then(|()| targets::run()),
    },
    Command {
        name: "tables",
        options: "[--check]",
        about: "write (or check) the documents' and curves' tables, the list of public values, the public API, and the C header",
        run: |arguments| {
            let check = flag(arguments, "--check")?;
            [tables::run, public_values::run, api::run, c_header::run]
                .iter()
                .try_for_each(|run| run(check))
        },
    },
    Command {
        name: "ct",
        options: "[--all]",
        about: "check constant time by tracing on this processor; planted leaks must be found",
        run: |arguments| ct::run(arguments).map(print),
    },
    Command {
        name: "residue",
        options: "",
        about: "check that operations leave no secret in memory, and check documented stack use",
        run: |arguments| none(arguments).and_then(|()| residue::run().map(print)),
    },
    Command {
        name: "fuzz-smoke",
        options: "[--seconds N]",
        about: "build and run every fuzz target, by default for 10 seconds each",
        run: |arguments| fuzz::run(seconds(arguments)?).map(print),
    },
    Command {
        name: "no-std",
        options: "",
        about: "link the library into a program without std and without an allocator, and run it",
        run: |arguments| none(arguments).and_then(|()| no_std::run().map(print)),
    },
    Command {
        name: "cortex-m4",
        options: "",
        about: "run the kernels and the known answers of Cortex-M4 under QEMU",
        run: |arguments| none(arguments).and_then(|()| cortex_m4::run().map(print)),
    },
    Command {
        name: "aarch64",
        options: "",
        about: "run the kernels for AArch64 beside plain Rust under QEMU",
        run: |arguments| none(arguments).and_then(|()| aarch64::run().map(print)),
    },
    Command {
        name: "size",
        options: "",
        about: "measure the bytes that the library adds to a program, and compare them with limits",
        run: |arguments| none(arguments).and_then(|()| size::run()),
    },
    Command {
        name: "packages",
        options: "[--install]",
        about: "build the Debian packages; with --install also try them in a fresh Debian",
        run: |arguments| packages::run(flag(arguments, "--install")?),
    },
    Command {
        name: "install",
        options: "[--blst] --prefix DIR",
        about: "build libcycloid, or with --blst a libblst on Cycloid's arithmetic, and install it with its header and its file for pkg-config",
        run: install::run_with,
    },
    Command {
        name: "dependants",
        options: "",
        about: "run the test suites of the crate blst and of c-kzg on Cycloid's libblst",
        run: |arguments| none(arguments).and_then(|()| dependants::run_all()),
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return Ok(());
    };
    if ["help", "-h", "--help"].contains(&name.as_str()) {
        print!("{}", help());
        return Ok(());
    }
    let command = COMMANDS.iter().find(|command| command.name == name);
    let command = command.ok_or_else(|| {
        let names = COMMANDS.map(|command| command.name).join(", ");
        Failure::new(format!("no command `{name}`")).hint(format!("the commands are {names}"))
    })?;
    process::go_to_root()?;
    (command.run)(rest)
}

fn help() -> String {
    let mut text = String::from("The project's own commands.\n\nUsage: cargo xtask COMMAND\n\n");
    for Command { name, options, about, .. } in COMMANDS {
        let usage = format!("{name} {options}");
        text += &format!("  {:26} {about}\n", usage.trim_end());
    }
    text + "\n`.ci/run` runs everything: lint and test.\n"
}

/// Prints the last line of a command: its summary.
fn print(summary: String) {
    println!("{summary}");
}

fn none(arguments: &[String]) -> Outcome {
    arguments.first().map_or(Ok(()), |argument| Err(unexpected(argument)))
}

fn flag(arguments: &[String], name: &str) -> Result<bool, Failure> {
    match arguments {
        [] => Ok(false),
        [option] if option == name => Ok(true),
        [argument, ..] => Err(unexpected(argument)),
    }
}

fn seconds(arguments: &[String]) -> Result<u32, Failure> {
    match arguments {
        [] => Ok(fuzz::SMOKE_SECONDS),
        [option, value] if option == "--seconds" => value.parse().map_err(|_| {
            Failure::new(format!("`{value}` is not a number of seconds"))
                .hint("for example --seconds 600")
        }),
        [option] if option == "--seconds" => {
            Err(Failure::new("--seconds has no value").hint("for example --seconds 600"))
        }
        [argument, ..] => Err(unexpected(argument)),
    }
}

fn unexpected(argument: &str) -> Failure {
    Failure::new(format!("unexpected argument `{argument}`"))
        .hint("run `cargo xtask` for the usage")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &str) -> Vec<String> {
        words.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn errors_about_commands_and_options_list_the_valid_ones() {
        let failure = dispatch(&strings("tset")).unwrap_err().to_string();
        assert!(failure.starts_with("error: no command `tset`\nhint: the commands are test, lint"));
        assert!(none(&strings("--fast")).is_err());
        assert!(flag(&strings("--czech"), "--check").is_err());
        assert_eq!(flag(&strings("--check"), "--check").ok(), Some(true));
        assert!(seconds(&strings("--seconds")).is_err());
        assert!(seconds(&strings("--seconds soon")).is_err());
        assert_eq!(seconds(&strings("--seconds 3")).ok(), Some(3));
        assert_eq!(seconds(&[]).ok(), Some(fuzz::SMOKE_SECONDS));
    }

    #[test]
    fn help_names_every_command() {
        let help = help();
        assert!(COMMANDS.iter().all(|command| help.contains(command.name)));
    }
}
