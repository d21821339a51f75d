//! Two daemons on one database, and a program that knows both.

use std::path::PathBuf;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cycloid_hsm::daemon::{Server, Settings, create};
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::{Store, Unlocking};

use super::{LABEL, OFFICER_PIN, USER_PIN, module};

/// The database, whose token has PINs and no objects, and the daemons' sockets.
pub struct TwoDaemons {
    url: String,
    pub sockets: [PathBuf; 2],
    _directory: tempfile::TempDir,
}

impl TwoDaemons {
    /// Makes the database. No daemon runs yet.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("keys.db").display());
        let (officer, user) = (OFFICER_PIN.as_bytes(), USER_PIN.as_bytes());
        create(&url, &unlocking(), LABEL, officer, user).unwrap();
        let sockets = ["one", "two"].map(|name| directory.path().join(name));
        Self { url, sockets, _directory: directory }
    }

    /// Starts a daemon.
    pub fn start(&self, number: usize) -> Server {
        let store = Store::open(&self.url).unwrap();
        store.unlock(&unlocking()).unwrap();
        let socket = self.sockets[number].clone();
        Server::start(store, Settings { socket, ..Settings::default() }).unwrap()
    }

    /// Loads the module, which knows both sockets. A process can do this once, and no other thread
    /// may access the environment meanwhile.
    pub fn program(&self) -> Pkcs11 {
        let list = format!("{},{}", self.sockets[0].display(), self.sockets[1].display());
        // SAFETY: as documented.
        unsafe { std::env::set_var("CYCLOID_HSM_SOCKET", list) };
        let program = Pkcs11::new(module()).unwrap();
        program.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
        program
    }
}

fn unlocking() -> Unlocking {
    Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }
}
