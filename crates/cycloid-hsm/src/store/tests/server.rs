//! A temporary PostgreSQL server for the tests, stopped with the last test that uses it.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};

pub(crate) struct Server {
    directory: tempfile::TempDir,
    settings: Vec<String>,
    process: Mutex<Child>,
    databases: AtomicU32,
}

impl Server {
    /// Returns the server that all concurrent tests share.
    pub(super) fn shared() -> Arc<Self> {
        static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Starts a server for one test.
    pub(super) fn start() -> Self {
        Self::start_with(|_| Vec::new())
    }

    /// Starts a server with more settings, which are computed once its directory exists.
    pub(super) fn start_with(settings: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // PostgreSQL refuses to run as root.
        if let Some((uid, gid)) = someone_else() {
            chown(directory.path(), Some(uid), Some(gid)).unwrap();
        }
        let made = command("initdb")
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D"])
            .arg(directory.path().join("data"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let settings = settings(&directory.path().join("data"));
        let process = Mutex::new(run(directory.path(), &settings));
        let server = Self { directory, settings, process, databases: AtomicU32::new(0) };
        drop(server.client());
        server
    }

    /// Kills the whole server at once, without a shutdown, and restarts it.
    pub(super) fn crash(&self) {
        let mut process = self.process.lock().unwrap();
        kill_process(Pid::from_child(&process), Signal::QUIT).unwrap();
        process.wait().unwrap();
        *process = run(self.directory.path(), &self.settings);
        drop(process);
        drop(self.client());
    }

    /// Stops the server's processes, or continues them.
    pub(super) fn cut_off(&self, cut: bool) {
        let signal = if cut { Signal::STOP } else { Signal::CONT };
        let first = Pid::from_child(&self.process.lock().unwrap());
        // The first process starts no more once it is stopped.
        kill_process(first, signal).unwrap();
        for entry in fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            let Ok(stat) = fs::read_to_string(path.join("stat")) else { continue };
            // After the name, which is in brackets: the state and the parent.
            let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(2));
            if parent.and_then(|parent| parent.parse().ok()) == Some(first.as_raw_nonzero().get()) {
                let process = path.file_name().and_then(|name| name.to_str()?.parse().ok());
                if let Some(process) = process.and_then(Pid::from_raw) {
                    let _ = kill_process(process, signal);
                }
            }
        }
    }

    pub(super) fn new_database(&self) -> String {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.client().batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        name
    }

    pub(super) fn url(&self, database: &str) -> String {
        let host = self.directory.path().to_str().unwrap().replace('/', "%2F");
        // The socket's name contains the port.
        let port = self.settings.iter().find_map(|setting| setting.strip_prefix("port="));
        format!("postgres://postgres@{host}:{}/{database}", port.unwrap_or("5432"))
    }

    /// Returns the directory with the server's socket.
    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn has_ended(&self) -> bool {
        self.process.lock().unwrap().try_wait().unwrap().is_some()
    }

    /// Connects as soon as the server accepts connections.
    fn client(&self) -> Client {
        let begun = Instant::now();
        loop {
            match Client::connect(&self.url("postgres"), NoTls) {
                Ok(client) => return client,
                Err(error) if self.has_ended() || begun.elapsed() > PATIENCE => {
                    let log = fs::read_to_string(self.directory.path().join("log"));
                    panic!("no PostgreSQL server: {error}\n{}", log.unwrap_or_default());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

/// A time limit for a server to start on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(600);

impl Drop for Server {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Starts the server's first process, whose children end with it.
fn run(directory: &Path, settings: &[String]) -> Child {
    let log = fs::File::create(directory.join("log")).unwrap();
    command("postgres")
        .args(["-c", "listen_addresses=", "-c", "max_connections=200", "-c", "autovacuum=off"])
        // fsync is not needed: only processes are killed, not the machine.
        .args(["-c", "fsync=off"])
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .arg("-k")
        .arg(directory)
        .arg("-D")
        .arg(directory.join("data"))
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Returns a command for a PostgreSQL program, which Debian does not put on the path.
fn command(name: &str) -> Command {
    let mut folders = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .collect::<Vec<PathBuf>>();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.map(|version| version.unwrap().path().join("bin")));
    }
    let program = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists());
    let mut command = Command::new(
        program.unwrap_or_else(|| panic!("{name} is missing: install the package postgresql")),
    );
    if let Some((uid, gid)) = someone_else() {
        command.uid(uid).gid(gid);
    }
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Returns the ids of the user `postgres`, if this process is root.
pub(super) fn someone_else() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let user = users.lines().find(|line| line.starts_with("postgres:"));
    let fields = user.expect("a user `postgres`").split(':').collect::<Vec<_>>();
    Some((fields[2].parse().unwrap(), fields[3].parse().unwrap()))
}
