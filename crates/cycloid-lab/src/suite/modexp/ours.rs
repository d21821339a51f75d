//! The library's exponentiations as operations to measure.

use cycloid::modular::{self, Exponent, Modulus, Strategy};

use crate::Failure;
use crate::measure::{Elsewhere, Operation, heap};
use crate::peers::modexp::Input;

fn exponent(input: &Input) -> Exponent<'_> {
    Exponent::with_bits(&input.exponent, input.exponent_bits)
        .expect("inputs have the stated length")
}

/// One of the 36 strategies, which all take an unprepared modulus.
pub(super) struct Strategic {
    strategy: Strategy,
    input: Input,
    result: Vec<u64>,
    scratch: Vec<u64>,
    heap_held: Option<u64>,
}

impl Strategic {
    pub(super) fn prepare(strategy: Strategy, input: &Input) -> Self {
        let n = input.modulus.len();
        Self {
            strategy,
            input: input.clone(),
            result: vec![0; n],
            scratch: vec![0; strategy.scratch_limbs(n)],
            // There is nothing to prepare, and the buffers are the caller's.
            heap_held: heap::measure(|| ()).1.map(|_| 0),
        }
    }
}

impl Operation for Strategic {
    fn run(&mut self) -> Result<(), &'static str> {
        let Self { strategy, input, result, scratch, .. } = self;
        strategy
            .pow_vartime(result, &input.base, &exponent(input), &input.modulus, scratch)
            .map_err(|_| "invalid arguments")
    }

    fn output(&self) -> Vec<u64> {
        self.result.clone()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// [`modular::pow`] and [`modular::pow_vartime`].
pub(super) type Pow =
    fn(&mut [u64], &[u64], &Exponent<'_>, &Modulus<'_>, &mut [u64]) -> Result<(), modular::Error>;

/// An exponentiation with a prepared modulus, as the schemes use it.
pub(super) struct Prepared {
    pow: Pow,
    input: Input,
    modulus: Modulus<'static>,
    result: Vec<u64>,
    scratch: Vec<u64>,
    heap_held: Option<u64>,
}

impl Prepared {
    /// Prepares it with the scratch that [`scratch_limbs`] or [`scratch_limbs_least`] returns.
    pub(super) fn new(pow: Pow, input: &Input, scratch_limbs: usize) -> Self {
        let (modulus, heap_held) = prepare(&input.modulus);
        Self {
            pow,
            input: input.clone(),
            modulus,
            result: vec![0; input.modulus.len()],
            scratch: vec![0; scratch_limbs],
            heap_held,
        }
    }
}

/// Prepares a modulus, and returns the heap bytes that the preparation holds.
fn prepare(limbs: &[u64]) -> (Modulus<'static>, Option<u64>) {
    // A prepared modulus borrows its limbs, but an operation owns its data: these few kilobytes are
    // leaked until the program ends.
    let limbs = limbs.to_vec().leak();
    let r_squared = vec![0; limbs.len()].leak();
    let mut scratch = vec![0; Modulus::scratch_limbs(limbs.len())];
    let (modulus, heap) = heap::measure(|| Modulus::prepare(limbs, r_squared, &mut scratch));
    let held = heap.map(|heap| heap.held_bytes.max(0) as u64);
    (modulus.expect("the modulus is odd"), held)
}

/// Returns the scratch at which the default is fastest.
pub(super) fn scratch_limbs(input: &Input) -> usize {
    modular::pow_this_cpu_scratch_limbs(input.modulus.len(), input.exponent_bits)
}

/// Returns the least scratch for the default.
pub(super) const fn scratch_limbs_least(input: &Input) -> usize {
    modular::pow_minimum_scratch_limbs(input.modulus.len())
}

impl Operation for Prepared {
    fn run(&mut self) -> Result<(), &'static str> {
        let Self { input, result, scratch, .. } = self;
        (self.pow)(result, &input.base, &exponent(input), &self.modulus, scratch)
            .map_err(|_| "invalid arguments")
    }

    fn output(&self) -> Vec<u64> {
        self.result.clone()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// Eight exponentiations in one call, with prepared moduli.
pub(super) struct Eight {
    inputs: [Input; 8],
    moduli: [Modulus<'static>; 8],
    results: [Vec<u64>; 8],
    scratch: Vec<u64>,
    heap_held: Option<u64>,
}

/// Returns the number of scratch elements at which eight in one call are fastest.
pub(super) const fn scratch_eight(input: &Input) -> usize {
    modular::pow_eight_scratch_limbs(input.modulus.len(), input.exponent_bits)
}

impl Eight {
    /// Prepares eight exponentiations and checks them.
    ///
    /// # Errors
    /// If one of the eight differs from the result of [`modular::pow`].
    pub(super) fn new(inputs: [Input; 8]) -> Result<Self, Failure> {
        let prepared = inputs.each_ref().map(|input| prepare(&input.modulus));
        let mut eight = Self {
            moduli: prepared.map(|(modulus, _)| modulus),
            results: inputs.each_ref().map(|input| vec![0; input.modulus.len()]),
            scratch: vec![0; scratch_eight(&inputs[0])],
            heap_held: prepared.iter().map(|(_, held)| *held).sum(),
            inputs,
        };
        let wrong =
            |message: String| Failure::new(message, "nothing was measured, please report it");
        eight.run().map_err(|message| wrong(format!("Cycloid, ×8 failed: {message}")))?;
        for (lane, input) in eight.inputs.iter().enumerate() {
            let mut one = Prepared::new(modular::pow, input, scratch_limbs(input));
            let done = one.run();
            if done.is_err() || one.output() != eight.results[lane] {
                return Err(wrong(format!("Cycloid, ×8 returns a wrong result in lane {lane}")));
            }
        }
        Ok(eight)
    }
}

impl Operation for Eight {
    fn run(&mut self) -> Result<(), &'static str> {
        let Self { inputs, moduli, results, scratch, .. } = self;
        let inputs = inputs.each_ref();
        let outcomes = modular::pow_eight_prepared(
            results.each_mut().map(Vec::as_mut_slice),
            inputs.map(|input| &input.base[..]),
            inputs.map(exponent),
            moduli.each_ref(),
            scratch,
        );
        if outcomes.iter().all(Result::is_ok) { Ok(()) } else { Err("a lane failed") }
    }

    /// Returns the first lane's result, which the other subjects compute, too.
    fn output(&self) -> Vec<u64> {
        self.results[0].clone()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// Two operations, one after the other: the halves of an RSA private key.
pub(super) struct Both(pub(super) Box<dyn Operation>, pub(super) Box<dyn Operation>);

impl Operation for Both {
    fn run(&mut self) -> Result<(), &'static str> {
        self.0.run()?;
        self.1.run()
    }

    fn elsewhere(&mut self, runs: u32) -> Result<Option<Elsewhere>, &'static str> {
        let (first, second) = (self.0.elsewhere(runs)?, self.1.elsewhere(runs)?);
        Ok(first.zip(second).map(|(first, second)| Elsewhere {
            time: first.time + second.time,
            allocated: first.allocated.zip(second.allocated).map(|(first, second)| first + second),
        }))
    }

    fn output(&self) -> Vec<u64> {
        [self.0.output(), self.1.output()].concat()
    }

    fn heap_held(&self) -> Option<u64> {
        Some(self.0.heap_held()? + self.1.heap_held()?)
    }
}
