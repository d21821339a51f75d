//! `cycloid bench --instructions`: runs the measured rows once more, under callgrind.

use std::thread;
use std::time::Duration;

use cycloid::cpu::Level;
use cycloid_lab::record::Report;
use cycloid_lab::{Failure, count, interrupt, programs};

use crate::child;
use cycloid_command::{Stop, processor};

/// The time limit of a whole count, on a busy machine. Single rows that take too long are left out.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

/// The hidden flag, without its hyphens, that makes a child process count; it follows this run's
/// own arguments.
pub(crate) const FLAG: &str = "count-at";

/// The name of a process under callgrind, and the hint if it fails.
const CALLED: [&str; 2] =
    ["the program under valgrind", "leave out peers with --peers, or report it"];

/// Counts the instructions of every row, at all levels in parallel, and adds them to the record.
pub(crate) fn add(report: &mut Report) -> Result<(), Stop> {
    let levels = count::LEVELS.into_iter().filter(|level| level.is_available());
    let counted: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = levels.map(|level| (level, scope.spawn(move || at(level)))).collect();
        let ended = |(level, thread): (_, thread::ScopedJoinHandle<'_, _>)| {
            (level, thread.join().expect("counting does not panic"))
        };
        started.into_iter().map(ended).collect()
    });
    for (level, counted) in counted {
        match counted {
            Ok(counted) => count::add(report, level, &counted),
            Err(_) if interrupt::requested() => {
                report.unfinished.push(format!("instructions: {}", level.name()));
            }
            Err(stop) => return Err(stop),
        }
    }
    Ok(())
}

type Counted = Vec<(count::Row, Option<cycloid_lab::record::Count>)>;

fn at(level: Level) -> Result<Counted, Stop> {
    let directory = tempfile::tempdir().map_err(|error| {
        Stop::Failed(Failure::new(
            format!("cannot create a directory for callgrind's output: {error}"),
            "set TMPDIR to a writable directory",
        ))
    })?;
    let own = programs::own().map_err(Stop::Failed)?;
    let mut command = count::command(&own, directory.path());
    // The arguments select the rows; the level comes from the flag alone.
    command.args(child::arguments()).arg(format!("--{FLAG}")).arg(level.name());
    command.env_remove(processor::VARIABLE);
    let rows = child::run(&mut command, PATIENCE, CALLED)?;
    count::read(directory.path(), rows).map_err(Stop::Failed)
}
