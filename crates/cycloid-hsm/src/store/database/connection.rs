//! The interface of both databases: connections, which take values and return rows.

use std::time::Duration;

use crate::store::violation::Violation;
use crate::{Code, Error, Result};

/// How long a writer waits for earlier writers.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The purpose of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Access {
    /// Reads a snapshot of the database.
    Read,
    /// May change the database, and should [`lock`](Transaction::lock) it first.
    Write,
}

/// A parameter's value.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum Value<'a> {
    Number(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    None,
    /// As [`Field::Real`]; SQLite only.
    Real(f64),
    /// As [`Field::Unreadable`]; SQLite only.
    Unreadable(&'a [u8]),
}

impl<'a> Value<'a> {
    /// A number as the database's signed integer, with the same 64 bits.
    pub(in crate::store) const fn number(number: u64) -> Self {
        Self::Number(number.cast_signed())
    }

    pub(in crate::store) fn optional(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::None, Self::Bytes)
    }
}

/// A column's value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::store) enum Field {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
    None,
    /// A number that is no integer, which no daemon writes; SQLite stores any type anywhere.
    Real(f64),
    /// Text in no valid encoding, which no daemon writes.
    Unreadable(Vec<u8>),
}

impl Field {
    /// Returns it as a parameter.
    pub(in crate::store) fn value(&self) -> Value<'_> {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
            Self::None => Value::None,
            Self::Real(number) => Value::Real(*number),
            Self::Unreadable(text) => Value::Unreadable(text),
        }
    }
}

/// A row, read column by column.
#[derive(Clone)]
pub(in crate::store) struct Row(std::vec::IntoIter<Field>);

impl Row {
    pub(in crate::store) fn new(fields: Vec<Field>) -> Self {
        Self(fields.into_iter())
    }

    pub(in crate::store) fn into_fields(self) -> Vec<Field> {
        self.0.collect()
    }

    pub(in crate::store) fn number(&mut self) -> Result<u64> {
        match self.0.next() {
            Some(Field::Number(number)) => Ok(number.cast_unsigned()),
            _ => Err(Violation::Malformed("of numbers").into()),
        }
    }

    pub(in crate::store) fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| Violation::Malformed("of numbers").into())
    }

    pub(in crate::store) fn text(&mut self) -> Result<String> {
        match self.0.next() {
            Some(Field::Text(text)) => Ok(text),
            _ => Err(Violation::Malformed("of text").into()),
        }
    }

    pub(in crate::store) fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.0.next() {
            Some(Field::Bytes(bytes)) => Ok(bytes),
            _ => Err(Violation::Malformed("of bytes").into()),
        }
    }

    pub(in crate::store) fn optional_bytes(&mut self) -> Result<Option<Vec<u8>>> {
        match self.0.next() {
            Some(Field::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Field::None) => Ok(None),
            _ => Err(Violation::Malformed("of bytes").into()),
        }
    }
}

/// The operations that both databases implement.
pub(super) trait Connection: Send {
    /// Returns whether a table exists.
    fn has_table(&mut self, name: &str) -> Result<bool>;

    /// Runs statements without parameters and results.
    fn run(&mut self, statements: &str) -> Result<()>;

    /// Returns whether another program has a connection to the database.
    fn has_others(&mut self) -> Result<bool>;

    fn begin(&mut self, access: Access) -> Result<()>;

    /// Waits until no other transaction writes, and blocks further writers.
    fn lock(&mut self) -> Result<()>;

    /// Announces the transaction to those who [watch](Watch), once it is committed.
    fn announce(&mut self) -> Result<()> {
        Ok(())
    }

    /// Runs a statement, and returns the number of changed rows.
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64>;

    /// Runs a query, and passes its rows to `each`, one by one.
    fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()>;
}

/// Waits for the announcements of other daemons.
pub(in crate::store) trait Watch: Send {
    /// Waits for an announcement, for this time at most. Returns whether there was one.
    fn wait(&mut self, timeout: Duration) -> Result<bool>;
}

pub(super) fn failed(error: impl std::fmt::Display) -> Error {
    Code::DEVICE_ERROR.because(format!("the database failed: {error}"))
}
