//! Batches of private operations, eight at a time where the processor has vectors. Each job has its
//! own key, input and outcome.

use rand_core::CryptoRng;

use super::blinding::{Blinding, blinding_limbs};
use super::context::{power, power_limbs, renew, represent};
use super::eight::{HALF, PrivateEight, scratch_lanes, whole_lanes};
use super::hash_function::HashFunction;
#[cfg(feature = "hazardous")]
use super::length::MIN_LEGACY_BITS;
use super::operation::{Any, Operation};
use super::parameters::{Oaep, Pss};
use super::private::{BorrowedKey, PrivateKey};
#[cfg(feature = "hazardous")]
use super::public::checked_legacy_length;
use super::public::checked_modulus_length;
use super::step::Step;
use super::{Error, Hash, limbs, prime_limbs};
use crate::machine::lanes::{self, Backend, LANES, Lanes, Multiplication};
use crate::machine::words::{self, Limb};
use crate::machine::{ct, stack};
use crate::scheme::stack_use;

/// A private operation, and its outcome once it has run.
pub struct Job<'a> {
    key: BorrowedKey<'a>,
    operation: Result<Operation<'a>, Error>,
    outcome: Result<usize, Error>,
}

impl<'a> Job<'a> {
    pub(super) fn new<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        operation: Result<Operation<'a, impl Into<Any<'a>>>, Error>,
    ) -> Self {
        let operation = operation.map(Operation::any);
        Self { key: key.borrowed(), operation, outcome: Err(Error::NotDone) }
    }

    /// Creates a job for [`Context::sign_pkcs1v15`](super::Context::sign_pkcs1v15).
    pub fn sign_pkcs1v15<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        hash: Hash,
        message: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        Self::sign_pkcs1v15_prehashed(key, hash, &hash.digest(&[message]), signature)
    }

    /// Creates a job for
    /// [`Context::sign_pkcs1v15_prehashed`](super::Context::sign_pkcs1v15_prehashed).
    pub fn sign_pkcs1v15_prehashed<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        hash: Hash,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        Self::new(key, Operation::sign_pkcs1v15(hash, digest, signature))
    }

    /// Creates a job for [`Context::sign_pss`](super::Context::sign_pss).
    pub fn sign_pss<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        hash: Hash,
        message: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        Self::sign_pss_with(key, Pss::new(hash), &hash.digest(&[message]), signature)
    }

    /// Creates a job for [`Context::sign_pss_prehashed`](super::Context::sign_pss_prehashed).
    pub fn sign_pss_prehashed<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        hash: Hash,
        digest: &[u8],
        salt_length: usize,
        signature: &'a mut [u8],
    ) -> Self {
        Self::sign_pss_with(key, Pss { salt_length, ..Pss::new(hash) }, digest, signature)
    }

    /// Creates a job for [`Context::sign_pss_with`](super::Context::sign_pss_with).
    pub fn sign_pss_with<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        Self::new(key, Operation::sign_pss(pss.general(), digest, signature))
    }

    /// Creates a job for [`Context::decrypt_oaep`](super::Context::decrypt_oaep). Its outcome is
    /// the length of the message.
    pub fn decrypt_oaep<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        oaep: Oaep<'a, impl Into<HashFunction>>,
        ciphertext: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self::new(key, Ok(Operation::decrypt_oaep(oaep.general(), ciphertext, output)))
    }

    /// Creates a job for [`Context::decrypt_pkcs1v15`](super::Context::decrypt_pkcs1v15). Its
    /// outcome is the length of the message.
    pub fn decrypt_pkcs1v15<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        ciphertext: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self::new(key, Ok(Operation::decrypt_pkcs1v15(ciphertext, output)))
    }

    /// Creates a job for [`Context::raw_private_operation`](super::Context::raw_private_operation).
    #[cfg(feature = "hazardous")]
    pub fn raw_private_operation<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        input: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self::new(key, Ok(Operation::raw(input, output)))
    }

    /// Returns the number of bytes written to the output, or for decryption the length of the
    /// message, once a [`Batch`] has run the job.
    ///
    /// # Errors
    /// Those of the operation; [`Error::KeyLength`] if the batch is for keys of another length;
    /// [`Error::NotDone`] if no batch has run the job. The output is untouched then.
    pub const fn outcome(&self) -> Result<usize, Error> {
        self.outcome
    }
}

