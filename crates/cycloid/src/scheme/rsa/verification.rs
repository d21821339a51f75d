//! Signature verification, single and in batches: eight at a time where the processor has vectors.
//! All values are public.

use super::digest_info::DigestInfo;
use super::eight::whole_lanes;
use super::padding::pkcs1v15;
use super::padding::pss::{self, Salt};
use super::parameters::Pss;
use super::public::{PublicKey, verify_scratch_limbs};
use super::{Error, Hash, Restriction, checked_memory, limbs};
use crate::machine::lanes::{self, Backend, LANES, LaneWords, Lanes, Multiplication};
use crate::machine::words::{self, Limb};
use crate::math::modular::Residues8;
use crate::scheme::hash::DigestBytes;

/// The padding scheme of a signature.
#[derive(Clone, Copy)]
pub(super) enum Scheme {
    Pkcs1v15,
    Pss { mask_hash: Hash, salt: Salt },
}

impl Scheme {
    pub(super) const fn pss(pss: Pss) -> Self {
        Self::Pss { mask_hash: pss.mask_hash, salt: Salt::Exactly(pss.salt_length) }
    }

    /// Returns PSS with one hash function, and with a salt of any length if none is given.
    pub(super) fn pss_of(hash: Hash, salt_length: Option<usize>) -> Self {
        let salt = salt_length.map_or(Salt::AtLeast(0), Salt::Exactly);
        Self::Pss { mask_hash: hash, salt }
    }

    /// Returns the scheme that a key with the restriction accepts for a digest by `hash`. A salt of
    /// any length becomes one of at least the key's minimum.
    fn under(self, restriction: Restriction, hash: Hash) -> Result<Self, Error> {
        match self {
            Self::Pkcs1v15 => {
                hash.check_suits_pkcs1v15()?;
                restriction.allows_all().map(|()| self)
            }
            Self::Pss { mask_hash, salt: Salt::Exactly(salt_length) } => {
                restriction.allows_pss(Pss { hash, mask_hash, salt_length }).map(|()| self)
            }
            Self::Pss { mask_hash, salt: Salt::AtLeast(given) } => {
                let least = restriction.least_salt(hash, mask_hash)?;
                Ok(Self::Pss { mask_hash, salt: Salt::AtLeast(given.max(least)) })
            }
        }
    }

    /// Returns whether `encoded`, the signature raised to the public exponent, is a valid encoding
    /// of the digest. Destroys it.
    fn check(
        self,
        encoded: &mut [u8],
        modulus_bits: usize,
        hash: Hash,
        digest: &[u8],
    ) -> Result<(), Error> {
        let valid = match self {
            Self::Pkcs1v15 => {
                pkcs1v15::is_encoding_of(encoded, DigestInfo::known(hash, digest).as_ref())
            }
            Self::Pss { mask_hash, salt } => {
                let (hash, mask_hash) = (hash.into(), mask_hash.into());
                pss::is_encoding_of(encoded, modulus_bits, hash, mask_hash, digest, salt)
            }
        };
        if valid { Ok(()) } else { Err(Error::Signature) }
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Verifies one signature of a digest.
    pub(super) fn verify(
        &self,
        scheme: Scheme,
        hash: Hash,
        digest: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        if digest.len() != hash.digest_length() {
            return Err(Error::DigestLength);
        }
        let scheme = scheme.under(self.restriction(), hash)?;
        scheme.check(self.opened(signature, scratch)?, self.bits(), hash, digest)
    }

    /// Verifies an RSASSA-PKCS1-v1_5 signature of a digest by any hash function. `scratch` has at
    /// least [`verify_scratch_limbs`]. All values are public.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::MemoryTooSmall`], [`Error::Restricted`].
    pub fn verify_digest_info(
        &self,
        info: &DigestInfo,
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.restriction().allows_all()?;
        let encoded = self.opened(signature, scratch)?;
        if pkcs1v15::is_encoding_of(encoded, info.as_ref()) {
            Ok(())
        } else {
            Err(Error::Signature)
        }
    }

    /// Returns the signature raised to the public exponent, as long as the modulus.
    pub(super) fn opened<'s>(
        &self,
        signature: &[u8],
        scratch: &'s mut [Limb],
    ) -> Result<&'s mut [u8], Error> {
        let scratch = checked_memory(scratch, verify_scratch_limbs(self.bits()))?;
        let n = limbs(self.bits());
        let (s, rest) = scratch.split_at_mut(n);
        let (m, rest) = rest.split_at_mut(n);
        self.load(s, signature)?;
        self.raise(m, s, rest);
        let encoded = &mut words::as_bytes_mut(s)[..self.length()];
        words::to_be_bytes(encoded, m);
        Ok(encoded)
    }
}

/// A signature to verify, and its outcome once it has been verified.
pub struct VerifyJob<'a> {
    key: PublicKey<&'a [Limb]>,
    /// The scheme, or the reason why the key does not permit it.
    scheme: Result<Scheme, Error>,
    hash: Hash,
    digest: Option<DigestBytes>,
    signature: &'a [u8],
    outcome: Result<(), Error>,
}

