//! Questions at the terminal.

use std::io::{self, IsTerminal};

use console::Term;
use zeroize::Zeroizing;

/// Returns whether somebody can be asked: both stdin and stderr are a terminal.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Prints a prompt on stderr, and reads a line.
///
/// # Errors
/// Those of the terminal.
pub fn line(prompt: &str) -> io::Result<String> {
    let terminal = Term::stderr();
    terminal.write_str(prompt)?;
    terminal.read_line()
}

/// Prints a prompt on stderr, and reads a line that is not shown.
///
/// # Errors
/// Those of the terminal.
pub fn secret(prompt: &str) -> io::Result<Zeroizing<String>> {
    let terminal = Term::stderr();
    terminal.write_str(prompt)?;
    terminal.read_secure_line().map(Zeroizing::new)
}
