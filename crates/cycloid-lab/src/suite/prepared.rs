//! A call that is ready, ours or a peer's, as an operation to be measured.

use std::cell::RefCell;

use crate::Failure;
use crate::measure::{Operation, heap};
use crate::peers::Call;
pub(super) use crate::peers::Judge;

/// A call with what it reads and room for what it writes.
pub(super) struct Prepared {
    call: RefCell<Call>,
    data: Vec<u8>,
    result: Vec<u8>,
    /// How much of the result the last run wrote.
    length: usize,
    judge: Judge,
    heap_held: Option<u64>,
}

impl Prepared {
    /// Of a peer, whose memory is counted. What it computes on its first call, where `warm`, is
    /// taken as preparation.
    pub(super) fn of_peer(
        data: &[u8],
        room: usize,
        judge: Judge,
        warm: bool,
        prepare: impl Fn() -> Result<Call, Failure>,
    ) -> Result<Self, Failure> {
        let mut result = vec![0; room];
        let mut make_ready = || -> Result<_, Failure> {
            let mut call = prepare()?;
            if warm {
                // Whether it works is seen when it is run again.
                let _ = call(data, &mut result);
            }
            Ok(call)
        };
        // What a library sets up once for all is not part of what one key holds.
        drop(make_ready()?);
        let (call, heap) = heap::measure(make_ready);
        let heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
        let (call, data) = (RefCell::new(call?), data.to_vec());
        Ok(Self { call, data, result, length: 0, judge, heap_held })
    }

    /// Of the library's own, which has no memory but its caller's.
    pub(super) fn ours(data: &[u8], room: usize, judge: Judge, call: Call) -> Self {
        let heap_held = heap::measure(|| ()).1.map(|_| 0);
        let (call, data) = (RefCell::new(call), data.to_vec());
        Self { call, data, result: vec![0; room], length: 0, judge, heap_held }
    }
}

impl Operation for Prepared {
    fn run(&mut self) -> Result<(), &'static str> {
        self.length = self.call.get_mut()(&self.data, &mut self.result)?;
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        (self.judge)(&mut self.call.borrow_mut(), &self.result[..self.length])
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// A call that is made ready again for each run.
pub(super) struct FirstUse<P> {
    prepared: Prepared,
    prepare: P,
}

impl<P: Fn() -> Result<Call, Failure>> FirstUse<P> {
    pub(super) fn of_peer(
        data: &[u8],
        room: usize,
        judge: Judge,
        prepare: P,
    ) -> Result<Self, Failure> {
        Ok(Self { prepared: Prepared::of_peer(data, room, judge, false, &prepare)?, prepare })
    }
}

impl<P: Fn() -> Result<Call, Failure>> Operation for FirstUse<P> {
    fn run(&mut self) -> Result<(), &'static str> {
        self.prepared.run()
    }

    fn renew(&mut self) -> Result<bool, &'static str> {
        *self.prepared.call.get_mut() = (self.prepare)().map_err(|_| "it is not made ready")?;
        Ok(true)
    }

    fn output(&self) -> Vec<u64> {
        self.prepared.output()
    }

    fn heap_held(&self) -> Option<u64> {
        self.prepared.heap_held
    }
}
