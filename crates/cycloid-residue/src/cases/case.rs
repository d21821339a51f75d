//! A case: an operation, its inputs, and the secrets that it uses.

use crate::live_values::live;
use crate::needles::Needles;
use crate::protocol::Input;
use crate::stop::Stop;

use super::random::Random;

/// An operation.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The documented maximum of its stack use.
    pub(crate) stack: usize,
    pub(crate) expect: Expect,
    prepare: Box<Prepare>,
    run: Box<Run>,
}

type Prepare = dyn Fn(&mut Random) -> Prepared;
type Run = dyn Fn(Input, &mut Stop);

/// The expected result of the search.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    Nothing,
    Found,
}

/// The inputs of a case, and the needles of the search.
#[derive(Default)]
pub(crate) struct Prepared {
    pub(crate) input: Vec<Vec<u8>>,
    pub(crate) needles: Needles,
}

impl Case {
    pub(crate) fn new(
        name: impl Into<String>,
        stack: usize,
        prepare: impl Fn(&mut Random) -> Prepared + 'static,
        run: impl Fn(Input, &mut Stop) + 'static,
    ) -> Self {
        let (name, expect) = (name.into(), Expect::Nothing);
        Self { name, stack, expect, prepare: Box::new(prepare), run: Box::new(run) }
    }

    pub(super) fn expecting(self, expect: Expect) -> Self {
        Self { expect, ..self }
    }

    /// Prepares the case in the searching process.
    pub(crate) fn prepare(&self) -> Prepared {
        // Each case has different secrets, so that residue of an earlier case is not attributed to
        // it.
        let seed = self.name.bytes().fold(1, |seed: u64, byte| {
            (seed ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        (self.prepare)(&mut Random::from_seed(seed))
    }

    /// Runs the case in the searched process.
    pub(crate) fn run(&self, input: Input, stop: &mut Stop) {
        (self.run)(input, stop);
    }
}

/// Creates a case that first makes values that stay alive, and then performs the examined
/// operation.
pub(crate) fn case<T: 'static>(
    name: impl Into<String>,
    stack: usize,
    prepare: impl Fn(&mut Random) -> Prepared + 'static,
    make: impl Fn(Input) -> T + 'static,
    operation: impl Fn(&mut T) + 'static,
) -> Case {
    Case::new(name, stack, prepare, move |input, stop| {
        let made = live(|| make(input));
        stop.after(&mut || operation(made));
    })
}
