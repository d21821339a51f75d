//! ECDH on the curves of [`ec`](super::ec) (SP 800-56A, section 5.7.1.2; the cofactor is 1).
//!
//! A [`PublicKey`] is validated when it is read, so the shared secret is the x coordinate of a
//! point that is never infinity.
//!
//! ```
//! use cycloid::scheme::ec::{P384, PrivateKey};
//!
//! let alice = PrivateKey::<P384>::generate(&mut getrandom::SysRng)?;
//! let bob = PrivateKey::<P384>::generate(&mut getrandom::SysRng)?;
//! assert_eq!(*alice.agree(bob.public_key()), *bob.agree(alice.public_key()));
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```

use core::fmt;

use super::ec::{Curve, Error, MAX_BYTES, PrivateKey, PublicKey};
use super::stack_use;
use crate::machine::lanes::{Backend, LANES};
use crate::machine::{ct, stack, words};
use crate::math::curve::{AffinePoint, Scalar, multiply, multiply_eight};

/// Bytes of a stored secret: whole words, because a move would copy padding and with it whatever
/// was left there.
const ROOM: usize = MAX_BYTES.next_multiple_of(size_of::<usize>());

/// With fewer jobs than this, one by one is faster than eight side by side.
const WORTH_EIGHT: usize = 4;

/// A shared secret: an x coordinate as [`Curve::BYTES`] big-endian bytes; wiped when dropped.
#[derive(Clone)]
pub struct SharedSecret {
    bytes: [u8; ROOM],
    length: usize,
}

impl SharedSecret {
    fn new<C: Curve>(point: Option<AffinePoint<C>>) -> Self {
        // A private key is not 0, and points other than infinity have order n, so this point is
        // never infinity.
        let point = point.unwrap_or(AffinePoint::GENERATOR);
        let mut secret = Self { bytes: [0; ROOM], length: C::BYTES };
        words::to_be_bytes(&mut secret.bytes[..C::BYTES], point.x().as_ref());
        secret
    }
}

impl core::ops::Deref for SharedSecret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for SharedSecret {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ecdh::SharedSecret")
    }
}

impl Drop for SharedSecret {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.bytes);
    }
}

/// ECDH.
impl<C: Curve> PrivateKey<C> {
    /// Returns the secret shared with the holder of `peer`.
    pub fn agree(&self, peer: &PublicKey<C>) -> SharedSecret {
        stack::clean(stack_use::ecdh_agree::<C>(), || {
            SharedSecret::new(multiply(self.scalar(), peer.point()))
        })
    }
}

/// One agreement of a batch, and its outcome once it has run.
pub struct Job<'a, C: Curve> {
    key: &'a PrivateKey<C>,
    peer: &'a PublicKey<C>,
    outcome: Result<SharedSecret, Error>,
}

impl<'a, C: Curve> Job<'a, C> {
    /// Creates a job that runs [`PrivateKey::agree`].
    pub const fn agree(key: &'a PrivateKey<C>, peer: &'a PublicKey<C>) -> Self {
        Self { key, peer, outcome: Err(Error::NotDone) }
    }

    /// Returns the outcome.
    ///
    /// # Errors
    /// [`Error::NotDone`] before the job has run in a batch.
    pub fn outcome(&self) -> Result<(), Error> {
        self.outcome.as_ref().map(|_| ()).map_err(|error| *error)
    }

    /// Returns the shared secret.
    ///
    /// # Errors
    /// Those of the [outcome](Self::outcome).
    pub fn shared_secret(&self) -> Result<SharedSecret, Error> {
        stack::clean(stack_use::EC_SCALAR, || self.outcome.clone())
    }
}

/// Prints nothing secret.
impl<C: Curve> fmt::Debug for Job<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdh::Job({:?})", self.outcome())
    }
}

/// Runs all jobs. Each gets the same [outcome](Job::outcome) as by itself.
pub fn run_batch<C: Curve>(jobs: &mut [Job<'_, C>]) {
    run_batch_with(C::lanes(), jobs);
}

/// Like [`run_batch`], on a backend chosen by the caller; with `None`, one by one.
fn run_batch_with<C: Curve>(backend: Option<Backend>, jobs: &mut [Job<'_, C>]) {
    for jobs in jobs.chunks_mut(LANES) {
        match backend {
            Some(backend) if jobs.len() >= WORTH_EIGHT => {
                stack::clean(stack_use::ecdh_batch::<C>(), || run_eight(backend, jobs));
            }
            _ => jobs.iter_mut().for_each(|job| {
                // A move of the secret leaves a copy.
                stack::clean(stack_use::EC_SCALAR, || job.outcome = Ok(job.key.agree(job.peer)));
            }),
        }
    }
}

/// Runs up to eight jobs. Unused lanes compute 1·G.
fn run_eight<C: Curve>(backend: Backend, jobs: &mut [Job<'_, C>]) {
    let scalars: [Scalar<C>; LANES] = core::array::from_fn(|lane| {
        jobs.get(lane).map_or_else(Scalar::one, |job| job.key.scalar().clone())
    });
    let points: [AffinePoint<C>; LANES] = core::array::from_fn(|lane| {
        jobs.get(lane).map_or(AffinePoint::GENERATOR, |job| *job.peer.point())
    });
    let products = multiply_eight(backend, &scalars, &points);
    for (job, product) in jobs.iter_mut().zip(products) {
        job.outcome = Ok(SharedSecret::new(product));
    }
}