impl core::fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // The length of a decrypted message may be secret.
        write!(f, "rsa::Job({} bits, {:?})", self.key.bits(), self.outcome.map(|_| ()))
    }
}

/// Returns the limbs of memory for a [`Batch`] with keys of `bits` bits that keeps `blindings`
/// blindings, at least eight.
pub const fn batch_limbs(bits: usize, blindings: usize) -> usize {
    let blindings = if blindings < LANES { LANES } else { blindings };
    Lanes::limbs_for(work_lanes(bits)) + blindings * slot_limbs(bits)
}

/// Returns the `Lanes` for the messages, for three numbers in lanes and for scratch, of one
/// operation or of eight.
const fn work_lanes(bits: usize) -> usize {
    let one = power_limbs(bits).div_ceil(LANES);
    let eight = scratch_lanes(bits);
    limbs(bits) + 3 * whole_lanes(bits) + if one > eight { one } else { eight }
}

/// Returns the limbs of a stored blinding: the time of its last use, the public key and the
/// factors.
const fn slot_limbs(bits: usize) -> usize {
    SLOT_KEY + limbs(bits) + blinding_limbs(bits)
}

/// Position of the modulus in a slot, after the time of its last use and the public exponent.
const SLOT_KEY: usize = 2;

/// The state for private operations with many keys of one length: a random generator, blindings and
/// all working memory. Wiped when dropped.
///
/// Operations run eight at a time, blinded and checked like those of a [`Context`](super::Context),
/// and give the same bytes. The batch keeps blindings for the next uses of a key, one for each lane
/// that the key occupied. When memory is full, it evicts the least recently used one. Operations of
/// keys with primes of unequal lengths, or with more than two, run one by one.
///
/// ```
/// # use cycloid::scheme::{Hash, rsa::{self, Batch, Job, PrivateKey}};
/// # fn example(key: &PrivateKey<Vec<u64>>, rng: impl rand_core::CryptoRng) -> Result<(), rsa::Error> {
/// let mut memory = [0; rsa::batch_limbs(2048, 8)];
/// let mut batch = Batch::new(2048, rng, &mut memory)?;
///
/// let messages = [b"one", b"two", b"six"];
/// let mut signatures = [[0; 256]; 3];
/// let mut jobs: Vec<Job<'_>> = messages
///     .iter()
///     .zip(&mut signatures)
///     .map(|(message, signature)| Job::sign_pss(key, Hash::Sha256, *message, signature))
///     .collect();
/// batch.run(&mut jobs);
/// for job in &jobs {
///     job.outcome()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// The memory is borrowed or owned: a slice, an array, a `Vec`.
pub struct Batch<M: AsMut<[Limb]>, R> {
    bits: usize,
    rng: R,
    backend: Option<Backend>,
    memory: M,
    /// Counts the uses of blindings, as the time of use.
    time: Limb,
}

impl<M: AsMut<[Limb]>, R> Drop for Batch<M, R> {
    fn drop(&mut self) {
        ct::wipe(self.memory.as_mut());
    }
}

impl<M: AsMut<[Limb]>, R> core::fmt::Debug for Batch<M, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::Batch({} bits)", self.bits)
    }
}

/// Returns an error unless private keys may have a modulus of `bits` bits.
fn check_length(bits: usize) -> Result<(), Error> {
    let checked = checked_modulus_length(bits);
    #[cfg(feature = "hazardous")]
    let checked =
        checked.or_else(|error| checked_legacy_length(bits, MIN_LEGACY_BITS).map_err(|_| error));
    checked
}

/// Splits the memory into blindings and the work of one call. A move of the batch may change the
/// alignment of its memory, so the blindings begin where the memory does.
fn split(memory: &mut [Limb], bits: usize) -> (&mut [Limb], &mut [Lanes]) {
    let blindings = memory.len() - Lanes::limbs_for(work_lanes(bits));
    let (blindings, work) = memory.split_at_mut(blindings);
    (blindings, Lanes::aligned_mut(work))
}

