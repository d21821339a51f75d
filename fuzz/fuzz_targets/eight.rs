//! Eight exponentiations in one call, on every backend, compared with single ones; the lanes mix
//! lengths and include invalid ones.

#![no_main]

use cycloid::internals::lanes::{Backend, LANES};
use cycloid::modular::{self, Error, Exponent, Modulus};
use cycloid_fuzz::{Input, Limb};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let lanes: [Lane; LANES] = std::array::from_fn(|_| Lane::new(&mut input));
    let alone = lanes.each_ref().map(Lane::alone);
    for backend in Backend::available().map(Some).chain([None]) {
        assert_eq!(together(&lanes, backend), alone, "{backend:?}");
    }
});

struct Lane {
    modulus: Vec<Limb>,
    base: Vec<Limb>,
    exponent: Vec<Limb>,
    /// The length of the result in limbs.
    room: usize,
}

/// The result of a lane: its outcome, and the output, which an error leaves unchanged.
type Given = (Result<(), Error>, Vec<Limb>);

impl Lane {
    fn new(input: &mut Input<'_>) -> Self {
        let (n, b, e) = (input.up_to(6), input.up_to(8), input.up_to(1));
        let mut modulus = input.limbs(n);
        // Most are odd, because otherwise most lanes would only fail.
        if let Some(low) = modulus.first_mut()
            && !input.byte().is_multiple_of(8)
        {
            *low |= 1;
        }
        let room = if input.byte().is_multiple_of(16) { n / 2 } else { n + input.up_to(1) };
        Self { modulus, base: input.limbs(b), exponent: input.limbs(e), room }
    }

    fn alone(&self) -> Given {
        let mut result = vec![7; self.room];
        let exponent = Exponent::new(&self.exponent);
        let mut r_squared = vec![0; self.modulus.len()];
        let n = self.modulus.len();
        let mut scratch = vec![0; modular::pow_scratch_limbs(n, exponent.bits())];
        let outcome =
            Modulus::prepare(&self.modulus, &mut r_squared, &mut scratch).and_then(|modulus| {
                modular::pow(&mut result, &self.base, &exponent, &modulus, &mut scratch)
            });
        (outcome, result)
    }
}

fn together(lanes: &[Lane; LANES], backend: Option<Backend>) -> [Given; LANES] {
    let most = |f: fn(&Lane) -> usize| lanes.iter().map(f).max().unwrap_or(0);
    let (n, e) = (most(|lane| lane.modulus.len()), most(|lane| lane.exponent.len()));
    let mut scratch = vec![7; modular::pow_eight_scratch_limbs(n, 64 * e)];
    let mut results = lanes.each_ref().map(|lane| vec![7; lane.room]);
    let outcomes = modular::pow_eight_with(
        backend,
        results.each_mut().map(Vec::as_mut_slice),
        lanes.each_ref().map(|lane| lane.base.as_slice()),
        lanes.each_ref().map(|lane| Exponent::new(&lane.exponent)),
        lanes.each_ref().map(|lane| lane.modulus.as_slice()),
        &mut scratch,
    );
    std::array::from_fn(|lane| (outcomes[lane], std::mem::take(&mut results[lane])))
}