impl<'a> VerifyJob<'a> {
    fn new<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        scheme: Scheme,
        hash: Hash,
        digest: &[u8],
        signature: &'a [u8],
    ) -> Self {
        let digest = DigestBytes::known(hash, digest);
        let scheme = scheme.under(key.restriction(), hash);
        let outcome = Err(Error::NotDone);
        Self { key: key.borrowed(), scheme, hash, digest, signature, outcome }
    }

    /// Creates a verification like [`PublicKey::verify_pkcs1v15`].
    pub fn pkcs1v15<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        hash: Hash,
        message: &[u8],
        signature: &'a [u8],
    ) -> Self {
        Self::pkcs1v15_prehashed(key, hash, &hash.digest(&[message]), signature)
    }

    /// Creates a verification like [`PublicKey::verify_pkcs1v15_prehashed`].
    pub fn pkcs1v15_prehashed<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        hash: Hash,
        digest: &[u8],
        signature: &'a [u8],
    ) -> Self {
        Self::new(key, Scheme::Pkcs1v15, hash, digest, signature)
    }

    /// Creates a verification like [`PublicKey::verify_pss`].
    pub fn pss<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        hash: Hash,
        message: &[u8],
        signature: &'a [u8],
    ) -> Self {
        Self::pss_with(key, Pss::new(hash), &hash.digest(&[message]), signature)
    }

    /// Creates a verification like [`PublicKey::verify_pss_prehashed`].
    pub fn pss_prehashed<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        hash: Hash,
        digest: &[u8],
        salt_length: Option<usize>,
        signature: &'a [u8],
    ) -> Self {
        Self::new(key, Scheme::pss_of(hash, salt_length), hash, digest, signature)
    }

    /// Creates a verification like [`PublicKey::verify_pss_with`].
    pub fn pss_with<M: AsRef<[Limb]>>(
        key: &'a PublicKey<M>,
        pss: Pss,
        digest: &[u8],
        signature: &'a [u8],
    ) -> Self {
        Self::new(key, Scheme::pss(pss), pss.hash, digest, signature)
    }

    /// Returns whether the signature is valid, once [`verify_batch`] has processed it.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is invalid; [`Error::DigestLength`], [`Error::MemoryTooSmall`];
    /// [`Error::Restricted`], [`Error::RestrictedPss`]; [`Error::NotDone`] before [`verify_batch`].
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }

    /// Checks the signature raised to the public exponent, and stores the outcome.
    fn check(&mut self, m: &[Limb], room: &mut [Limb]) {
        let encoded = &mut words::as_bytes_mut(room)[..self.key.length()];
        words::to_be_bytes(encoded, m);
        let digest = self.digest.as_deref().unwrap_or(&[]);
        let check = |scheme: Scheme| scheme.check(encoded, self.key.bits(), self.hash, digest);
        self.outcome = self.scheme.and_then(check);
    }
}

impl core::fmt::Debug for VerifyJob<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::VerifyJob({:?}, {:?})", self.key, self.outcome)
    }
}

/// Returns the limbs of scratch for [`verify_batch`] with keys of at most `bits` bits.
pub const fn verify_batch_scratch_limbs(bits: usize) -> usize {
    let n = whole_lanes(bits);
    let eight = 6 * n + lanes::montgomery_work_lanes(n) + 2 * limbs(bits).div_ceil(LANES);
    let one = verify_scratch_limbs(bits).div_ceil(LANES);
    Lanes::limbs_for(if eight > one { eight } else { one })
}

/// Verifies many signatures, with keys of any lengths; each has its outcome afterwards.
///
/// `scratch` has at least [`verify_batch_scratch_limbs`] for the longest key.
///
/// ```
/// # use cycloid::scheme::{Hash, rsa::{self, PublicKey, VerifyJob}};
/// # fn example(keys: &[PublicKey<Vec<u64>>], signatures: &[Vec<u8>]) -> Result<(), rsa::Error> {
/// let mut scratch = [0; rsa::verify_batch_scratch_limbs(4096)];
/// let mut verifications: Vec<VerifyJob<'_>> = keys
///     .iter()
///     .zip(signatures)
///     .map(|(key, signature)| VerifyJob::pss(key, Hash::Sha256, b"message", signature))
///     .collect();
/// rsa::verify_batch(&mut verifications, &mut scratch);
/// for verification in &verifications {
///     verification.outcome()?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn verify_batch(verifications: &mut [VerifyJob<'_>], scratch: &mut [Limb]) {
    verify_batch_with(Backend::best(), verifications, scratch);
}

