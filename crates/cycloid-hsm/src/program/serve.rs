//! `cycloid-hsm serve`, and the creation of files that only their owner can read.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use cycloid_command::{Stop, output};
use cycloid_hsm::daemon::{
    Memory, Server, Settings, Tls, forbid_dumps, lock_memory, raise_file_limit,
};
use cycloid_hsm::rpc::default_socket;
use cycloid_hsm::store::{Store, Unlocking};
use cycloid_profiler::service::{answer_profile_requests, whole_run};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::{Hsm, Serve};
use crate::keystore::{database, key_file};
use crate::refusal::{UNLOCK, not_unlocked, refused};
use crate::secrets::read_key_file;

/// The title of the daemon's profiles.
const TITLE: &str = "cycloid-hsm serve";

/// The hint on how to let the daemon lock its memory.
const UNLIMITED: &str =
    "lift the limit: `ulimit -l unlimited` as root, or LimitMEMLOCK=infinity in the systemd unit";

/// Creates a directory that only its owner can enter, unless it exists.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a new file that only its owner can read; fails if it exists. If it cannot be written as a
/// whole, there is no file.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// Returns the TLS settings, if TLS is requested.
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
    Tls::new(*address, certificate, key, clients).map(Some).map_err(|error| {
        Stop::failed(error.to_string(), "give the certificates and the key as PEM files")
    })
}

/// The longest path of a socket: unix(7), `sun_path` without its final zero.
const LONGEST_SOCKET: usize = 107;

/// Checks that a socket can be made at the path, before the keystore is opened.
fn check_socket(socket: &Path) -> Result<(), Stop> {
    let text = socket.as_os_str().as_bytes();
    if text.starts_with(b"tls://") {
        return Err(Stop::usage(
            format!("the daemon's own socket is a file, not {}", socket.display()),
            "name a file with --socket; --listen-tls ADDRESS serves other machines",
        ));
    }
    if text.len() > LONGEST_SOCKET {
        return Err(Stop::usage(
            format!(
                "the socket's path has {} bytes, and at most {LONGEST_SOCKET} are possible",
                text.len()
            ),
            "name a shorter one with --socket",
        ));
    }
    if std::fs::symlink_metadata(socket).is_ok_and(|data| !data.file_type().is_socket()) {
        return Err(Stop::failed(
            format!("{} exists and is not a socket", socket.display()),
            "name another socket with --socket",
        ));
    }
    let directory = match socket.parent() {
        Some(directory) if directory.as_os_str().is_empty() => Path::new("."),
        Some(directory) => directory,
        None => Path::new("/"),
    };
    if directory.is_dir() {
        return Ok(());
    }
    let hint = match std::env::var_os("XDG_RUNTIME_DIR") {
        None => {
            "XDG_RUNTIME_DIR is not set: name a socket with --socket, or set RuntimeDirectory=cycloid-hsm in the systemd unit"
        }
        Some(_) => "create the directory, or name another socket with --socket",
    };
    let message = format!("no directory {} for the daemon's socket", directory.display());
    Err(Stop::failed(message, hint))
}

/// Serves the token until a signal arrives.
pub(super) fn run(hsm: &Hsm, arguments: &Serve) -> Result<(), Stop> {
    answer_profile_requests(TITLE);
    whole_run(TITLE, || serve(hsm, arguments))
}

fn serve(hsm: &Hsm, arguments: &Serve) -> Result<(), Stop> {
    // Core dumps and other processes of the same user must not reveal keys.
    forbid_dumps().map_err(|error| {
        Stop::failed(format!("cannot forbid core dumps: {error}"), "see prctl(2)")
    })?;
    // Memory is locked before it holds a key: pages already swapped out stay on the disk.
    let memory = lock_memory();
    if memory != Memory::Locked {
        eprintln!("warning: memory is {memory}\nhint: {UNLIMITED}");
    }
    raise_file_limit();
    let tls = tls(arguments)?;
    let socket = hsm.socket.clone().unwrap_or_else(default_socket);
    check_socket(&socket)?;
    let store = Store::open(&database(hsm)?).map_err(|error| refused(&error))?;
    let key_path = key_file(hsm)?;
    if !arguments.locked && key_path.exists() {
        let key = read_key_file(&key_path)?;
        store
            .unlock(&Unlocking { passphrase: None, key_file: Some(key) })
            .map_err(|error| not_unlocked(&error, Some(&key_path)))?;
    }
    let locked = store.is_locked();
    // Signals are caught before the server starts, so that none is lost.
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| {
        Stop::failed(format!("cannot catch signals: {error}"), "see sigaction(2)")
    })?;
    let settings = Settings {
        socket: socket.clone(),
        tls,
        users: arguments.users.clone(),
        workers: arguments.workers.into(),
        stale_after: Duration::from_secs(arguments.stale_after.into()),
        prepared_keys: arguments.prepared_keys,
        memory,
        ..Settings::default()
    };
    let server = Server::start(store, settings).map_err(|error| {
        match error.downcast_ref::<cycloid_hsm::Error>() {
            Some(error) => refused(error),
            None if UnixStream::connect(&socket).is_ok() => Stop::failed(
                error.to_string(),
                "another daemon is running there; `cycloid-hsm status` shows its state",
            ),
            None => Stop::failed(
                error.to_string(),
                "choose another place with --socket or --listen-tls",
            ),
        }
    })?;
    output::print(&format!("listening at {}\n", socket.display()))?;
    if let Some(address) = server.tls_address() {
        output::print(&format!("listening at tls://{address}\n"))?;
    }
    if locked {
        eprintln!("the keystore is locked: {UNLOCK}");
    }
    notify_systemd("READY=1");
    let signal = signals.forever().next();
    notify_systemd("STOPPING=1");
    eprintln!("stopping ({})", if signal == Some(SIGINT) { "interrupted" } else { "terminated" });
    server.stop();
    Ok(())
}

/// Notifies the service manager, if there is one (sd_notify(3)).
fn notify_systemd(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    let Ok(path) = std::env::var("NOTIFY_SOCKET") else { return };
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    // Best effort: the manager notices a failed notification itself.
    if let (Ok(address), Ok(socket)) = (address, UnixDatagram::unbound()) {
        let _ = socket.send_to_addr(state.as_bytes(), &address);
    }
}
