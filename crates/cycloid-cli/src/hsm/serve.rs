//! `cycloid hsm serve`, and files that only the owner reads.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use cycloid_hsm::daemon::{Memory, Server, Settings, Tls, forbid_dumps, lock_memory};
use cycloid_hsm::rpc::default_socket;
use cycloid_hsm::store::{Store, Unlocking};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::arguments::{Hsm, Serve};
use super::{failed, key_file, read_key_file, refused};
use crate::output::{self, Stop};

/// What lets a daemon lock its memory.
const UNLIMITED: &str =
    "lift the limit: `ulimit -l unlimited` as root, or LimitMEMLOCK=infinity in a unit of systemd";

/// Makes a directory that only the owner enters, unless it is there.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only the owner reads, and that was not there before.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// How other machines are served, if they are.
fn tls(arguments: &Serve) -> Result<Option<Tls>, Stop> {
    let Serve {
        listen_tls: Some(address),
        certificate: Some(certificate),
        key: Some(key),
        client_ca: Some(clients),
        ..
    } = arguments
    else {
        return Ok(None);
    };
    Tls::new(*address, certificate, key, clients)
        .map(Some)
        .map_err(|error| failed(error.to_string(), "certificates and key are read as PEM files"))
}

pub(super) fn serve(hsm: &Hsm, arguments: &Serve) -> Result<(), Stop> {
    // Keys must not be in a core file, nor be read by another process of the same user.
    forbid_dumps()
        .map_err(|error| failed(format!("cannot forbid core dumps: {error}"), "see prctl(2)"))?;
    // Before there is a key: what is swapped out already stays so.
    let memory = lock_memory();
    if memory != Memory::Locked {
        eprintln!("warning: memory is {memory}\nhint: {UNLIMITED}");
    }
    let tls = tls(arguments)?;
    let store = Store::open(&super::database(hsm)?).map_err(|error| refused(&error))?;
    let key_path = key_file(hsm)?;
    if !arguments.locked && key_path.exists() {
        let key = read_key_file(&key_path)?;
        store
            .unlock(&Unlocking { passphrase: None, key_file: Some(key) })
            .map_err(|error| refused(&error))?;
    }
    let locked = store.is_locked();
    // Before anything is served, so that no signal is lost.
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| failed(format!("cannot catch signals: {error}"), "see sigaction(2)"))?;
    let settings = Settings {
        socket: hsm.socket.clone().unwrap_or_else(default_socket),
        tls,
        users: arguments.users.clone(),
        workers: arguments.workers,
        prepared_keys: arguments.prepared_keys,
        memory,
        ..Settings::default()
    };
    let socket = settings.socket.clone();
    let server = Server::start(store, settings).map_err(|error| {
        failed(error.to_string(), "another daemon may be running; `cycloid hsm status` tells")
    })?;
    output::print(&format!("listening at {}\n", socket.display()))?;
    if let Some(address) = server.tls_address() {
        output::print(&format!("listening at tls://{address}\n"))?;
    }
    if locked {
        eprintln!("the keystore is locked: open it with `cycloid hsm unlock`");
    }
    tell_systemd("READY=1");
    let signal = signals.forever().next();
    tell_systemd("STOPPING=1");
    eprintln!("stopping ({})", if signal == Some(SIGINT) { "interrupted" } else { "terminated" });
    server.stop();
    Ok(())
}

/// Tells a service manager, if there is one (sd_notify(3)).
fn tell_systemd(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    let Ok(path) = std::env::var("NOTIFY_SOCKET") else { return };
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    // A manager that cannot be told finds out by itself.
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}
