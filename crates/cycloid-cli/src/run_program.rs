//! `cycloid NAME …`: runs the program `cycloid-NAME`.

use std::process::Command;

use clap::CommandFactory;
use cycloid_command::Stop;
use cycloid_lab::programs;

use crate::arguments::{Arguments, line};
use crate::processes::replace;

/// The services' names, which are known even if their programs are not installed.
const SERVICES: [&str; 2] = ["hsm", "vpn"];

/// If the first argument is no command of this program, replaces this process with the program that
/// it names, from beside this program or from PATH. Returns if there is no such program.
///
/// # Errors
/// [`Stop::Usage`] if a service is not installed.
pub(crate) fn dispatch() -> Result<(), Stop> {
    let line = line();
    let Some(name) = line.get(1).and_then(|name| name.to_str()) else { return Ok(()) };
    let is_name = !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    if !is_name || name == "help" || Arguments::command().find_subcommand(name).is_some() {
        return Ok(());
    }
    let is_service = SERVICES.contains(&name);
    let program = format!("cycloid-{name}");
    let found =
        if is_service { programs::find(&program).ok() } else { programs::installed(&program) };
    match found {
        Some(program) => {
            let error = replace(Command::new(&program).args(&line[2..]));
            Err(Stop::failed(
                format!("cannot run {}: {error}", program.display()),
                "install it again",
            ))
        }
        None if is_service => Err(Stop::usage(
            format!("the program cycloid-{name} is not installed"),
            "install it next to cycloid, or add its directory to PATH",
        )),
        None => Ok(()),
    }
}
