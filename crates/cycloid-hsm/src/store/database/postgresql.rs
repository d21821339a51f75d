//! PostgreSQL: for several daemons on one database.
//!
//! The server is trusted only for availability, and for the common count of uses that a rate limit
//! needs (`store/uses_per_second.rs`): everything secret is sealed before it goes there,
//! and everything that comes back is verified. TLS hides the amount of data from others, and
//! prevents them from impersonating the server. A URL with authorities, in PEM
//! (`sslrootcert=FILE`), always enforces TLS, and the server's certificate must name its host,
//! under any of `require`, `verify-ca` and `verify-full`. A URL that demands TLS must name
//! authorities.

use std::collections::HashMap;
use std::error::Error as _;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::{self, Access, Connection, Field, PATIENCE, Row, Value, Watch};
use crate::rpc::tls;
use crate::{Code, Error, Result};

/// The name of this program's connections at the server.
const APPLICATION: &str = "cycloid-hsm";

/// A server's address and TLS settings.
#[derive(Clone)]
pub(super) struct Place {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

/// Parses a URL.
pub(super) fn place(url: &str) -> Result<Box<Place>> {
    let wrong = |why: String| {
        // The message omits the URL, which may contain a password.
        Code::ARGUMENTS_BAD.because(format!("the URL of the database is malformed: {why}"))
    };
    let (start, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut authorities, mut kept) = (None, String::new());
    for option in query.split('&').filter(|option| !option.is_empty()) {
        kept.push(if kept.is_empty() { '?' } else { '&' });
        match option.split_once('=') {
            Some(("sslrootcert", file)) => {
                let file = percent_decoded(file).ok_or_else(|| wrong("sslrootcert".into()))?;
                authorities = Some(tls::authorities(&file)?);
                kept.pop();
            }
            // The `postgres` crate does not know these modes; `require` does the same here.
            Some(("sslmode", "verify-ca" | "verify-full")) => kept.push_str("sslmode=require"),
            _ => kept.push_str(option),
        }
    }
    let mut config =
        format!("{start}{kept}").parse::<Config>().map_err(|error| wrong(error.to_string()))?;
    if authorities.is_some() {
        config.ssl_mode(SslMode::Require);
    } else if config.get_ssl_mode() == SslMode::Require {
        return Err(Code::ARGUMENTS_BAD.because(
            "TLS to PostgreSQL needs sslrootcert=FILE, with the authorities that sign the server's certificate",
        ));
    }
    let tls = authorities.map(tls::client).transpose()?.map(MakeRustlsConnect::new);
    config.application_name(APPLICATION);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(PATIENCE);
    }
    Ok(Box::new(Place { config, tls }))
}

impl Place {
    /// Returns the database's name, if the URL has one.
    pub(super) fn database(&self) -> Option<&str> {
        self.config.get_dbname()
    }
}

fn percent_decoded(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(OsString::from_vec(bytes).into())
}

pub(super) struct Postgresql {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

/// Connects to the server.
pub(super) fn open(place: &Place) -> Result<Box<dyn Connection>> {
    Ok(Box::new(Postgresql::open(place)?))
}

impl Postgresql {
    fn open(place: &Place) -> Result<Self> {
        let mut client = match &place.tls {
            Some(tls) => place.config.connect(tls.clone()),
            None => place.config.connect(NoTls),
        }
        .map_err(failed)?;
        // Set regardless of the server's configuration: acknowledged writes are durable, and a
        // daemon on a crashed machine does not block the others.
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

    fn has_others(&mut self) -> Result<bool> {
        // Every role may read these columns.
        let query = "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = $1 \
            AND datname = current_database() AND pid <> pg_backend_pid()";
        let row = self.client.query_one(query, &[&APPLICATION]);
        row.and_then(|row| row.try_get(0)).map_err(failed)
    }

    fn run(&mut self, statements: &str) -> Result<()> {
        self.client.batch_execute(statements).map_err(failed)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.run(match access {
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
            // Each statement after `lock` sees what the previous writer committed.
            Access::Write => "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE",
        })
    }

    fn lock(&mut self) -> Result<()> {
        self.run("SELECT one FROM keystore FOR UPDATE")
    }

    fn announce(&mut self) -> Result<()> {
        self.run("NOTIFY cycloid_hsm")
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

/// Waits for announcements on a connection of its own.
pub(super) fn watch(place: &Place) -> Result<Box<dyn Watch>> {
    let mut connection = Postgresql::open(place)?;
    connection.run("LISTEN cycloid_hsm")?;
    Ok(Box::new(connection))
}

impl Watch for Postgresql {
    fn wait(&mut self, timeout: Duration) -> Result<bool> {
        let mut notifications = self.client.notifications();
        let first = notifications.timeout_iter(timeout).next().map_err(failed)?;
        if first.is_some() {
            // One refresh serves all that came so far.
            let mut rest = notifications.iter();
            while rest.next().map_err(failed)?.is_some() {}
        }
        Ok(first.is_some())
    }
}

fn field(row: &postgres::Row, at: usize) -> Result<Field, postgres::Error> {
    let field = match *row.columns()[at].type_() {
        Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map(Field::Number),
        Type::TEXT => row.try_get::<_, Option<String>>(at)?.map(Field::Text),
        Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Field::Bytes),
        // The schema has no other types.
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
            Self::Real(_) | Self::Unreadable(_) => Err("only SQLite stores such a value".into()),
        }
    }

    fn accepts(of: &Type) -> bool {
        matches!(*of, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

/// PostgreSQL's error names only the kind; its source has the details.
fn failed(error: postgres::Error) -> Error {
    match error.source() {
        Some(source) => connection::failed(format_args!("{error}: {source}")),
        None => connection::failed(error),
    }
}
