//! Batches of Diffie-Hellman operations, eight side by side while enough jobs remain.

use core::fmt;

use super::private::{checked_length, write_public, write_secret};
use super::{Error, Group, PrivateKey, Validation, limbs, public};
use crate::machine::lanes::{Backend, LANES, Multiplication};
use crate::machine::words::Limb;
use crate::machine::{ct, stack};
use crate::math::modular::{self, Exponent};
use crate::scheme::stack_use;

/// Returns the limbs of scratch for [`run_batch`] with moduli of at most `bits` bits and exponents
/// of `exponent_bits`.
pub const fn batch_scratch_limbs(bits: usize, exponent_bits: usize) -> usize {
    // Bases and results of eight jobs.
    2 * LANES * limbs(bits) + modular::pow_eight_scratch_limbs(limbs(bits), exponent_bits)
}

/// One operation of a batch, and its outcome once it has run.
pub struct Job<'a> {
    group: Group<'a>,
    exponent: Exponent<'a>,
    base: Base<'a>,
    result: &'a mut [u8],
    outcome: Result<(), Error>,
}

enum Base<'a> {
    Generator,
    Peer(&'a [u8], Validation),
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dh::Job({:?}, {:?})", self.group, self.outcome)
    }
}

impl<'a> Job<'a> {
    /// Creates a job that runs [`PrivateKey::agree`].
    pub fn agree<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<'_, M>,
        peer: &'a [u8],
        validation: Validation,
        shared: &'a mut [u8],
    ) -> Self {
        Self::new(key, Base::Peer(peer, validation), shared)
    }

    /// Creates a job that runs [`PrivateKey::public_value`].
    pub fn public_value<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<'_, M>,
        value: &'a mut [u8],
    ) -> Self {
        Self::new(key, Base::Generator, value)
    }

    fn new<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<'_, M>,
        base: Base<'a>,
        result: &'a mut [u8],
    ) -> Self {
        let outcome = Err(Error::NotDone);
        Self { group: *key.group(), exponent: key.exponent(), base, result, outcome }
    }

    /// Returns the outcome.
    ///
    /// # Errors
    /// Those of the single operation; [`Error::NotDone`] before the job has run in a batch.
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }

    /// Checks the operation's arguments and writes its base to `base`, which has as many limbs as
    /// p.
    fn prepare(&self, base: &mut [Limb], scratch: &mut [Limb]) -> Result<(), Error> {
        checked_length(&self.group, self.result)?;
        match self.base {
            Base::Generator => {
                let (low, high) = base.split_at_mut(self.group.generator().len());
                low.copy_from_slice(self.group.generator());
                high.fill(0);
                Ok(())
            }
            Base::Peer(peer, validation) => {
                public::read(base, &self.group, peer, validation, scratch)
            }
        }
    }

    /// Writes the result, or records why there is none.
    fn finish(&mut self, outcome: Result<(), modular::Error>, power: &[Limb]) {
        self.outcome = match (outcome, &self.base) {
            (Err(error), _) => Err(error.into()),
            (Ok(()), Base::Generator) => {
                write_public(self.result, power);
                Ok(())
            }
            (Ok(()), Base::Peer(..)) => write_secret(self.result, power, &self.group),
        };
    }
}

