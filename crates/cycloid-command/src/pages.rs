//! Man pages and shell completions, for packages (feature `pages`).
//!
//! A program built with this feature has one more command, `write-pages DIRECTORY`. It writes:
//!
//! | file | holds |
//! |---|---|
//! | `man/NAME.1`, `man/NAME-COMMAND.1` | the manual of the program and of each command |
//! | `NAME.bash`, `_NAME`, `NAME.fish` | completions for bash, zsh and fish |

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;

use crate::Stop;

/// The name of the command.
const COMMAND: &str = "write-pages";

/// Writes the pages of `program` if the command line is `write-pages DIRECTORY`, and returns
/// [`Stop::Shown`] then.
pub(crate) fn on_request(program: Command, line: &[OsString]) -> Result<(), Stop> {
    let directory = match line {
        [_, command, directory] if command == COMMAND => Path::new(directory),
        [_, command, ..] if command == COMMAND => {
            let hint = format!("{COMMAND} DIRECTORY creates it");
            return Err(Stop::usage("expected one directory", hint));
        }
        _ => return Ok(()),
    };
    write(program, directory).map_err(|error| {
        Stop::failed(
            format!("cannot write to {}: {error}", directory.display()),
            "choose a writable directory",
        )
    })?;
    Err(Stop::Shown)
}

fn write(mut program: Command, directory: &Path) -> io::Result<()> {
    let name = program.get_name().to_owned();
    let man = directory.join("man");
    fs::create_dir_all(&man)?;
    // Before the completions, which add a command `help` to every command.
    clap_mangen::generate_to(program.clone(), man)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut program, &name, directory)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_has_a_page() {
        let directory = std::env::temp_dir().join(format!("cycloid-pages-{}", std::process::id()));
        let program = Command::new("p")
            .about("Tests pages")
            .subcommand(Command::new("seen"))
            .subcommand(Command::new("unseen").hide(true));
        let line = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(on_request(program.clone(), &line(&["p", "seen"])).is_ok());
        let lacking = on_request(program.clone(), &line(&["p", COMMAND]));
        assert!(matches!(lacking, Err(Stop::Usage(_))));
        let mut whole = line(&["p", COMMAND]);
        whole.push(directory.clone().into());
        assert!(matches!(on_request(program, &whole), Err(Stop::Shown)));

        let exists = |name: &str| directory.join(name).exists();
        assert!(["man/p.1", "man/p-seen.1", "p.bash", "_p", "p.fish"].into_iter().all(exists));
        assert!(!exists("man/p-unseen.1") && !exists("man/p-help.1"));
        assert!(fs::read_to_string(directory.join("man/p.1")).unwrap().contains("Tests pages"));
        fs::remove_dir_all(directory).unwrap();
    }
}
