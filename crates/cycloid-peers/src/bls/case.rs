//! A case: one operation by one backend or peer.

use std::num::NonZeroU64;

use cycloid_lab::measure::{Operation, heap};
use cycloid_lab::record::Series;

/// One operation by one backend or peer, not yet prepared.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) series: Option<Series>,
    pub(super) function: &'static str,
    pub(super) constant_time: bool,
    pub(super) operations_per_call: u32,
    /// Bytes of scratch from the caller.
    pub(super) scratch: usize,
    /// A note for readers of its numbers.
    pub(super) note: Option<&'static str>,
    pub(super) prepare: Box<dyn Fn() -> Box<dyn Operation>>,
}

/// Creates a case of the library or a backend: `prepare` returns the computation, and `bytes`
/// encodes its result.
pub(super) fn case<R: 'static, C: FnMut() -> R + 'static>(
    name: impl Into<String>,
    function: &'static str,
    prepare: impl Fn() -> C + 'static,
    bytes: impl Fn(&R) -> Vec<u8> + Copy + 'static,
) -> Case {
    let constant_time = !function.ends_with("_vartime");
    // The library uses only memory from its caller.
    let heap_held = || heap::measure(|| ()).1.map(|_| 0);
    Case { constant_time, ..case_with(name, function, heap_held, prepare, bytes) }
}

/// Creates a constant-time case, with the heap that its preparation holds.
pub(super) fn case_with<R: 'static, C: FnMut() -> R + 'static>(
    name: impl Into<String>,
    function: &'static str,
    heap_held: fn() -> Option<u64>,
    prepare: impl Fn() -> C + 'static,
    bytes: impl Fn(&R) -> Vec<u8> + Copy + 'static,
) -> Case {
    Case {
        name: name.into(),
        series: None,
        function,
        constant_time: true,
        operations_per_call: 1,
        scratch: 0,
        note: None,
        prepare: Box::new(move || {
            let heap_held = heap_held();
            Box::new(Computed { compute: prepare(), bytes, heap_held, result: None })
        }),
    }
}

impl Case {
    pub(super) fn of_several(self, operations: usize) -> Self {
        Self { operations_per_call: operations as u32, ..self }
    }

    /// Marks one of several sizes of an operation, with 2^`log` items.
    pub(super) fn of_size(self, operation: impl Into<String>, log: u32) -> Self {
        let of = |size| Series { operation: operation.into(), size };
        Self { series: NonZeroU64::new(1 << log).map(of), ..self }
    }

    pub(super) fn with_scratch(self, scratch: usize) -> Self {
        Self { scratch, ..self }
    }

    /// Marks a case that takes only public values.
    pub(super) fn of_public(self) -> Self {
        Self { constant_time: false, ..self }
    }
}

/// An operation that returns a value, whose bytes are read only outside the timing.
struct Computed<R, C, F> {
    compute: C,
    bytes: F,
    heap_held: Option<u64>,
    result: Option<R>,
}

impl<R, C: FnMut() -> R, F: Fn(&R) -> Vec<u8>> Operation for Computed<R, C, F> {
    fn run(&mut self) -> Result<(), &'static str> {
        self.result = Some((self.compute)());
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        let bytes = self.result.as_ref().map_or_else(Vec::new, |result| (self.bytes)(result));
        bytes.into_iter().map(u64::from).collect()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}
