//! Child processes: this program runs itself again, as a daemon or as clients.
//!
//! A child announces things on its standard output, one per line, after a mark that tells them from
//! the output of the test harness; the parent gives orders on its standard input.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

/// The environment variable that gives a child its role: a word, and then the word's arguments.
const ORDER: &str = "CYCLOID_CHAOS_ORDER";

/// Starts each announcement.
const MARK: &str = "@ ";

/// Returns the order of this process, if it is a child.
pub(crate) fn order() -> Option<String> {
    std::env::var(ORDER).ok()
}

/// Announces something to the parent.
pub(crate) fn announce(what: impl Display) {
    // One write, so that lines of several threads do not mix. If the parent is gone, so is this
    // process soon.
    let _ = std::io::stdout().lock().write_all(format!("\n{MARK}{what}\n").as_bytes());
}

/// Returns the nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// A child process. It is killed on drop.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<String>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a child that knows `addresses` as those of the daemons.
    pub(crate) fn start(order: &str, addresses: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", super::TEST])
            .env(ORDER, order)
            .env("CYCLOID_HSM_SOCKET", addresses)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (send, said) = channel();
        let listener = std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.for_each(|line| {
                if let Some(what) = line.strip_prefix(MARK) {
                    let _ = send.send(what.to_owned());
                }
            });
        });
        Self { child, input, said, listener: Some(listener) }
    }

    /// Returns what it has announced since the last call.
    pub(crate) fn news(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// Writes a line to its standard input. A process that has just ended does not read it.
    pub(crate) fn tell(&mut self, what: &str) {
        let _ = self.input.as_mut().unwrap().write_all(format!("{what}\n").as_bytes());
    }

    /// # Panics
    /// If it has ended by itself, which only a defect causes.
    pub(crate) fn must_run(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("a process ended by itself: {status}");
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it. It must not have ended by itself.
    pub(crate) fn kill(mut self) {
        self.must_run();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes its standard input, upon which it ends, and returns the rest of its announcements.
    pub(crate) fn end(mut self) -> Vec<String> {
        drop(self.input.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}, signal {:?}", status.signal());
        self.listener.take().unwrap().join().unwrap();
        self.news()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
