//! A prepared call, ours or a peer's, as an operation to measure.

use std::cell::RefCell;

use crate::Failure;
use crate::measure::{Operation, heap};
use crate::peers::Call;
pub use crate::peers::ResultCheck;

/// A call with its input and a buffer for its output.
pub struct Prepared {
    call: RefCell<Call>,
    data: Vec<u8>,
    result: Vec<u8>,
    /// The number of result bytes that the last run wrote.
    length: usize,
    check: ResultCheck,
    heap_held: Option<u64>,
}

impl Prepared {
    /// Prepares a peer's call and counts its memory. With `warm`, the work of the first call counts
    /// as preparation.
    ///
    /// # Errors
    /// If the peer cannot prepare the call.
    pub fn of_peer(
        data: &[u8],
        room: usize,
        check: ResultCheck,
        warm: bool,
        prepare: impl Fn() -> Result<Call, Failure>,
    ) -> Result<Self, Failure> {
        let mut result = vec![0; room];
        let mut make_ready = || -> Result<_, Failure> {
            let mut call = prepare()?;
            if warm {
                // Failures show up when it is run again.
                let _ = call(data, &mut result);
            }
            Ok(call)
        };
        // One-time setup of a library is not part of the memory held by one key.
        drop(make_ready()?);
        let (call, heap) = heap::measure(make_ready);
        let heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
        let (call, data) = (RefCell::new(call?), data.to_vec());
        Ok(Self { call, data, result, length: 0, check, heap_held })
    }

    /// Wraps a call of this library, which uses only its caller's memory.
    pub fn ours(data: &[u8], room: usize, check: ResultCheck, call: Call) -> Self {
        let heap_held = heap::measure(|| ()).1.map(|_| 0);
        let (call, data) = (RefCell::new(call), data.to_vec());
        Self { call, data, result: vec![0; room], length: 0, check, heap_held }
    }
}

impl Operation for Prepared {
    fn run(&mut self) -> Result<(), &'static str> {
        self.length = self.call.get_mut()(&self.data, &mut self.result)?;
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        (self.check)(&mut self.call.borrow_mut(), &self.result[..self.length])
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// A call that is prepared again for each run.
pub(super) struct FirstUse<P> {
    prepared: Prepared,
    prepare: P,
}

impl<P: Fn() -> Result<Call, Failure>> FirstUse<P> {
    pub(super) fn of_peer(
        data: &[u8],
        room: usize,
        check: ResultCheck,
        prepare: P,
    ) -> Result<Self, Failure> {
        Ok(Self { prepared: Prepared::of_peer(data, room, check, false, &prepare)?, prepare })
    }
}

impl<P: Fn() -> Result<Call, Failure>> Operation for FirstUse<P> {
    fn run(&mut self) -> Result<(), &'static str> {
        self.prepared.run()
    }

    fn renew(&mut self) -> Result<bool, &'static str> {
        *self.prepared.call.get_mut() = (self.prepare)().map_err(|_| "preparation failed")?;
        Ok(true)
    }

    fn output(&self) -> Vec<u64> {
        self.prepared.output()
    }

    fn heap_held(&self) -> Option<u64> {
        self.prepared.heap_held
    }
}
