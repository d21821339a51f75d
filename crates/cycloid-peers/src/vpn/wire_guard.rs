//! Sets up a tunnel of wireguard-go, with keys and addresses configured by command.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use super::testbed::{Running, Testbed, failed};
use cycloid_lab::Failure;
use cycloid_lab::peers::wire_guard;

impl Testbed {
    /// Starts both ends: the server's and the client's.
    pub(super) fn wire_guard(&self, number: usize) -> Result<[Running; 2], Failure> {
        let program =
            wire_guard::program().ok_or_else(|| failed("wireguard-go is not installed"))?;
        let keys = [self.key(number, 0)?, self.key(number, 1)?];
        let end = |side: usize| {
            // Interfaces of all namespaces have their sockets in one directory.
            let name = format!("cyw{}{number}{side}", std::process::id());
            let mut command = self.command(side, &format!("{program} -f {name}"));
            let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
            let mut running = Running::start(quiet.env("LOG_LEVEL", "silent"))?;
            let socket = format!("/var/run/wireguard/{name}.sock");
            // `wg` removes a socket that exists but does not listen yet.
            running
                .wait_until(|_| UnixStream::connect(&socket).is_ok())?
                .ok_or_else(|| failed("wireguard-go did not come up"))?;
            let port = 1194 + number;
            let (own, peer) = (&keys[side].file, &keys[1 - side].public);
            let endpoint = match side {
                0 => String::new(),
                _ => format!(" endpoint 10.99.0.1:{port}"),
            };
            self.ran(
                side,
                &format!(
                    "wg set {name} private-key {own} listen-port {port} peer {peer} allowed-ips \
                     10.8.{number}.0/24{endpoint}"
                ),
            )?;
            self.ran(side, &format!("ip addr add 10.8.{number}.{}/24 dev {name}", side + 1))?;
            self.ran(side, &format!("ip link set {name} mtu 1420 up"))?;
            Ok(running)
        };
        let ends = [end(0)?, end(1)?];
        self.ran(1, &format!("ping -q -c 1 -w 60 10.8.{number}.1"))?;
        Ok(ends)
    }

    fn key(&self, number: usize, side: usize) -> Result<Key, Failure> {
        let private = self.ran(side, "wg genkey")?;
        let file = self.place.directory.join(format!("{number}-{side}.key"));
        fs::write(&file, private).map_err(|error| failed(&error.to_string()))?;
        let file = file.display().to_string();
        let read = fs::File::open(&file).map_err(|error| failed(&error.to_string()))?;
        let public = ended(Command::new("wg").arg("pubkey").stdin(read))?;
        Ok(Key { file, public })
    }

    /// Runs a program and returns its output; fails if the program fails.
    fn ran(&self, side: usize, line: &str) -> Result<String, Failure> {
        ended(&mut self.command(side, line))
    }
}

/// A key pair: the path of the private key, and the public key.
struct Key {
    file: String,
    public: String,
}

fn ended(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| failed(&error.to_string()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(failed(String::from_utf8_lossy(&output.stderr).trim())),
    }
}
