//! Programs in a temporary directory.

use std::fs;
use std::process::{Command, Stdio};

use clap::Args;
use cycloid_command::{Stop, output};
use cycloid_lab::suite::openssl::{Programs, Running};

use super::temporary::{Directory, Killed, Starter, cannot};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The files and programs, as JSON.
    programs: String,
}

/// Keeps programs and their directory until standard input ends, then ends the programs and removes
/// the directory.
pub(super) fn run(arguments: &Arguments) -> Result<(), Stop> {
    let wanted: Programs = serde_json::from_str(&arguments.programs).map_err(|error| {
        Stop::failed(format!("malformed programs: {error}"), "run `cycloid bench openssl` instead")
    })?;
    let starter = Starter::watch()?;
    let directory = Directory::new()?;
    for (name, contents) in &wanted.files {
        fs::write(directory.path().join(name), contents)
            .map_err(|error| cannot("write a file", &error))?;
    }
    let mut started = Vec::new();
    for program in &wanted.programs {
        let name = &program.name;
        let mut command = Command::new(name);
        command.args(&program.arguments).envs(program.environment.iter().cloned());
        command.current_dir(directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().map_err(|error| cannot(&format!("start {name}"), &error))?;
        started.push(Killed(child));
    }
    let processes = started.iter().map(|Killed(child)| child.id()).collect();
    let place = Running { directory: directory.path().into(), processes };
    output::print(&(serde_json::to_string(&place).expect("it is data") + "\n"))?;
    starter.wait();
    Ok(())
}
