//! Suites and their descriptions: names, help, options, and how records are repeated. The command
//! line, its help and the titles follow from this.

use std::collections::BTreeMap;

use cycloid_command::Stop;

use super::plan::{Effort, Plan};
use crate::Failure;
use crate::peers::{Family, Found};
use crate::record::Table;

/// A family of tables.
pub trait Suite: Sync {
    /// Returns its description.
    fn descriptor(&self) -> &'static Descriptor;

    /// Returns what this machine cannot measure, and the reason.
    fn left_out(&self) -> Option<(&'static str, &Failure)> {
        None
    }

    /// Plans its tables.
    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>>;
}

/// A suite, or why there is none.
pub type Created<E> = Result<Box<dyn Suite>, E>;

/// The description of a suite.
#[derive(Debug)]
pub struct Descriptor {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// Its title on the page.
    pub title: &'static str,
    /// A line of help.
    pub about: &'static str,
    /// Examples, as shown below the help; may be empty.
    pub examples: &'static str,
    /// The operations that its peers must support.
    pub family: Family,
    /// Its own options.
    pub options: &'static [Choice],
    /// Creates the suite with the chosen options.
    pub chosen: fn(&Chosen, Effort) -> Created<Stop>,
    /// Creates the suite for a run of all suites, if this machine can run it.
    pub usual: fn(Effort) -> Created<Failure>,
    /// Creates the suite with the operations that need no other process, if it has any.
    pub(crate) alone: Option<fn(Effort) -> Box<dyn Suite>>,
    /// Returns the options that select these recorded tables.
    pub(crate) repeat: fn(&[&Table]) -> Vec<String>,
}

/// An option of a suite.
#[derive(Debug)]
pub struct Choice {
    /// Its name, without hyphens.
    pub name: &'static str,
    /// Its help.
    pub help: &'static str,
    /// Its value.
    pub value: Value,
}

/// The value of an option.
#[derive(Debug)]
pub enum Value {
    /// No value: the option is given or not.
    Flag,
    /// A text, by its name in the help.
    Text(&'static str),
    /// A text with a default.
    Default(&'static str, &'static str),
    /// A number from 1 to a limit.
    Number(&'static str, u32),
}

/// The options that a user chose, with their values and defaults.
#[derive(Clone, Debug, Default)]
pub struct Chosen(BTreeMap<&'static str, String>);

impl Chosen {
    /// Sets an option; a flag has an empty value.
    pub fn set(&mut self, name: &'static str, value: String) {
        self.0.insert(name, value);
    }

    /// Returns whether an option is set.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Parses the value of an option, if it is set.
    pub(super) fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Failure>,
    ) -> Result<Option<T>, Stop> {
        self.0.get(name).map(|value| parse(value)).transpose().map_err(Stop::Usage)
    }

    /// Parses the value of an option with a default.
    pub(super) fn defaulted<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Failure>,
    ) -> Result<T, Stop> {
        parse(self.0.get(name).map_or("", |value| value)).map_err(Stop::Usage)
    }

    /// Returns the value of an option that is a number.
    #[cfg(feature = "vpn")]
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.0.get(name)?.parse().ok()
    }
}
