//! A directory with configurations, and programs that run in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Returns the module's path: next to the tests, or one folder higher.
pub fn module() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let name = "libcycloid_openssl.so";
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the module is built with its tests")
}

/// Returns OpenSSL's program. `CYCLOID_OPENSSL_PROGRAM` names another version's, which finds its
/// own libraries by `LD_LIBRARY_PATH`.
pub fn openssl() -> String {
    std::env::var("CYCLOID_OPENSSL_PROGRAM").unwrap_or_else(|_| "openssl".into())
}

/// Whose keys and operations a program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    Cycloid,
    Stock,
}

pub const BOTH: [With; 2] = [With::Cycloid, With::Stock];

/// A directory with a configuration for Cycloid, one without, and a log.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self::with_settings("")
    }

    /// Adds lines to the section of the provider.
    pub fn with_settings(settings: &str) -> Self {
        let place = Self(tempfile::tempdir().expect("a directory can be made"));
        let (module, log) = (module(), place.path("log"));
        let (module, log) = (module.display(), log.display());
        place.write(
            "cycloid.cnf",
            &format!(
                "openssl_conf = init\n[init]\nproviders = list\n[list]\ncycloid = cycloid_sect\n\
                 default = default_sect\n[default_sect]\nactivate = 1\n[cycloid_sect]\nmodule = {module}\n\
                 activate = 1\nlog = {log}\n{settings}\n[req]\ndistinguished_name = name\n[name]\n"
            ),
        );
        place.write("stock.cnf", "[req]\ndistinguished_name = name\n[name]\n");
        place.write("log", "");
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: &str) {
        std::fs::write(self.path(name), contents).expect("the file is written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("the file is there")
    }

    /// Returns a program that runs in the directory with a configuration.
    pub fn program(&self, name: &str, with: With) -> Command {
        let mut command = Command::new(name);
        let configuration = match with {
            With::Cycloid => "cycloid.cnf",
            With::Stock => "stock.cnf",
        };
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.env("OPENSSL_CONF", self.path(configuration));
        command
    }

    /// Runs OpenSSL with arguments separated by spaces.
    pub fn run(&self, with: With, arguments: &str) -> Output {
        let mut command = self.program(&openssl(), with);
        command.args(arguments.split_whitespace());
        command.output().expect("`openssl` runs: it is in Debian's package openssl")
    }

    /// Runs OpenSSL and returns what it prints.
    pub fn ok(&self, with: With, arguments: &str) -> String {
        let output = self.run(with, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments} ({with:?}): {said}");
        String::from_utf8_lossy(&output.stdout).into()
    }

    /// Runs OpenSSL, which must fail without dying, and returns its errors.
    pub fn fails(&self, with: With, arguments: &str) -> String {
        let output = self.run(with, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "openssl {arguments} ({with:?}): {said}");
        said.into()
    }

    /// Returns the number of log lines with that text, and empties the log.
    pub fn logged(&self, line: &str) -> usize {
        let log = String::from_utf8(self.read("log")).expect("the log is text");
        self.write("log", "");
        log.lines().filter(|it| *it == line).count()
    }

    /// Starts OpenSSL as a server on a free port, and returns it with the port.
    pub fn server(&self, with: With, arguments: &str) -> Server {
        let port = free_port();
        let mut command = self.program(&openssl(), with);
        command.args(["s_server", "-accept", &format!("127.0.0.1:{port}")]);
        command.args(arguments.split_whitespace());
        let mut server = Server::start(command);
        wait_for_port(port);
        server.port = port;
        server
    }
}

/// A running server; killed when dropped.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    pub fn start(mut command: Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, port: 0 }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that nobody listens on.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}

/// Waits until a server accepts connections.
pub fn wait_for_port(port: u16) {
    let end = std::time::Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(std::time::Instant::now() < end, "nothing listens on port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Changes one byte of a file, counted from the end.
pub fn spoil(path: &Path, from_end: usize) {
    let mut contents = std::fs::read(path).expect("the file is there");
    let place = contents.len() - 1 - from_end;
    contents[place] ^= 1;
    std::fs::write(path, contents).expect("the file is written");
}
