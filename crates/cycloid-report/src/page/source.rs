//! The sources of a page: files with records and profiles.

use serde_json::Value;

use super::flame::Stacks;
use super::measured::Measured;
use crate::history::{self, Entry};
use crate::profile;
use cycloid_lab::Failure;
use cycloid_lab::record::Report;

/// A file and its content.
pub struct Source {
    /// Its name, which the page shows as the source of a number.
    pub(super) name: String,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// A record of `cycloid bench`.
    Record(Box<Report>),
    /// A profile of `cycloid profile`, or folded stacks.
    Stacks(Vec<Stacks>),
    /// A history of `cycloid history`.
    History(Vec<Entry>),
}

impl Source {
    /// Reads a record of `cycloid bench` or `cycloid profile`, as `--save` writes it.
    ///
    /// # Errors
    /// If the text is not such a record, or this version cannot read its format.
    pub fn record(name: &str, text: &str) -> Result<Self, Failure> {
        let foreign = |why: String| {
            Failure::new(
                format!("{name} is not a record: {why}"),
                "write one with cycloid bench --save FILE, or pass folded stacks with --profile",
            )
        };
        let malformed = |error: serde_json::Error| foreign(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(malformed)?;
        let content = if value.get("tables").is_some() {
            Content::Record(Box::new(Report::from_json(text, name)?))
        } else if value.get("profiles").is_some() {
            let format = value.get("format").and_then(Value::as_u64).unwrap_or(0);
            if format > u64::from(profile::FORMAT) {
                return Err(Failure::new(
                    format!(
                        "{name} has format {format}, but this program reads {}",
                        profile::FORMAT
                    ),
                    "use the version of cycloid that wrote it, or repeat the measurement",
                ));
            }
            let report = serde_json::from_str(text).map_err(malformed)?;
            Content::Stacks(Stacks::of_report(name, &report))
        } else {
            return Err(foreign("it has neither tables nor profiles".into()));
        };
        Ok(Self { name: name.into(), content })
    }

    /// Reads folded stacks: one line per path, with names separated by semicolons, and a number.
    ///
    /// # Errors
    /// If a line has no number, or there is no line.
    pub fn folded(name: &str, text: &str) -> Result<Self, Failure> {
        let stacks = Stacks::of_folded(name, text)?;
        Ok(Self { name: name.into(), content: Content::Stacks(vec![stacks]) })
    }

    /// Reads a history of `cycloid history`.
    ///
    /// # Errors
    /// If a line is not a run.
    pub fn history(name: &str, text: &str) -> Result<Self, Failure> {
        Ok(Self { name: name.into(), content: Content::History(history::read(text, name)?) })
    }

    pub(super) fn report(&self) -> Option<&Report> {
        match &self.content {
            Content::Record(report) => Some(report),
            Content::Stacks(_) | Content::History(_) => None,
        }
    }

    /// Returns its runs: those of a history, or the one of a record.
    pub(super) fn runs(&self) -> Vec<Entry> {
        match &self.content {
            Content::Record(report) => vec![Entry::of(report, None)],
            Content::Stacks(_) => Vec::new(),
            Content::History(runs) => runs.clone(),
        }
    }

    /// Returns the tables of a record.
    pub(super) fn tables(&self) -> impl Iterator<Item = Measured<'_>> {
        let source = &*self.name;
        self.report().into_iter().flat_map(move |report| {
            report.tables.iter().map(move |table| Measured { source, report, table })
        })
    }

    pub(super) fn stacks(&self) -> &[Stacks] {
        match &self.content {
            Content::Record(_) | Content::History(_) => &[],
            Content::Stacks(stacks) => stacks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Source::record("x.json", text).err().unwrap().message
    }

    #[test]
    fn other_texts_are_refused() {
        assert!(refusal("{").starts_with("x.json is not a record: "));
        assert!(refusal("[]").contains("neither tables nor profiles"));
        assert!(refusal(r#"{"tables": 3}"#).starts_with("x.json is not a record: "));
        let later = r#"{"format": 4000, "tables": []}"#;
        assert!(refusal(later).contains("format 4000"), "{}", refusal(later));
        assert!(Source::folded("x", "a;b twelve").is_err());
        assert!(Source::history("x", "{}").is_err());
    }
}
