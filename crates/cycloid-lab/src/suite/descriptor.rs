//! What the program knows of a suite before it runs: names, help, options, and how its records are
//! repeated. The command line, its help, the order of the page and the titles follow from this.

use std::collections::BTreeMap;

use cycloid_command::Stop;

use super::{Effort, Suite};
use crate::Failure;
use crate::peers::Family;
use crate::record::Table;

/// The suites in order of display.
pub static ALL: &[&Descriptor] = &[
    &super::modexp::DESCRIPTOR,
    &super::rsa::DESCRIPTOR,
    &super::dh::DESCRIPTOR,
    &super::ec::DESCRIPTOR,
    &super::bls::DESCRIPTOR,
    #[cfg(feature = "tls")]
    &super::tls::DESCRIPTOR,
    &super::hsm::DESCRIPTOR,
    #[cfg(feature = "vpn")]
    &super::vpn::DESCRIPTOR,
];

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

impl Descriptor {
    /// Returns the description of the suite of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|descriptor| descriptor.name == name)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_distinct_and_lead_to_their_suites() {
        let names: BTreeSet<&str> = ALL.iter().map(|descriptor| descriptor.name).collect();
        assert_eq!(names.len(), ALL.len());
        for descriptor in ALL {
            assert!(std::ptr::eq(Descriptor::named(descriptor.name).unwrap(), *descriptor));
            let options: BTreeSet<&str> = descriptor.options.iter().map(|o| o.name).collect();
            assert_eq!(options.len(), descriptor.options.len(), "{}", descriptor.name);
            if let Some(alone) = descriptor.alone {
                assert_eq!(alone(Effort::Quick).descriptor().name, descriptor.name);
            }
        }
        assert!(Descriptor::named("x448").is_none());
    }

    #[test]
    fn defaults_make_a_suite() {
        for descriptor in ALL.iter().filter(|descriptor| descriptor.alone.is_some()) {
            let mut chosen = Chosen::default();
            for option in descriptor.options {
                if let Value::Default(_, value) = option.value {
                    chosen.set(option.name, value.into());
                }
            }
            let suite = (descriptor.chosen)(&chosen, Effort::Quick);
            assert!(suite.is_ok_and(|suite| !suite.plan(Effort::Quick, &[]).is_empty()));
        }
    }

    #[test]
    fn invalid_values_are_usage_errors() {
        let mut chosen = Chosen::default();
        chosen.set("bits", "many".into());
        let refused = (super::super::dh::DESCRIPTOR.chosen)(&chosen, Effort::Quick);
        assert!(matches!(refused, Err(Stop::Usage(_))));
    }
}
