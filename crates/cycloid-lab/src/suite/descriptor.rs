//! Suites and their descriptions: names, help, options, and how records are repeated. The command
//! line, its help and the titles follow from this.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cycloid_command::Stop;

use super::plan::{Effort, Plan};
use crate::Failure;
use crate::peers::{Family, Found, Peer};
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
    /// Its constructors; none if another crate has them.
    pub(crate) constructors: Option<Constructors>,
    /// Returns the options that select these recorded tables.
    pub repeat: fn(&[&Table]) -> Vec<String>,
}

/// The constructors of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Constructors {
    /// Creates the suite with the chosen options.
    pub chosen: fn(&Chosen, Effort) -> Created<Stop>,
    /// Creates the suite for a run of all suites, if this machine can run it.
    pub usual: fn(Effort) -> Created<Failure>,
    /// Creates the suite with the operations that need no other process, if it has any.
    pub alone: Option<fn(Effort) -> Box<dyn Suite>>,
}

/// The constructors that another crate has added, by the name of the suite.
static ADDED: OnceLock<&'static [(&'static str, Constructors)]> = OnceLock::new();

/// Adds the constructors of suites that only have a description here.
pub(crate) fn add(constructors: &'static [(&'static str, Constructors)]) {
    let _ = ADDED.set(constructors);
}

impl Descriptor {
    /// Returns its constructors, if this program has them.
    pub fn constructors(&self) -> Option<Constructors> {
        let added = || ADDED.get()?.iter().find(|(name, _)| *name == self.name);
        self.constructors.or_else(|| Some(added()?.1))
    }

    /// Returns whether this program has the suite and those of `peers` that do the same operations.
    pub fn is_complete(&self, peers: &[Peer]) -> bool {
        let mut peers = peers.iter().filter(|peer| peer.does(self.family));
        self.constructors().is_some() && peers.all(|peer| peer.is_compiled_in())
    }
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

    /// Returns the value of an option, if it is set.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|value| &**value)
    }

    /// Parses the value of an option, if it is set.
    ///
    /// # Errors
    /// A usage error if the value is invalid.
    pub fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Failure>,
    ) -> Result<Option<T>, Stop> {
        self.0.get(name).map(|value| parse(value)).transpose().map_err(Stop::Usage)
    }

    /// Parses the value of an option with a default.
    ///
    /// # Errors
    /// A usage error if the value is invalid.
    pub fn defaulted<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, Failure>,
    ) -> Result<T, Stop> {
        parse(self.0.get(name).map_or("", |value| value)).map_err(Stop::Usage)
    }

    /// Returns the value of an option that is a number.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.0.get(name)?.parse().ok()
    }
}
