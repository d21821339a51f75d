//! `cycloid bench --instructions`: what is measured is run once more, under callgrind.

use std::thread;
use std::time::Duration;

use cycloid::cpu::{self, Level};
use cycloid_lab::record::Report;
use cycloid_lab::{Failure, count, interrupt};

use crate::bench;
use crate::child;
use crate::hsm::bench::program;
use crate::output::Stop;

/// Single rows that take too long are left out; this is for all of them, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

/// The flag, without its hyphens, that has such a process count, behind its own arguments.
pub(crate) const FLAG: &str = "count-at";

/// What a process under callgrind is called, and what may be wrong with it.
const CALLED: [&str; 2] =
    ["the program under valgrind", "leave out peers with --peers, or report it"];

/// Counts the instructions of every row, at each level side by side, and puts them into the record.
pub(crate) fn add(report: &mut Report) -> Result<(), Stop> {
    let levels = count::LEVELS.into_iter().filter(|level| *level <= cpu::level());
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
            format!("there is no directory for what callgrind writes: {error}"),
            "TMPDIR names a place for it",
        ))
    })?;
    let mut command = count::command(&program()?, directory.path());
    // The arguments say what is measured; the level is not for that process to choose.
    command.args(child::arguments()).arg(format!("--{FLAG}")).arg(level.name());
    command.env_remove(bench::VARIABLE);
    let rows = child::run(&mut command, PATIENCE, CALLED)?;
    count::read(directory.path(), rows).map_err(Stop::Failed)
}
