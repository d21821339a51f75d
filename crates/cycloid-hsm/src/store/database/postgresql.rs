//! PostgreSQL: for several daemons on one database.
//!
//! The server is trusted with nothing but to keep what it is given: all that is secret is sealed
//! before it goes there, and whatever comes back is verified. So a connection needs no TLS of its
//! own, and has none; a URL that demands it (`sslmode=require`) is refused.

use std::collections::HashMap;
use std::error::Error as _;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, NoTls, Statement};

use super::{Access, Connection, Field, PATIENCE, Row, Value};
use crate::error::{Code, Error, Result};

/// What a URL says.
pub(super) fn config(url: &str) -> Result<Box<Config>> {
    // Not the URL itself: there may be a password in it.
    let mut config = url.parse::<Config>().map_err(|error| {
        Code::ARGUMENTS_BAD.because(format!("the URL of the database is malformed: {error}"))
    })?;
    if config.get_ssl_mode() == SslMode::Require {
        return Err(Code::ARGUMENTS_BAD.because("connections to PostgreSQL have no TLS here"));
    }
    config.application_name("cycloid-hsm");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(PATIENCE);
    }
    Ok(Box::new(config))
}

pub(super) struct Postgresql {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Postgresql {
    pub(super) fn open(config: &Config) -> Result<Self> {
        let mut client = config.connect(NoTls).map_err(failed)?;
        // Whatever the server's configuration says: what is acknowledged lasts, and a daemon whose
        // machine is gone does not keep the others waiting.
        let milliseconds = PATIENCE.as_millis();
        let settings = format!(
            "SET synchronous_commit = on; \
             SET lock_timeout = {milliseconds}; \
             SET idle_in_transaction_session_timeout = {milliseconds}"
        );
        client.batch_execute(&settings).map_err(failed)?;
        Ok(Self { client, statements: HashMap::new() })
    }

    fn prepare(&mut self, text: &'static str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(text) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(text).map_err(failed)?;
        self.statements.insert(text, statement.clone());
        Ok(statement)
    }
}

impl Connection for Postgresql {
    fn has_table(&mut self, name: &str) -> Result<bool> {
        let row = self.client.query_one("SELECT to_regclass($1::TEXT) IS NOT NULL", &[&name]);
        row.and_then(|row| row.try_get(0)).map_err(failed)
    }

    fn run(&mut self, statements: &str) -> Result<()> {
        self.client.batch_execute(statements).map_err(failed)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.run(match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            // Each statement after `lock` sees what the writer before committed.
            Access::Write => "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE",
        })
    }

    fn lock(&mut self) -> Result<()> {
        self.run("SELECT one FROM keystore FOR UPDATE")
    }

    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<u64> {
        let statement = self.prepare(statement)?;
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect::<Vec<_>>();
        self.client.execute(&statement, &values).map_err(failed)
    }

    fn query(
        &mut self,
        query: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let statement = self.prepare(query)?;
        let values = values.iter().map(|value| value as &dyn ToSql);
        let mut rows = self.client.query_raw(&statement, values).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let field = |at| field(&row, at).map_err(failed);
            each(Row::new((0..row.len()).map(field).collect::<Result<_>>()?))?;
        }
        Ok(())
    }
}

fn field(row: &postgres::Row, at: usize) -> Result<Field, postgres::Error> {
    let field = match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Field::Number),
        Type::TEXT => row.try_get::<_, Option<String>>(at)?.map(Field::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Field::Bytes),
        // The schema has no others.
        _ => None,
    };
    Ok(field.unwrap_or(Field::None))
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        of: &Type,
        to: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Number(number) => number.to_sql(of, to),
            Self::Text(text) => text.to_sql(of, to),
            Self::Bytes(bytes) => bytes.to_sql(of, to),
            Self::None => Ok(IsNull::Yes),
        }
    }

    fn accepts(of: &Type) -> bool {
        matches!(*of, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

/// An error of PostgreSQL says the kind and leaves the rest to its source.
fn failed(error: postgres::Error) -> Error {
    match error.source() {
        Some(source) => super::failed(format_args!("{error}: {source}")),
        None => super::failed(error),
    }
}