impl<M: AsMut<[Limb]>, R: CryptoRng> Batch<M, R> {
    /// Creates a batch for keys of `bits` bits in `memory`, sized by [`batch_limbs`]. Memory beyond
    /// the minimum holds more blindings.
    ///
    /// # Errors
    /// [`KeyError::ModulusLength`](crate::scheme::rsa::KeyError::ModulusLength),
    /// [`Error::MemoryTooSmall`].
    pub fn new(bits: usize, rng: R, memory: M) -> Result<Self, Error> {
        Self::on(Backend::best(), bits, rng, memory)
    }

    /// Like [`new`](Self::new), on a backend chosen by the caller; with `None`, operations run one
    /// by one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "internals")]
    pub fn with_backend(
        backend: Option<Backend>,
        bits: usize,
        rng: R,
        memory: M,
    ) -> Result<Self, Error> {
        Self::on(backend, bits, rng, memory)
    }

    fn on(backend: Option<Backend>, bits: usize, rng: R, mut memory: M) -> Result<Self, Error> {
        check_length(bits)?;
        let (needed, given) = (batch_limbs(bits, LANES), memory.as_mut().len());
        if given < needed {
            return Err(Error::MemoryTooSmall { needed, given });
        }
        ct::wipe(memory.as_mut());
        Ok(Self { bits, rng, backend, memory, time: 0 })
    }

