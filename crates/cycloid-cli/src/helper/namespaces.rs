//! Two temporary network namespaces, connected by a virtual cable, and keys for both ends.

use std::process::{Command, Stdio};

use cycloid_command::{Stop, output};
use cycloid_lab::programs;
use cycloid_lab::suite::vpn::Namespaces as Place;

use super::temporary::{Directory, Starter};

/// Keeps namespaces and keys until standard input ends, then removes both.
pub(super) fn run() -> Result<(), Stop> {
    let starter = Starter::watch()?;
    let directory = Directory::new()?;
    let program = programs::find(programs::VPN).map_err(Stop::Failed)?;
    let name = |side| format!("cycloid-bench-{}-{side}", std::process::id());
    let namespaces = Namespaces([name("s"), name("c")]);
    let [server, client] = &namespaces.0;
    for name in &namespaces.0 {
        ip(&format!("netns add {name}"))?;
        ip(&format!("-n {name} link set lo up"))?;
    }
    ip(&format!("link add veth netns {server} type veth peer name veth netns {client}"))?;
    for (name, address) in [(server, "10.99.0.1"), (client, "10.99.0.2")] {
        ip(&format!("-n {name} addr add {address}/24 dev veth"))?;
        ip(&format!("-n {name} link set veth up"))?;
    }
    for line in ["pki init", "pki server gate --host 10.99.0.1", "pki client alice"] {
        let mut command = Command::new(&program);
        command.args(line.split(' ')).current_dir(directory.path());
        finished(&mut command, "cannot create keys")?;
    }
    let place = Place { directory: directory.path().into(), namespaces: namespaces.0.clone() };
    output::print(&(serde_json::to_string(&place).expect("it is data") + "\n"))?;
    starter.wait();
    Ok(())
}

/// Two network namespaces. Drop kills the processes in them and deletes them.
struct Namespaces([String; 2]);

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let said = Command::new("ip").args(["netns", "pids", name]).output();
            let text = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
            for process in text.unwrap_or_default().split_whitespace() {
                let _ = Command::new("kill").args(["-KILL", process]).output();
            }
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

fn ip(line: &str) -> Result<(), Stop> {
    finished(Command::new("ip").args(line.split_whitespace()), "cannot create network namespaces")
}

fn finished(command: &mut Command, what: &str) -> Result<(), Stop> {
    let hint = "run as root, with iproute2 installed";
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Stop::failed(format!("{what}: {error}"), hint))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(Stop::failed(format!("{what}: {}", text.trim()), hint))
        }
    }
}
