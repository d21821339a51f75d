//! `cycloid vpn bench`, and the helper processes that it starts: one keeps network namespaces and
//! keys, the others are crowds of clients.

use std::io;
use std::process::{Command, Stdio};
use std::time::Instant;

use cycloid_lab::suite::vpn::{Gathered, Part, ThrowAway, Vpn};
use cycloid_vpn::config;

use super::arguments::{Bench, Crowd};
use super::failed;
use super::run::wrong;
use crate::arguments::VpnSuite;
use crate::bench;
use crate::hsm::bench::program;
use crate::output::{self, Stop};
use crate::temporary::{Directory, Starter};

/// Runs `bench`, an alias of `cycloid bench vpn`.
pub(super) fn run(arguments: &Bench) -> Result<(), Stop> {
    bench::measure(&arguments.common, |_| Ok(vec![Box::new(suite(&arguments.suite)?)]), |_| Ok(()))
}

/// Returns the suite for these arguments. Prints a note about what cannot be measured here.
pub(crate) fn suite(arguments: &VpnSuite) -> Result<Vpn, Stop> {
    let parts = Vpn::parts_from_list(&arguments.part).map_err(Stop::Usage)?;
    let mut suite = usual(parts)?;
    suite.rounds = arguments.rounds.map(|rounds| rounds as usize);
    suite.seconds = arguments.seconds;
    Ok(suite)
}

/// Returns the suite for these parts, with the defaults of the effort level.
pub(crate) fn usual(parts: Vec<Part>) -> Result<Vpn, Stop> {
    let suite = Vpn::new(&program()?, parts);
    if let Some(failure) = suite.left_out() {
        eprintln!("note: skipping tunnels: {failure}\nhint: {}", failure.hint);
    }
    Ok(suite)
}

/// Runs `throw-away`: keeps namespaces and keys until standard input ends, then removes both.
pub(super) fn throw_away() -> Result<(), Stop> {
    let starter = Starter::watch()?;
    let directory = Directory::new()?;
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
        let mut command = Command::new(program()?);
        command.arg("vpn").args(line.split(' ')).current_dir(directory.path());
        finished(&mut command, "cannot create keys")?;
    }
    let place = ThrowAway { directory: directory.path().into(), namespaces: namespaces.0.clone() };
    output::print(&(serde_json::to_string(&place).expect("it is data") + "\n"))?;
    starter.wait();
    Ok(())
}

/// Runs `crowd`: connects clients, prints how long that took, and stays until standard input ends.
pub(super) fn crowd(arguments: &Crowd) -> Result<(), Stop> {
    let (config, _) = config::read_client(&arguments.file).map_err(|error| wrong(&error.into()))?;
    let mut crowd = cycloid_vpn::bench::Crowd::new(&config).map_err(|failure| wrong(&failure))?;
    let begin = Instant::now();
    crowd
        .connect(arguments.count, arguments.at_once)
        .map_err(|failure| failed(failure.to_string(), "see the server's log for the reason"))?;
    let gathered = Gathered { seconds: begin.elapsed().as_secs_f64() };
    output::print(&(serde_json::to_string(&gathered).expect("it is data") + "\n"))?;
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
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
        .map_err(|error| failed(format!("{what}: {error}"), hint))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let text = String::from_utf8_lossy(&output.stderr);
            Err(failed(format!("{what}: {}", text.trim()), hint))
        }
    }
}
