//! The connection to PostgreSQL is lost between the commit of a new keystore and its answer.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

/// The name of PostgreSQL's socket, which contains the port.
const SOCKET: &str = ".s.PGSQL.5432";

#[test]
fn a_keystore_whose_commit_was_not_answered_is_opened() {
    let (server, relayed) = (Server::shared(), tempfile::tempdir().unwrap());
    let database = server.new_database();
    relay(relayed.path(), server.directory(), true);
    let store = create(&url(relayed.path(), &database)).unwrap();
    assert_eq!(store.setting("label").unwrap().unwrap(), b"a token");
    store.insert(&labelled("first"), None).unwrap();
    assert_eq!(labels(&store.load().unwrap().1), ["first"]);
}

#[test]
fn a_keystore_that_may_exist_is_reported() {
    let (server, relayed) = (Server::shared(), tempfile::tempdir().unwrap());
    let database = server.new_database();
    relay(relayed.path(), server.directory(), false);
    let error = create(&url(relayed.path(), &database)).unwrap_err();
    assert_eq!(error.code, Code::GENERAL_ERROR);
    assert!(error.detail.contains("may have the keystore"), "{error}");
    let store = Store::open(&server.url(&database)).unwrap();
    store.unlock(&passphrase()).unwrap();
    assert_eq!(store.setting("label").unwrap().unwrap(), b"a token");
}

fn create(url: &str) -> Result<Store> {
    Store::create_filled(url, &passphrase(), Cost::LOWEST, |write| {
        write.set_setting("label", b"a token")
    })
}

fn url(directory: &Path, database: &str) -> String {
    let host = directory.to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{host}:5432/{database}")
}

/// Relays connections to the server's socket, and closes the first one that commits when the
/// answer comes; after that, it relays further ones or refuses them.
fn relay(from: &Path, to: &Path, again: bool) {
    let listener = UnixListener::bind(from.join(SOCKET)).unwrap();
    let to = to.join(SOCKET);
    let lost = Arc::new(AtomicBool::new(false));
    thread::spawn(move || {
        for client in listener.incoming() {
            if lost.load(Ordering::SeqCst) && !again {
                return;
            }
            let (client, server) = (client.unwrap(), UnixStream::connect(&to).unwrap());
            let (back, answers) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let ends = Arc::new(AtomicBool::new(false));
            let (lost, ending) = (Arc::clone(&lost), Arc::clone(&ends));
            // The client waits for each answer, so the next one after the commit is that to it.
            thread::spawn(move || {
                copy(client, server, |bytes| {
                    // Zero ends the statement, unlike `READ COMMITTED`.
                    if bytes.windows(7).any(|word| word == b"COMMIT\0")
                        && !lost.swap(true, Ordering::SeqCst)
                    {
                        ending.store(true, Ordering::SeqCst);
                    }
                    true
                });
            });
            thread::spawn(move || copy(answers, back, |_| !ends.load(Ordering::SeqCst)));
        }
    });
}

/// Copies bytes while `goes_on` says so, and closes both ends.
fn copy(mut from: UnixStream, mut to: UnixStream, mut goes_on: impl FnMut(&[u8]) -> bool) {
    let mut bytes = [0; 1 << 14];
    while let Ok(count) = from.read(&mut bytes)
        && count > 0
        && goes_on(&bytes[..count])
        && to.write_all(&bytes[..count]).is_ok()
    {}
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
