//! Tests of the store, each on SQLite and on PostgreSQL.

mod backup;
mod crash;
mod many;
mod operations;
mod server;
mod tampering;
mod tls;

use super::*;
use crate::attribute::{cka, cko};
use server::Server;

/// Runs each of the functions of a module, which take a [`Place`], on both databases.
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
use on_each_database;

/// A database of a test's own, without a keystore.
enum Place {
    Sqlite(tempfile::TempDir),
    Postgresql(Arc<Server>, String),
}

impl Place {
    fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    fn postgresql() -> Self {
        let server = Server::shared();
        let database = server.new_database();
        Self::Postgresql(server, database)
    }

    fn url(&self) -> String {
        match self {
            Self::Sqlite(directory) => {
                format!("sqlite:{}", directory.path().join("keystore").display())
            }
            Self::Postgresql(server, database) => server.url(database),
        }
    }

    fn create(&self) -> Store {
        Store::create_with_cost(&self.url(), &passphrase(), Cost::LOWEST).unwrap()
    }

    /// Another daemon.
    fn open(&self) -> Store {
        let store = Store::open(&self.url()).unwrap();
        store.unlock(&passphrase()).unwrap();
        store
    }
}

fn passphrase() -> Unlocking {
    Unlocking::passphrase(b"correct horse")
}

/// Attributes of a private key with a label.
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
