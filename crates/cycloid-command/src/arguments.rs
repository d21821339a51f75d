//! Command lines: help goes to stdout, and a rejected argument is two lines on stderr.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::{Failure, Stop, output};

/// Parses the command line of this process. `without` is the hint if it has no command.
///
/// # Errors
/// [`Stop::Usage`] for invalid arguments; [`Stop::Shown`] after help or version.
pub fn parse<P: Parser>(without: &str) -> Result<P, Stop> {
    parse_from(std::env::args_os(), without)
}

/// Parses a command line, which begins with the program's name.
///
/// # Errors
/// As [`parse`].
pub fn parse_from<P: Parser>(
    line: impl IntoIterator<Item = OsString>,
    without: &str,
) -> Result<P, Stop> {
    let line: Vec<OsString> = line.into_iter().collect();
    #[cfg(feature = "pages")]
    crate::pages::on_request(P::command(), &line)?;
    P::try_parse_from(line).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&error.render().to_string())?;
            Err(Stop::Shown)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Stop::usage("no command is given", without))
        }
        _ => Err(Stop::Usage(in_two_lines(&error))),
    })
}

/// Reduces clap's paragraphs to a message and a hint.
pub fn in_two_lines(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first).trim_end_matches([':', '.']);
    let message = match error.get(ContextKind::InvalidArg) {
        // The first line names one argument, but not several.
        Some(ContextValue::Strings(missing)) => format!("{message}: {}", missing.join(", ")),
        _ => message.to_owned(),
    };
    let suggestion =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
            .into_iter()
            .find_map(|kind| match error.get(kind)? {
                ContextValue::String(name) => Some(name.clone()),
                ContextValue::Strings(names) => names.first().cloned(),
                _ => None,
            });
    let hint = match (suggestion, error.get(ContextKind::ValidValue)) {
        (Some(name), _) => format!("did you mean {name}"),
        (None, Some(ContextValue::Strings(all))) if !all.is_empty() => {
            format!("possible values: {}", all.join(", "))
        }
        _ => "add --help to the command to see its arguments".into(),
    };
    Failure::new(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    #[command(arg_required_else_help = true)]
    enum Program {
        /// Serves.
        Serve {
            /// A number.
            #[arg(long)]
            count: u8,
        },
        /// Logs, or not.
        Log {
            /// Whether.
            #[arg(value_parser = ["on", "off"])]
            required: String,
        },
    }

    fn parsed(line: &str) -> Result<Program, Stop> {
        parse_from(line.split(' ').map(OsString::from), "run it")
    }

    #[test]
    fn a_rejected_argument_is_two_lines() {
        assert!(matches!(parsed("p serve --count 3"), Ok(Program::Serve { count: 3 })));
        for (line, message, hint) in [
            ("p serv", "unrecognized subcommand 'serv'", "did you mean serve"),
            ("p serve --cout 3", "unexpected argument '--cout' found", "did you mean --count"),
            (
                "p serve --count 300",
                "invalid value '300' for '--count <COUNT>': 300 is not in 0..=255",
                "add --help to the command to see its arguments",
            ),
            (
                "p serve",
                "the following required arguments were not provided: --count <COUNT>",
                "add --help to the command to see its arguments",
            ),
            ("p log maybe", "invalid value 'maybe' for '<REQUIRED>'", "possible values: on, off"),
            ("p", "no command is given", "run it"),
        ] {
            match parsed(line) {
                Err(Stop::Usage(failure)) => {
                    assert_eq!((&*failure.message, &*failure.hint), (message, hint), "{line}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