    /// Runs all jobs. Each has its own outcome afterwards, independent of the others'.
    ///
    /// Time depends on the number of jobs and on how many of them are refused.
    pub fn run(&mut self, jobs: &mut [Job<'_>]) {
        self.run_observed(jobs, &mut |_| {});
    }

    /// Like [`run`](Self::run), but calls `observer` when a step begins, for measuring where time
    /// goes. The sequence of steps reveals no more than timing already does.
    pub fn run_observed(&mut self, jobs: &mut [Job<'_>], observer: &mut dyn FnMut(Step)) {
        stack::clean(stack_use::RSA_BATCH, || self.run_in_frames(jobs, observer));
    }

    fn run_in_frames(&mut self, jobs: &mut [Job<'_>], observer: &mut dyn FnMut(Step)) {
        observer(Step::Representation);
        let mut waiting = [0; LANES];
        let mut count = 0;
        for i in 0..jobs.len() {
            match self.represent(&jobs[i], count) {
                Ok(()) if jobs[i].key.halves().is_none() => {
                    self.run_group(jobs, &[i], count, observer);
                    observer(Step::Representation);
                }
                Ok(()) => {
                    waiting[count] = i;
                    count += 1;
                }
                Err(error) => jobs[i].outcome = Err(error),
            }
            if count == LANES {
                self.run_group(jobs, &waiting, 0, observer);
                count = 0;
                observer(Step::Representation);
            }
        }
        let mut from = 0;
        while from < count {
            let size = group_size(self.backend, count - from);
            self.run_group(jobs, &waiting[from..from + size], from, observer);
            from += size;
        }
        let (_, work) = split(self.memory.as_mut(), self.bits);
        ct::wipe(Lanes::as_limbs_mut(work));
    }

    /// Returns the blindings in use.
    #[cfg(test)]
    pub(super) fn used_slots(&mut self) -> impl Iterator<Item = Blinding<'_>> {
        let (size, bits) = (slot_limbs(self.bits), self.bits);
        let (slots, _) = split(self.memory.as_mut(), bits);
        let used = slots.chunks_exact_mut(size).filter(|slot| slot[0] != 0);
        used.map(move |slot| Blinding::of(&mut slot[SLOT_KEY + limbs(bits)..], bits).unwrap())
    }

    /// Writes the message representative of a job to its place.
    fn represent(&mut self, job: &Job<'_>, place: usize) -> Result<(), Error> {
        let (needed, given) = (self.bits, job.key.bits());
        if needed != given {
            return Err(Error::KeyLength { needed, given });
        }
        let operation = job.operation.as_ref().map_err(|error| *error)?;
        let n = limbs(self.bits);
        let (_, work) = split(self.memory.as_mut(), self.bits);
        let (messages, scratch) = work.split_at_mut(n);
        let message = &mut Lanes::as_limbs_mut(messages)[place * n..][..n];
        let room = words::as_bytes_mut(Lanes::as_limbs_mut(scratch));
        represent(&job.key, operation, &mut self.rng, message, room)
    }

    /// Runs the jobs of one group, whose messages start at a given place.
    fn run_group(
        &mut self,
        jobs: &mut [Job<'_>],
        group: &[usize],
        from: usize,
        observer: &mut dyn FnMut(Step),
    ) {
        let mut slots = [0; LANES];
        for i in 0..group.len() {
            slots[i] = self.slot(&jobs[group[i]].key, &slots[..i]);
        }
        let slots = &slots[..group.len()];
        let outcome = match self.backend {
            Some(backend) if group.len() > 1 => {
                self.eight(backend, jobs, group, from, slots, observer)
            }
            _ => self.one_by_one(jobs, group, from, slots, observer),
        };
        if let Err(error) = outcome {
            group.iter().for_each(|i| jobs[*i].outcome = Err(error));
        }
    }

    fn one_by_one(
        &mut self,
        jobs: &mut [Job<'_>],
        group: &[usize],
        from: usize,
        slots: &[usize],
        observer: &mut dyn FnMut(Step),
    ) -> Result<(), Error> {
        let n = limbs(self.bits);
        for (place, (i, slot)) in group.iter().zip(slots).enumerate() {
            let job = &mut jobs[*i];
            let (blindings, work) = split(self.memory.as_mut(), self.bits);
            let (messages, scratch) = work.split_at_mut(n);
            let message = &mut Lanes::as_limbs_mut(messages)[(from + place) * n..][..n];
            let scratch = Lanes::as_limbs_mut(scratch);
            observer(Step::Blinding);
            let mut blinding = blinding(blindings, *slot, self.bits)?;
            renew(&job.key, &mut blinding, &mut self.rng, scratch)?;
            let (result, scratch) = scratch.split_at_mut(2 * prime_limbs(self.bits));
            let powered = power(&job.key, &mut blinding, message, result, scratch, observer);
            observer(Step::Delivery);
            job.outcome = powered.and_then(|()| deliver(job, &result[..n], message));
        }
        Ok(())
    }

    fn eight(
        &mut self,
        backend: Backend,
        jobs: &mut [Job<'_>],
        group: &[usize],
        from: usize,
        slots: &[usize],
        observer: &mut dyn FnMut(Step),
    ) -> Result<(), Error> {
        let n = limbs(self.bits);
        let (blindings, work) = split(self.memory.as_mut(), self.bits);
        let (messages, rest) = work.split_at_mut(n);
        let messages = &mut Lanes::as_limbs_mut(messages)[from * n..];
        let (numbers, scratch) = rest.split_at_mut(3 * whole_lanes(self.bits));
        observer(Step::Blinding);
        for (i, slot) in group.iter().zip(slots) {
            let scratch = Lanes::as_limbs_mut(scratch);
            let mut blinding = blinding(blindings, *slot, self.bits)?;
            renew(&jobs[*i].key, &mut blinding, &mut self.rng, scratch)?;
        }
        // Four operations or fewer occupy two lanes each; an unused lane repeats the first one.
        let twice = group.len() <= HALF;
        let place = |lane: usize| {
            let place = if twice { lane % HALF } else { lane };
            if place < group.len() { place } else { 0 }
        };
        for (part, numbers) in numbers.chunks_exact_mut(whole_lanes(self.bits)).enumerate() {
            for lane in 0..LANES {
                let place = place(lane);
                let number = if part == 0 {
                    &messages[place * n..][..n]
                } else {
                    let blinding = blinding(blindings, slots[place], self.bits)?;
                    if part == 1 { blinding.factor } else { blinding.inverse }
                };
                lanes::load(numbers, lane, number);
            }
        }
        let keys = core::array::from_fn(|lane| jobs[group[place(lane)]].key);
        let right = backend.run(PrivateEight { keys, twice, numbers, scratch, observer })?;
        observer(Step::Delivery);

        let (results, factors) = numbers.split_at(whole_lanes(self.bits));
        let (factor, inverse) = factors.split_at(whole_lanes(self.bits));
        let (room, _) = Lanes::as_limbs_mut(scratch).split_at_mut(n);
        for (place, (i, slot)) in group.iter().zip(slots).enumerate() {
            let mut blinding = blinding(blindings, *slot, self.bits)?;
            lanes::store(blinding.factor, factor, place);
            lanes::store(blinding.inverse, inverse, place);
            blinding.count();
            let job = &mut jobs[*i];
            // Whether there was a fault is the operation's result.
            job.outcome = if right[place].reveal() {
                let result = &mut messages[place * n..][..n];
                lanes::store(result, results, place);
                deliver(job, result, room)
            } else {
                blinding.discard();
                Err(Error::Fault)
            };
        }
        Ok(())
    }

    /// Returns the slot for a key's blinding, other than those in `taken`: the slot that holds it,
    /// or else the least recently used one.
    fn slot(&mut self, key: &BorrowedKey<'_>, taken: &[usize]) -> usize {
        let n = limbs(self.bits);
        let (modulus, exponent) = (key.n(), key.public().exponent());
        let size = slot_limbs(self.bits);
        let mut oldest = (Limb::MAX, 0);
        let mut found = None;
        let (blindings, _) = split(self.memory.as_mut(), self.bits);
        for (i, slot) in blindings.chunks_exact(size).enumerate() {
            if taken.contains(&i) {
                continue;
            }
            // With another e, r^e is another number that 1/r no longer cancels.
            if slot[1] == exponent && slot[SLOT_KEY..][..n] == *modulus {
                found = Some(i);
                break;
            }
            oldest = oldest.min((slot[0], i));
        }
        let chosen = found.unwrap_or(oldest.1);
        let slot = &mut blindings[chosen * size..][..size];
        if found.is_none() {
            ct::wipe(slot);
            slot[1] = exponent;
            slot[SLOT_KEY..][..n].copy_from_slice(modulus);
        }
        self.time += 1;
        slot[0] = self.time;
        chosen
    }
}

/// Returns the blinding in a slot.
fn blinding(slots: &mut [Limb], slot: usize, bits: usize) -> Result<Blinding<'_>, Error> {
    let slot = &mut slots[slot * slot_limbs(bits)..][..slot_limbs(bits)];
    Blinding::of(&mut slot[SLOT_KEY + limbs(bits)..], bits)
}

/// Writes a result to its output; `room` has the same length.
fn deliver(job: &mut Job<'_>, result: &[Limb], room: &mut [Limb]) -> Result<usize, Error> {
    let bytes = &mut words::as_bytes_mut(room)[..job.key.public().length()];
    words::to_be_bytes(bytes, result);
    let d = job.key.d();
    job.operation.as_mut().map_err(|error| *error)?.deliver(d, bytes)
}

/// Returns how many of `left` operations, at most eight, to run next. Two passes over the halves of
/// eight run up to eight, one pass over the halves of four runs up to four; one alone if that is
/// faster.
fn group_size(backend: Option<Backend>, left: usize) -> usize {
    let alone = match backend {
        None => return 1,
        Some(backend) => faster_alone(backend),
    };
    if left <= alone {
        1
    } else if HALF < left && left <= HALF + alone {
        HALF
    } else {
        left
    }
}

/// Returns how many operations take less time one by one than in one pass over four. With AVX-512,
/// two take 0.9 of a pass at 2048 bits and 0.7 at 4096, and three take as long as a pass or longer.
const fn faster_alone(backend: Backend) -> usize {
    match backend.multiplication() {
        Multiplication::OneByOne => 0,
        Multiplication::FloatingPoint | Multiplication::Integer => 2,
    }
}
