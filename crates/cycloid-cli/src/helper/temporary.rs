//! A temporary directory, and a watch on the parent process that it belongs to.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, io};

use signal_hook::consts::{SIGINT, SIGTERM};

use cycloid_command::Stop;

/// How long to retry the removal of a directory that other processes still write into.
const PATIENCE: Duration = Duration::from_secs(120);

/// A watch on the parent process, which holds this process's standard input open.
pub(super) struct Starter(JoinHandle<()>);

impl Starter {
    /// Starts the watch. From then on SIGINT and SIGTERM do not end this process: Ctrl-C reaches
    /// the whole process group, and this process removes its temporary resources after the parent
    /// has exited.
    pub(super) fn watch() -> Result<Self, Stop> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone())
                .map_err(|error| cannot("catch signals", &error))?;
        }
        Ok(Self(thread::spawn(|| {
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        })))
    }

    /// # Errors
    /// The parent has exited.
    pub(super) fn is_there(&self) -> Result<(), Stop> {
        if self.0.is_finished() { Err(Stop::Shown) } else { Ok(()) }
    }

    /// Waits until the parent has exited.
    pub(super) fn wait(self) {
        let _ = self.0.join();
    }
}

/// A temporary directory, removed on drop even while another process writes into it.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new() -> Result<Self, Stop> {
        let directory = tempfile::TempDir::with_prefix("cycloid-bench-")
            .map_err(|error| cannot("make a directory", &error))?;
        Ok(Self(directory.keep()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let start = Instant::now();
        // `remove_dir_all` fails if a file appears after it has listed a directory.
        while let Err(error) = fs::remove_dir_all(&self.0)
            && self.0.exists()
        {
            if start.elapsed() > PATIENCE {
                eprintln!("note: cannot remove {}: {error}", self.0.display());
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A process that is killed on drop: what it works on is temporary, so an orderly end is not worth
/// its time.
pub(super) struct Killed(pub(super) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn cannot(what: &str, error: &io::Error) -> Stop {
    Stop::failed(format!("cannot {what}: {error}"), "the bench needs room for temporary files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_removed_while_another_thread_writes_into_it() {
        let directory = Directory::new().unwrap();
        let path = directory.path().to_owned();
        let deeper = path.join("deeper");
        let writer = thread::spawn({
            let (path, deeper) = (path.clone(), deeper.clone());
            move || {
                for number in 0..500 {
                    let _ = fs::create_dir(&deeper);
                    let _ = fs::write(deeper.join(number.to_string()), []);
                    if !path.exists() {
                        break;
                    }
                }
            }
        });
        while !deeper.exists() {
            thread::yield_now();
        }
        drop(directory);
        writer.join().unwrap();
        assert!(!path.exists());
    }
}
