//! Tests of the store, each on SQLite and on PostgreSQL.

mod audited;
mod backup;
mod crash;
mod lost_answer;
mod many;
mod operations;
mod salvage;
mod salvage_crash;
mod server;
mod tampering;
mod tls;

use std::sync::Arc;

use super::database::{Access, Database, Value};
use super::*;
use crate::attribute::{Template, cka, cko};
use crate::{Code, Result};
use server::Server;

/// Runs each of a module's functions, which take a [`Place`], on both databases.
macro_rules! on_each_database {
    ($($name:ident,)*) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::$name(&super::Place::sqlite()); })*
        }
        mod on_postgresql {
            $(#[test] fn $name() { super::$name(&super::Place::postgresql()); })*
        }
    };
}
pub(crate) use on_each_database;

/// A test's own database, without a keystore at first.
pub(crate) enum Place {
    Sqlite(tempfile::TempDir),
    Postgresql(Arc<Server>, String),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgresql() -> Self {
        let server = Server::shared();
        let database = server.new_database();
        Self::Postgresql(server, database)
    }

    /// A PostgreSQL server for this test alone, which it may stop.
    pub(crate) fn own_postgresql() -> Self {
        let server = Arc::new(Server::start());
        let database = server.new_database();
        Self::Postgresql(server, database)
    }

    /// Stops all processes of the server, as if the network were cut, or continues them.
    pub(crate) fn cut_off(&self, cut: bool) {
        match self {
            Self::Sqlite(_) => panic!("it has no server"),
            Self::Postgresql(server, _) => server.cut_off(cut),
        }
    }

    /// Returns another one of the same kind.
    fn another(&self) -> Self {
        match self {
            Self::Sqlite(_) => Self::sqlite(),
            Self::Postgresql(..) => Self::postgresql(),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(directory) => {
                format!("sqlite:{}", directory.path().join("keystore").display())
            }
            Self::Postgresql(server, database) => server.url(database),
        }
    }

    pub(crate) fn create(&self) -> Store {
        Store::create_with_cost(&self.url(), &passphrase(), Cost::LOWEST).unwrap()
    }

    /// Opens the keystore as another daemon.
    pub(crate) fn open(&self) -> Store {
        let store = Store::open(&self.url()).unwrap();
        store.unlock(&passphrase()).unwrap();
        store
    }

    /// Renames a table away while `act` runs, to make writes fail as on a full disk.
    pub(crate) fn without<T>(&self, table: &str, act: impl FnOnce() -> T) -> T {
        let run = |statement: String| {
            let database = Database::new(&self.url()).unwrap();
            let mut transaction = database.begin(Access::Write).unwrap();
            transaction.run(&statement).unwrap();
            transaction.commit().unwrap();
        };
        run(format!("ALTER TABLE {table} RENAME TO taken"));
        let value = act();
        run(format!("ALTER TABLE taken RENAME TO {table}"));
        value
    }
}

/// Single changes, without audit lines.
impl Store {
    fn insert(&self, attributes: &Template, secret: Option<&[u8]>) -> Result<Record> {
        self.write(|write| write.insert((attributes, secret)))
    }

    fn insert_pair(&self, first: New<'_>, second: New<'_>) -> Result<(Record, Record)> {
        self.write(|write| Ok((write.insert(first)?, write.insert(second)?)))
    }

    fn update(&self, id: u64, version: u64, attributes: &Template) -> Result<Record> {
        self.write(|write| write.update(id, version, attributes))
    }

    fn delete(&self, id: u64) -> Result<()> {
        self.write(|write| write.delete(id))
    }

    fn clear(&self) -> Result<()> {
        self.write(|write: &mut Write<'_>| write.clear())
    }

    fn set_setting(&self, name: &str, value: &[u8]) -> Result<()> {
        self.write(|write| write.set_setting(name, value))
    }
}

fn passphrase() -> Unlocking {
    Unlocking::passphrase(b"correct horse")
}

/// Returns attributes of a private key with a label.
fn labelled(label: &str) -> Template {
    let mut attributes = Template::new();
    attributes.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
    attributes.set_bool(cka::SENSITIVE, true);
    attributes.set(cka::LABEL, label);
    attributes
}

fn labels(records: &[Record]) -> Vec<String> {
    let label = |record: &Record| record.attributes.get(cka::LABEL).unwrap().to_vec();
    records.iter().map(|record| String::from_utf8(label(record)).unwrap()).collect()
}
