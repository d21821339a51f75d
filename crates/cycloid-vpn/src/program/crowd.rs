//! `cycloid-vpn crowd`: connects many clients to one server, for a benchmark.

use std::io;
use std::time::{Duration, Instant};

use cycloid_command::{Stop, output};
use cycloid_vpn::config;
use cycloid_vpn::service::Failure;

use crate::arguments::Crowd;
use crate::run::wrong;

/// Connects the clients, and has them exchange packets if asked to. Prints the seconds taken to
/// connect and the numbers of answers as JSON, and stays until standard input ends.
pub(super) fn run(arguments: &Crowd) -> Result<(), Stop> {
    let (config, _) = config::read_client(&arguments.file).map_err(|error| wrong(&error.into()))?;
    let mut crowd = cycloid_vpn::bench::Crowd::new(&config).map_err(|failure| wrong(&failure))?;
    let begin = Instant::now();
    let stop =
        |failure: Failure| Stop::failed(failure.to_string(), "see the server's log for the reason");
    crowd.connect(arguments.count, arguments.at_once).map_err(stop)?;
    let seconds = begin.elapsed().as_secs_f64();
    let time = Duration::from_secs(arguments.exchange.unwrap_or(0).into());
    let answers = if time.is_zero() { Vec::new() } else { crowd.exchange(time).map_err(stop)? };
    output::print(&format!("{{\"seconds\":{seconds},\"answers\":{answers:?}}}\n"))?;
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Ok(())
}
