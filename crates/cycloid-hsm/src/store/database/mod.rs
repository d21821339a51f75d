//! The database: SQLite or PostgreSQL, with the same queries.
//!
//! Parameters appear in a query as `$1`, `$2`, … in this order, which both databases support. Idle
//! connections are kept for reuse; each transaction has a connection to itself.

mod connection;
#[cfg_attr(not(feature = "postgresql"), path = "no_postgresql.rs")]
mod postgresql;
mod sqlite;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use connection::{Connection, failed};

use crate::{Code, Result};

pub(super) use connection::{Access, Field, Row, Value, Watch};

/// How long a PostgreSQL server may take to notice the end of other connections.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(3);

/// A database, opened by its URL.
pub(super) struct Database {
    place: Place,
    idle: Mutex<Vec<Box<dyn Connection>>>,
}

enum Place {
    Sqlite(std::path::PathBuf),
    Postgresql(Box<postgresql::Place>),
}

impl Database {
    /// Parses `sqlite:PATH` or `postgres://…`.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for any other URL; [`Code::FUNCTION_NOT_SUPPORTED`] for PostgreSQL
    /// in a build without it.
    pub(super) fn new(url: &str) -> Result<Self> {
        let place = match url.split_once(':') {
            // An absolute path, which SQLite cannot take for anything but a file.
            Some(("sqlite", path)) if !path.is_empty() => {
                Place::Sqlite(std::path::absolute(path).map_err(failed)?)
            }
            Some(("postgres" | "postgresql", _)) => Place::Postgresql(postgresql::place(url)?),
            // The message omits the URL, which may contain a password.
            _ => {
                let expected = "the database must be sqlite:PATH or postgres://USER@HOST/DATABASE";
                return Err(Code::ARGUMENTS_BAD.because(expected));
            }
        };
        Ok(Self { place, idle: Mutex::default() })
    }

    /// Creates the database's file, if it is a file and does not exist.
    pub(super) fn create(&self) -> Result<()> {
        match &self.place {
            Place::Sqlite(path) => sqlite::create(path),
            Place::Postgresql(_) => Ok(()),
        }
    }

    pub(super) fn begin(&self, access: Access) -> Result<Transaction<'_>> {
        // An idle connection may have lost its server meanwhile.
        while let Some(mut connection) = { self.idle().pop() } {
            if connection.begin(access).is_ok() {
                return Ok(Transaction { database: self, connection: Some(connection) });
            }
        }
        let mut connection: Box<dyn Connection> = match &self.place {
            Place::Sqlite(path) => Box::new(sqlite::Sqlite::open(path)?),
            Place::Postgresql(place) => postgresql::open(place)?,
        };
        connection.begin(access)?;
        Ok(Transaction { database: self, connection: Some(connection) })
    }

    /// Returns a watch for the announcements of other daemons; `None` if the database has none.
    pub(super) fn watch(&self) -> Result<Option<Box<dyn Watch>>> {
        match &self.place {
            Place::Sqlite(_) => Ok(None),
            Place::Postgresql(place) => postgresql::watch(place).map(Some),
        }
    }

    /// Returns whether it is on a server, which may become unreachable.
    pub(super) const fn is_remote(&self) -> bool {
        matches!(self.place, Place::Postgresql(_))
    }

    /// Returns whether another program, or another [`Database`] of this one, is connected. No
    /// transaction of this one may be open.
    pub(super) fn has_others(&self) -> Result<bool> {
        self.idle().clear();
        match &self.place {
            Place::Sqlite(path) => sqlite::Sqlite::open_alone(path)?.has_others(),
            Place::Postgresql(place) => {
                let mut connection = postgresql::open(place)?;
                // The server notices only some time later that a connection was closed.
                let begun = Instant::now();
                loop {
                    match connection.has_others()? {
                        true if begun.elapsed() < PATIENCE_WITH_OTHERS => {
                            std::thread::sleep(Duration::from_millis(50));
                        }
                        others => return Ok(others),
                    }
                }
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Box<dyn Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the location without secret parts.
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

/// A transaction, rolled back unless it is committed.
pub(super) struct Transaction<'a> {
    database: &'a Database,
    /// `None` after the commit.
    connection: Option<Box<dyn Connection>>,
}

impl Transaction<'_> {
    fn connection(&mut self) -> &mut dyn Connection {
        &mut **self.connection.as_mut().expect("a transaction has a connection until its end")
    }

    pub(super) fn has_table(&mut self, name: &str) -> Result<bool> {
        self.connection().has_table(name)
    }

    /// Waits until no other transaction writes, and blocks further writers. On SQLite the
    /// transaction's begin does this; on PostgreSQL the row of `keystore` is the lock.
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
    /// [`Code::DEVICE_ERROR`], and the errors of `each`.
    pub(super) fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        mut each: impl FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        self.connection().query(query, values, &mut each)
    }

    /// Returns all rows of a query, each converted by `read`.
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

    /// Returns the row of a query that has at most one.
    pub(super) fn one<T>(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        read: impl FnMut(Row) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(query, values, read)?.pop())
    }

    /// Announces the changes to other daemons, once they are committed.
    pub(super) fn announce(&mut self) -> Result<()> {
        self.connection().announce()
    }

    /// Commits the changes. After an error they may or may not be stored.
    pub(super) fn commit(mut self) -> Result<()> {
        let mut connection = self.connection.take().expect("it ends here");
        connection.run("COMMIT")?;
        self.database.idle().push(connection);
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // If the rollback fails, dropping the connection closes it, which also rolls back.
        if let Some(mut connection) = self.connection.take()
            && connection.run("ROLLBACK").is_ok()
        {
            self.database.idle().push(connection);
        }
    }
}
