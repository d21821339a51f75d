//! The database: SQLite or PostgreSQL, by the same queries.
//!
//! Parameters stand in a query as `$1`, `$2`, … in this order, which both understand. Connections
//! that are free are kept; each transaction has one to itself.

mod postgresql;
mod sqlite;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::violation::Violation;
use crate::error::{Code, Error, Result};

/// How long a writer waits for those before it.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a transaction is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Sees the database as it is at one moment, and changes nothing.
    Read,
    /// May change it, and should [`lock`](Transaction::lock) it before.
    Write,
}

/// What a parameter is bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    None,
}

impl<'a> Value<'a> {
    /// A number as the database has them: with the same 64 bits.
    pub(super) const fn number(number: u64) -> Self {
        Self::Number(number.cast_signed())
    }

    pub(super) fn optional(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::None, Self::Bytes)
    }
}

/// What a column holds.
#[derive(PartialEq)]
pub(super) enum Field {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
    None,
}

/// A row, which is read column by column.
pub(super) struct Row(std::vec::IntoIter<Field>);

impl Row {
    fn new(fields: Vec<Field>) -> Self {
        Self(fields.into_iter())
    }

    #[cfg(test)]
    pub(super) fn into_fields(self) -> Vec<Field> {
        self.0.collect()
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        match self.0.next() {
            Some(Field::Number(number)) => Ok(number.cast_unsigned()),
            _ => Err(Violation::Malformed("of numbers").into()),
        }
    }

    pub(super) fn small(&mut self) -> Result<u32> {
        u32::try_from(self.number()?).map_err(|_| Violation::Malformed("of numbers").into())
    }

    pub(super) fn text(&mut self) -> Result<String> {
        match self.0.next() {
            Some(Field::Text(text)) => Ok(text),
            _ => Err(Violation::Malformed("of text").into()),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.0.next() {
            Some(Field::Bytes(bytes)) => Ok(bytes),
            _ => Err(Violation::Malformed("of bytes").into()),
        }
    }

    pub(super) fn optional_bytes(&mut self) -> Result<Option<Vec<u8>>> {
        match self.0.next() {
            Some(Field::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Field::None) => Ok(None),
            _ => Err(Violation::Malformed("of bytes").into()),
        }
    }
}

/// What the two have in common.
trait Connection: Send {
    /// Whether there is a table of that name.
    fn has_table(&mut self, name: &str) -> Result<bool>;

    /// Runs statements without parameters and results.
    fn run(&mut self, statements: &str) -> Result<()>;

    fn begin(&mut self, access: Access) -> Result<()>;

    /// Waits until no other transaction writes, and keeps others from it.
    fn lock(&mut self) -> Result<()>;

    /// Runs a statement, and gives the number of rows that it changed.
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64>;

    /// Runs a query, and gives its rows to `each`, one by one.
    fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()>;
}

/// A database by its URL.
pub(super) struct Database {
    place: Place,
    idle: Mutex<Vec<Box<dyn Connection>>>,
}

enum Place {
    Sqlite(std::path::PathBuf),
    Postgresql(Box<postgresql::Place>),
}

impl Database {
    /// The database of `sqlite:PATH` or `postgres://…`.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for all else.
    pub(super) fn new(url: &str) -> Result<Self> {
        let place = match url.split_once(':') {
            // Absolute, so that no path means to SQLite anything but a file.
            Some(("sqlite", path)) if !path.is_empty() => {
                Place::Sqlite(std::path::absolute(path).map_err(failed)?)
            }
            Some(("postgres" | "postgresql", _)) => Place::Postgresql(postgresql::place(url)?),
            // Not the URL itself: there may be a password in it.
            _ => {
                let expected = "a keystore is at sqlite:PATH or at postgres://USER@HOST/DATABASE";
                return Err(Code::ARGUMENTS_BAD.because(expected));
            }
        };
        Ok(Self { place, idle: Mutex::default() })
    }

    /// Makes the file, where the database is one and there is none.
    pub(super) fn create(&self) -> Result<()> {
        match &self.place {
            Place::Sqlite(path) => sqlite::create(path),
            Place::Postgresql(_) => Ok(()),
        }
    }

    pub(super) fn begin(&self, access: Access) -> Result<Transaction<'_>> {
        // One that was idle may have lost its server meanwhile.
        while let Some(mut connection) = { self.idle().pop() } {
            if connection.begin(access).is_ok() {
                return Ok(Transaction { database: self, connection: Some(connection) });
            }
        }
        let mut connection: Box<dyn Connection> = match &self.place {
            Place::Sqlite(path) => Box::new(sqlite::Sqlite::open(path)?),
            Place::Postgresql(place) => Box::new(postgresql::Postgresql::open(place)?),
        };
        connection.begin(access)?;
        Ok(Transaction { database: self, connection: Some(connection) })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where it is, without what may be secret in it.
impl std::fmt::Display for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Place::Sqlite(path) => write!(f, "{}", path.display()),
            Place::Postgresql(place) => {
                write!(f, "the PostgreSQL database {}", place.database().unwrap_or_default())
            }
        }
    }
}

/// A transaction, which is rolled back unless it is committed.
pub(super) struct Transaction<'a> {
    database: &'a Database,
    /// Taken on commit.
    connection: Option<Box<dyn Connection>>,
}

impl Transaction<'_> {
    fn connection(&mut self) -> &mut dyn Connection {
        &mut **self.connection.as_mut().expect("a transaction has one until its end")
    }

    pub(super) fn has_table(&mut self, name: &str) -> Result<bool> {
        self.connection().has_table(name)
    }

    /// Waits until no other transaction writes, and keeps others from it: on SQLite since the
    /// beginning, on PostgreSQL by the row of `keystore`.
    pub(super) fn lock(&mut self) -> Result<()> {
        self.connection().lock()
    }

    pub(super) fn run(&mut self, statements: &str) -> Result<()> {
        self.connection().run(statements)
    }

    /// # Errors
    /// [`Code::DEVICE_ERROR`].
    pub(super) fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64> {
        self.connection().execute(statement, values)
    }

    /// # Errors
    /// [`Code::DEVICE_ERROR`], and what `each` finds wrong.
    pub(super) fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        mut each: impl FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        self.connection().query(query, values, &mut each)
    }

    /// All rows of a query, each as what `read` makes of it.
    pub(super) fn all<T>(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        mut read: impl FnMut(Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.query(query, values, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// The row of a query that has at most one.
    pub(super) fn one<T>(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        read: impl FnMut(Row) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(query, values, read)?.pop())
    }

    /// Makes the changes last. After an error they may or may not.
    pub(super) fn commit(mut self) -> Result<()> {
        let mut connection = self.connection.take().expect("it ends here");
        connection.run("COMMIT")?;
        self.database.idle().push(connection);
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // A connection that cannot roll back is closed, which does the same.
        if let Some(mut connection) = self.connection.take()
            && connection.run("ROLLBACK").is_ok()
        {
            self.database.idle().push(connection);
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Code::DEVICE_ERROR.because(format!("the database failed: {error}"))
}