/// Like [`verify_batch`], on a backend chosen by the caller; with `None`, one by one.
pub fn verify_batch_with(
    backend: Option<Backend>,
    verifications: &mut [VerifyJob<'_>],
    scratch: &mut [Limb],
) {
    let given = scratch.len();
    for verification in verifications.iter_mut() {
        let bits = verification.key.bits();
        verification.outcome = if verification.digest.is_none() {
            Err(Error::DigestLength)
        } else if let Err(error) = verification.scheme {
            Err(error)
        } else if given < verify_batch_scratch_limbs(bits) {
            Err(Error::MemoryTooSmall { needed: verify_batch_scratch_limbs(bits), given })
        } else {
            Err(Error::NotDone)
        };
    }
    let scratch = Lanes::aligned_mut(scratch);
    // Takes up to eight of one length at a time, starting with the first remaining one.
    let mut first = 0;
    while first < verifications.len() {
        if verifications[first].outcome != Err(Error::NotDone) {
            first += 1;
            continue;
        }
        let bits = verifications[first].key.bits();
        let alike = |VerifyJob { key, outcome, .. }: &VerifyJob<'_>| {
            *outcome == Err(Error::NotDone) && limbs(key.bits()) == limbs(bits)
        };
        let mut group = [0; LANES];
        let mut count = 0;
        let rest = verifications.iter().enumerate().skip(first);
        for (i, _) in rest.filter(|(_, verification)| alike(verification)).take(LANES) {
            group[count] = i;
            count += 1;
        }
        let group = &group[..count];
        match backend {
            Some(backend) if count > faster_alone(backend) => {
                verify_eight(backend, verifications, group, scratch);
            }
            _ => group.iter().for_each(|i| verify_one(&mut verifications[*i], scratch)),
        }
    }
}

/// Returns how many verifications take less time one by one than eight at once.
const fn faster_alone(backend: Backend) -> usize {
    match backend.multiplication() {
        Multiplication::OneByOne => 0,
        Multiplication::Integer => 1,
        Multiplication::FloatingPoint => 4,
    }
}

fn verify_one(verification: &mut VerifyJob<'_>, scratch: &mut [Lanes]) {
    let VerifyJob { key, scheme, hash, digest, signature, .. } = verification;
    let digest = digest.as_deref().unwrap_or(&[]);
    let scratch = Lanes::as_limbs_mut(scratch);
    let verify = |scheme| key.verify(scheme, *hash, digest, signature, scratch);
    verification.outcome = scheme.and_then(verify);
}

/// Verifies the signatures of a group of at most eight, whose moduli have the same number of limbs.
fn verify_eight(
    backend: Backend,
    verifications: &mut [VerifyJob<'_>],
    group: &[usize],
    scratch: &mut [Lanes],
) {
    let n = limbs(verifications[group[0]].key.bits());
    let (number, scratch) = scratch.split_at_mut(whole_lanes(verifications[group[0]].key.bits()));
    let (room, scratch) = scratch.split_at_mut(2 * n.div_ceil(LANES));
    let (m, room) = Lanes::as_limbs_mut(room).split_at_mut(n);
    number.fill(Lanes::ZERO);
    for (lane, i) in group.iter().enumerate() {
        let VerifyJob { key, signature, outcome, .. } = &mut verifications[*i];
        match key.load(m, signature) {
            Ok(()) => lanes::load(number, lane, m),
            Err(error) => *outcome = Err(error),
        }
    }
    // An unused lane raises 0.
    let keys = core::array::from_fn(|lane| {
        verifications[group.get(lane).copied().unwrap_or(group[0])].key
    });
    backend.run(RaiseEight { keys, number, scratch });
    for (lane, i) in group.iter().enumerate() {
        let verification = &mut verifications[*i];
        if verification.outcome == Err(Error::NotDone) {
            lanes::store(m, number, lane);
            verification.check(m, room);
        }
    }
}

/// Computes `number = number^e mod n` in each lane, for keys with the same number of limbs.
struct RaiseEight<'a, 'm> {
    keys: [PublicKey<&'a [Limb]>; LANES],
    /// Less than the moduli; [`whole_lanes`].
    number: &'m mut [Lanes],
    /// Five times as much, and the scratch of a product.
    scratch: &'m mut [Lanes],
}

impl lanes::Task for RaiseEight<'_, '_> {
    type Output = ();

    fn run<L: LaneWords>(self, backend: L) {
        let Self { keys, number, scratch } = self;
        let n = number.len();
        let (modulus, scratch) = scratch.split_at_mut(n);
        let (r_squared, scratch) = scratch.split_at_mut(n);
        let (room, work) = scratch.split_at_mut(3 * n);
        lanes::load_all(modulus, core::array::from_fn(|lane| keys[lane].modulus_limbs()));
        let mut residues = Residues8::new(backend, modulus, work);
        let known = core::array::from_fn(|lane| keys[lane].r_squared());
        residues.r_squared_from(r_squared, known, &mut room[..n]);
        let exponents = keys.map(|key| key.exponent());
        residues.pow_vartime(number, &exponents, r_squared, room);
    }
}
