//! `cycloid-vpn crowd`: connects many clients to one server, for a benchmark.

use std::io;
use std::time::Instant;

use cycloid_command::{Stop, output};
use cycloid_vpn::config;

use crate::arguments::Crowd;
use crate::run::wrong;

/// Connects the clients, prints the seconds taken as JSON, and stays until standard input ends.
pub(super) fn run(arguments: &Crowd) -> Result<(), Stop> {
    let (config, _) = config::read_client(&arguments.file).map_err(|error| wrong(&error.into()))?;
    let mut crowd = cycloid_vpn::bench::Crowd::new(&config).map_err(|failure| wrong(&failure))?;
    let begin = Instant::now();
    crowd.connect(arguments.count, arguments.at_once).map_err(|failure| {
        Stop::failed(failure.to_string(), "see the server's log for the reason")
    })?;
    output::print(&format!("{{\"seconds\":{}}}\n", begin.elapsed().as_secs_f64()))?;
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Ok(())
}
