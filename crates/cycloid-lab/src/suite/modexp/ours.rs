//! The library's own exponentiations as operations to be measured.

use cycloid::machine::lanes::{self, Lanes};
use cycloid::machine::words;
use cycloid::modular::{self, Exponent, Modulus, Strategy};

use crate::Failure;
use crate::measure::{Operation, heap};
use crate::peers::modexp::Input;

/// The name of the backend for one number.
pub(super) fn backend() -> &'static str {
    words::Backend::best().name()
}

/// The name of the backend for eight numbers; without one, they are done one after the other.
pub(super) fn backend_eight() -> String {
    lanes::Backend::best().map_or_else(
        || format!("{}, one after the other", backend()),
        |backend| backend.name().into(),
    )
}

fn exponent(input: &Input) -> Exponent<'_> {
    Exponent::with_bits(&input.exponent, input.exponent_bits).expect("inputs have their length")
}

/// One of the 36 strategies, which all take a modulus as it comes.
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
            .map_err(|_| "the arguments were not taken")
    }

    fn output(&self) -> Vec<u64> {
        self.result.clone()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// What the schemes use, with a prepared modulus.
pub(super) struct Default {
    input: Input,
    modulus: Modulus<'static>,
    result: Vec<u64>,
    scratch: Vec<u64>,
    heap_held: Option<u64>,
}

impl Default {
    /// With as much scratch as [`scratch_limbs`] or [`scratch_limbs_least`] says.
    pub(super) fn prepare(input: &Input, scratch_limbs: usize) -> Self {
        // A prepared modulus borrows its limbs, and an operation owns what it needs: these few
        // kilobytes are given back when the program ends.
        let limbs = input.modulus.clone().leak();
        let r_squared = vec![0; limbs.len()].leak();
        let mut scratch = vec![0; scratch_limbs.max(Modulus::scratch_limbs(limbs.len()))];
        let (modulus, heap) = heap::measure(|| Modulus::prepare(limbs, r_squared, &mut scratch));
        scratch.truncate(scratch_limbs);
        Self {
            input: input.clone(),
            modulus: modulus.expect("the modulus is odd"),
            result: vec![0; input.modulus.len()],
            scratch,
            heap_held: heap.map(|heap| heap.held_bytes.max(0) as u64),
        }
    }
}

/// Scratch with which the default is fastest.
pub(super) const fn scratch_limbs(input: &Input) -> usize {
    modular::pow_scratch_limbs(input.modulus.len(), input.exponent_bits)
}

/// The least scratch with which the default works.
pub(super) const fn scratch_limbs_least(input: &Input) -> usize {
    modular::pow_scratch_limbs_minimum(input.modulus.len())
}

impl Operation for Default {
    fn run(&mut self) -> Result<(), &'static str> {
        let Self { input, modulus, result, scratch, .. } = self;
        modular::pow(result, &input.base, &exponent(input), modulus, scratch)
            .map_err(|_| "the arguments were not taken")
    }

    fn output(&self) -> Vec<u64> {
        self.result.clone()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

/// Eight exponentiations by one call, which takes the moduli as they come.
pub(super) struct Eight {
    inputs: [Input; 8],
    results: [Vec<u64>; 8],
    scratch: Vec<Lanes>,
    heap_held: Option<u64>,
}

/// Elements of scratch with which eight at once are fastest.
pub(super) const fn scratch_eight(input: &Input) -> usize {
    modular::pow_eight_scratch(input.modulus.len(), input.exponent_bits)
}

impl Eight {
    /// # Errors
    /// If one of the eight is not what [`modular::pow`] gives.
    pub(super) fn prepare(inputs: [Input; 8]) -> Result<Self, Failure> {
        let mut eight = Self {
            results: inputs.each_ref().map(|input| vec![0; input.modulus.len()]),
            scratch: vec![Lanes([0; 8]); scratch_eight(&inputs[0])],
            heap_held: heap::measure(|| ()).1.map(|_| 0),
            inputs,
        };
        let wrong =
            |message: String| Failure::new(message, "nothing was measured, please report it");
        eight.run().map_err(|message| wrong(format!("Cycloid, ×8 failed: {message}")))?;
        for (lane, input) in eight.inputs.iter().enumerate() {
            let mut one = Default::prepare(input, scratch_limbs(input));
            let done = one.run();
            if done.is_err() || one.output() != eight.results[lane] {
                return Err(wrong(format!("Cycloid, ×8 gives a wrong result in lane {lane}")));
            }
        }
        Ok(eight)
    }
}

impl Operation for Eight {
    fn run(&mut self) -> Result<(), &'static str> {
        let Self { inputs, results, scratch, .. } = self;
        let inputs = inputs.each_ref();
        let outcomes = modular::pow_eight(
            results.each_mut().map(Vec::as_mut_slice),
            inputs.map(|input| &input.base[..]),
            inputs.map(exponent),
            inputs.map(|input| &input.modulus[..]),
            scratch,
        );
        if outcomes.iter().all(Result::is_ok) { Ok(()) } else { Err("a lane was refused") }
    }

    /// That of the first lane, which the other subjects compute too.
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

    fn output(&self) -> Vec<u64> {
        [self.0.output(), self.1.output()].concat()
    }

    fn heap_held(&self) -> Option<u64> {
        Some(self.0.heap_held()? + self.1.heap_held()?)
    }
}