/// Runs all jobs. Each gets the same [outcome](Job::outcome) as by itself, independent of the
/// others.
///
/// Groups may differ. Consecutive jobs whose moduli have the same number of limbs run side by side,
/// eight at a time, so jobs are best sorted by length. Fewer than eight remaining ones run side by
/// side or one by one, whichever is faster. `scratch` has [`batch_scratch_limbs`] for the
/// longest modulus and exponent; with less, windows are smaller. It is wiped.
///
/// Time depends on lengths, on public values that are validated, and on which jobs are refused; on
/// no secret value.
///
/// ```
/// use cycloid::scheme::dh::{self, Group, Job, PrivateKey, Validation};
///
/// const BITS: usize = 2048;
/// const EXPONENT_BITS: usize = dh::exponent_bits(BITS);
/// let group = &Group::FFDHE2048;
/// let mut scratch = [0; dh::batch_scratch_limbs(BITS, EXPONENT_BITS)];
///
/// // Sixteen clients have sent their public values. One of them is not honest.
/// let mut peers = [[7; BITS / 8]; 16];
/// peers[5] = [0; BITS / 8];
/// let mut shared = [[0; BITS / 8]; 16];
/// let key = PrivateKey::generate(group, [0; dh::private_key_limbs(EXPONENT_BITS)], &mut
/// getrandom::SysRng)?; let mut pairs = peers.iter().zip(&mut shared); let mut jobs = [();
/// 16].map(|()| {
///     let (peer, shared) = pairs.next().expect("there are as many");
///     Job::agree(&key, peer, Validation::Partial, shared)
/// });
/// dh::run_batch(&mut jobs, &mut scratch);
/// for (i, job) in jobs.iter().enumerate() {
///     let expected = if i == 5 { Err(dh::Error::PublicRange) } else { Ok(()) };
///     assert_eq!(job.outcome(), expected);
/// }
/// # Ok::<(), dh::Error>(())
/// ```
pub fn run_batch(mut jobs: &mut [Job<'_>], scratch: &mut [Limb]) {
    while let Some(first) = jobs.first() {
        let n = first.group.prime().len();
        let alike = jobs.iter().take_while(|job| job.group.prime().len() == n).count();
        let (alike_jobs, others) = jobs.split_at_mut(alike);
        stack::clean(stack_use::DH_BATCH, || run_alike(alike_jobs, n, scratch));
        jobs = others;
    }
    ct::wipe(scratch);
}

/// Runs jobs whose moduli have `n` limbs each; leaves secrets in `scratch`.
fn run_alike(jobs: &mut [Job<'_>], n: usize, scratch: &mut [Limb]) {
    let needed = 2 * LANES * n + modular::pow_eight_minimum_scratch_limbs(n);
    let given = scratch.len();
    if given < needed {
        let error = Error::MemoryTooSmall { needed, given };
        jobs.iter_mut().for_each(|job| job.outcome = Err(error));
        return;
    }
    let (bases, rest) = scratch.split_at_mut(LANES * n);
    let (powers, work) = rest.split_at_mut(LANES * n);
    let mut jobs = jobs.iter_mut();
    loop {
        // A refused job takes no lane.
        let mut sound: [Option<&mut Job<'_>>; LANES] = [const { None }; LANES];
        let mut count = 0;
        for job in &mut jobs {
            match job.prepare(&mut bases[count * n..][..n], work) {
                Ok(()) => {
                    sound[count] = Some(job);
                    count += 1;
                }
                Err(error) => job.outcome = Err(error),
            }
            if count == LANES {
                break;
            }
        }
        if count == 0 {
            return;
        }
        run_sound(&mut sound, count, [bases, powers], n, work);
    }
}

/// Runs the first `count` jobs, whose bases are ready; each has a slot for its power.
fn run_sound(
    jobs: &mut [Option<&mut Job<'_>>; LANES],
    count: usize,
    [bases, powers]: [&mut [Limb]; 2],
    n: usize,
    work: &mut [Limb],
) {
    if fewest_side_by_side(n).is_some_and(|fewest| count >= fewest) {
        let idle = Exponent::new(&[]);
        let exponents = jobs.each_ref().map(|job| job.as_ref().map_or(idle, |job| job.exponent));
        let moduli = core::array::from_fn(|lane| {
            let job = jobs[lane].as_ref().or(jobs[0].as_ref());
            job.expect("there is at least one").group.modulus()
        });
        let mut places = powers.chunks_exact_mut(n);
        let places = [(); LANES].map(|()| places.next().expect("there are eight"));
        let bases =
            core::array::from_fn(|lane| if lane < count { &bases[lane * n..][..n] } else { &[] });
        let outcomes =
            modular::pow_eight_prepared(places, bases, exponents, moduli.each_ref(), work);
        for ((job, outcome), power) in
            jobs.iter_mut().flatten().zip(outcomes).zip(powers.chunks_exact(n))
        {
            job.finish(outcome, power);
        }
    } else {
        let numbers = bases.chunks_exact(n).zip(powers.chunks_exact_mut(n));
        for (job, (base, power)) in jobs.iter_mut().flatten().zip(numbers) {
            let modulus = job.group.modulus();
            let outcome = modular::pow(power, base, &job.exponent, &modulus, work);
            job.finish(outcome, power);
        }
    }
}

/// Returns the fewest operations that are faster side by side, despite idle lanes, than one by one,
/// modulo numbers of `n` limbs. `None` without vectors.
fn fewest_side_by_side(n: usize) -> Option<usize> {
    Some(match Backend::best()?.multiplication() {
        Multiplication::Integer => 3,
        Multiplication::FloatingPoint | Multiplication::OneByOne => {
            if n <= 48 {
                6
            } else {
                7
            }
        }
    })
}
