//! SQLite: one file, with a write-ahead log that is flushed at each commit.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::connection::{self, Access, Connection, Field, PATIENCE, Row, Value};
use crate::store::violation::{CANNOT_OPEN, DAMAGED_FILE, NO_KEYSTORE};
use crate::{Code, Error, Result};

/// Creates an empty file that only its owner can read, unless the file exists.
pub(super) fn create(path: &Path) -> Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Code::DEVICE_ERROR.because(format!("cannot create {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

pub(super) struct Sqlite(rusqlite::Connection);

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(path, flags)
            .map_err(|error| not_opened(path, &error))?;
        let prepare = || {
            connection.busy_timeout(PATIENCE)?;
            // The file itself is untrusted: no views or triggers that call functions, and no writes
            // to the schema tables.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_prepared_statement_cache_capacity(64);
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON",
            )
        };
        prepare().map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => not_opened(path, &error),
            _ => failed(error),
        })?;
        Ok(Self(connection))
    }
}

/// Returns why a file cannot be opened. SQLite does not tell a missing one from a forbidden one.
fn not_opened(path: &Path, error: &rusqlite::Error) -> Error {
    let place = path.display();
    Code::DEVICE_ERROR.because(match OpenOptions::new().read(true).write(true).open(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => format!("{NO_KEYSTORE} {place}"),
        Err(cause) => format!("{CANNOT_OPEN} {place}: {cause}"),
        // The files beside it cannot be made.
        Ok(_) => format!("{CANNOT_OPEN} {place}: {error}"),
    })
}

impl Sqlite {
    /// Opens the file for exclusive use. The first access fails as long as others are connected,
    /// because each connection to a file with a write-ahead log holds a shared lock on it.
    pub(super) fn open_alone(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = rusqlite::Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(Duration::ZERO)?;
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
            Ok(Self(connection))
        };
        open().map_err(failed)
    }
}

impl Connection for Sqlite {
    fn has_others(&mut self) -> Result<bool> {
        match self.0.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
            Ok(()) => Ok(false),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(true),
            Err(error) => Err(failed(error)),
        }
    }

    fn has_table(&mut self, name: &str) -> Result<bool> {
        // A query, unlike `table_exists`, notices tables that other connections have made.
        let query = "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = $1";
        self.0.query_row(query, [name], |row| row.get(0)).map_err(failed)
    }

    fn run(&mut self, statements: &str) -> Result<()> {
        self.0.execute_batch(statements).map_err(failed)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.run(match access {
            Access::Read => "BEGIN",
            Access::Write => "BEGIN IMMEDIATE",
        })
    }

    fn lock(&mut self) -> Result<()> {
        // `BEGIN IMMEDIATE` has already locked the whole database.
        Ok(())
    }

    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(statement).map_err(failed)?;
        statement.execute(params_from_iter(values)).map(|rows| rows as u64).map_err(failed)
    }

    fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.0.prepare_cached(query).map_err(failed)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let field = |at| row.get_ref(at).map(field).map_err(failed);
            each(Row::new((0..columns).map(field).collect::<Result<_>>()?))?;
        }
        Ok(())
    }
}

fn field(value: ValueRef<'_>) -> Field {
    match value {
        ValueRef::Integer(number) => Field::Number(number),
        ValueRef::Blob(bytes) => Field::Bytes(bytes.to_vec()),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Field::Text(text.to_owned()),
            Err(_) => Field::Unreadable(text.to_vec()),
        },
        ValueRef::Real(number) => Field::Real(number),
        ValueRef::Null => Field::None,
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Self::Number(number) => ValueRef::Integer(number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
            Self::None => ValueRef::Null,
            Self::Real(number) => ValueRef::Real(number),
            Self::Unreadable(text) => ValueRef::Text(text),
        }))
    }
}

/// Names damage of the file itself, which no seal can repair.
fn failed(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Code::DEVICE_ERROR.because(format!("{DAMAGED_FILE}: {error}"))
        }
        _ => connection::failed(error),
    }
}
