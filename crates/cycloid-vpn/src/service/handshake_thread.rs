//! A thread that runs the steps of handshakes, so that a slow token delays nothing but the
//! handshakes themselves.
//!
//! Source: eventfd(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::proto::tls::Elsewhere;

type Step = Box<dyn FnOnce() + Send>;

/// The thread. It starts with the first step, since privileges can be dropped only by a process
/// with one thread. Its descriptor is readable once steps have ended.
#[derive(Debug)]
pub(super) struct Worker {
    bell: Arc<OwnedFd>,
    steps: Mutex<Option<Sender<Step>>>,
}

impl Worker {
    pub(super) fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { bell: Arc::new(bell), steps: Mutex::new(None) })
    }

    /// Returns whether steps have ended since the last call.
    pub(super) fn has_ended(&self) -> bool {
        rustix::io::read(&*self.bell, &mut [0; 8]).is_ok()
    }

    fn start(&self) -> io::Result<Sender<Step>> {
        let (sender, steps) = channel::<Step>();
        let bell = Arc::clone(&self.bell);
        std::thread::Builder::new().name("token".into()).spawn(move || {
            for step in steps {
                step();
                ring(&bell);
            }
        })?;
        Ok(sender)
    }
}

fn ring(bell: &OwnedFd) {
    // A full counter is readable, too.
    let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
}

impl Elsewhere for Worker {
    fn run(&self, step: Step) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.is_none() {
            *steps = self.start().ok();
        }
        // A step that cannot run is dropped, and its connection ends at once.
        if steps.as_ref().is_none_or(|steps| steps.send(step).is_err()) {
            *steps = None;
            ring(&self.bell);
        }
    }
}

impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn steps_run_in_turn_on_another_thread() {
        let worker = Worker::new().unwrap();
        assert!(!worker.has_ended());
        let (sender, ran) = channel();
        for number in 0..3 {
            let sender = sender.clone();
            worker.run(Box::new(move || {
                sender.send((number, std::thread::current().id())).unwrap();
            }));
        }
        for number in 0..3 {
            let (ran, thread) = ran.recv_timeout(Duration::from_secs(60)).unwrap();
            assert_eq!(ran, number);
            assert_ne!(thread, std::thread::current().id());
        }
        while !worker.has_ended() {
            std::thread::yield_now();
        }
    }
}
