//! The suites as subcommands of `cycloid bench`, made from their descriptions.

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, Subcommand, value_parser};
use cycloid_command::{Failure, Stop};
use cycloid_lab::suite::descriptor::{Choice, Chosen, Descriptor, Value};
use cycloid_lab::suite::list;
use cycloid_lab::suite::{Effort, Suite};

/// Returns the error for a suite that this program does not have.
pub(crate) fn elsewhere(suite: &Descriptor) -> Failure {
    Failure::new(
        format!("the suite {} is in the program cycloid-peers, which is not installed", suite.name),
        "install it beside cycloid: cargo install --path crates/cycloid-peers",
    )
}

/// Returns those of the suites that this machine can run, in their usual form. Prints notes about
/// what cannot be measured here.
pub(crate) fn usual(suites: &[&'static Descriptor], effort: Effort) -> Vec<Box<dyn Suite>> {
    let create = |suite: &&Descriptor| match suite.constructors() {
        Some(constructors) => (constructors.usual)(effort),
        None => Err(elsewhere(suite)),
    };
    let usual = |suite: &&'static Descriptor| match create(suite) {
        Ok(usual) => Some(usual),
        Err(failure) => {
            let title = suite.title;
            eprintln!("note: skipped the {title} suite: {failure}\nhint: {}", failure.hint);
            None
        }
    };
    let suites: Vec<_> = suites.iter().filter_map(usual).collect();
    tell_left_out(&suites);
    suites
}

/// Prints what a suite cannot measure here, and why.
pub(crate) fn tell_left_out(suites: &[Box<dyn Suite>]) {
    for (part, failure) in suites.iter().filter_map(|suite| suite.left_out()) {
        eprintln!("note: skipping {part}: {failure}\nhint: {}", failure.hint);
    }
}

/// A suite, with the options that the user chose.
#[derive(Debug)]
pub(crate) struct ChosenSuite {
    descriptor: &'static Descriptor,
    chosen: Chosen,
}

impl ChosenSuite {
    /// Creates the suite.
    pub(crate) fn create(&self, effort: Effort) -> Result<Box<dyn Suite>, Stop> {
        match self.descriptor.constructors() {
            Some(constructors) => (constructors.chosen)(&self.chosen, effort),
            None => Err(Stop::Usage(elsewhere(self.descriptor))),
        }
    }

    /// Returns the value of an option, or its default; `None` without a value.
    pub(crate) fn value(&self, option: &str) -> Option<&str> {
        self.chosen.value(option)
    }

    /// Returns the description of the suite.
    pub(crate) const fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }
}

impl FromArgMatches for ChosenSuite {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand();
        let found = found.and_then(|(name, own)| Some((list::named(name)?, own)));
        let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
        let (descriptor, own) = found.ok_or_else(missing)?;
        let mut chosen = Chosen::default();
        for Choice { name, value, .. } in descriptor.options {
            let value = match value {
                Value::Flag => own.get_flag(name).then(String::new),
                Value::Text(_) | Value::Default(..) => own.get_one::<String>(name).cloned(),
                Value::Number(..) => own.get_one::<u32>(name).map(u32::to_string),
            };
            if let Some(value) = value {
                chosen.set(name, value);
            }
        }
        Ok(Self { descriptor, chosen })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for ChosenSuite {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(list::ALL.iter().map(|suite| subcommand(suite)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        list::named(name).is_some()
    }
}

fn subcommand(suite: &Descriptor) -> Command {
    let command = Command::new(suite.name).about(suite.about).args(suite.options.iter().map(arg));
    if suite.examples.is_empty() { command } else { command.after_help(suite.examples) }
}

fn arg(option: &Choice) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.help);
    match option.value {
        Value::Flag => arg.action(ArgAction::SetTrue),
        Value::Text(name) => arg.value_name(name),
        Value::Default(name, value) => arg.value_name(name).default_value(value),
        Value::Number(name, most) => {
            let range = value_parser!(u32).range(1..=i64::from(most));
            arg.value_name(name).value_parser(ValueParser::new(range))
        }
    }
}
