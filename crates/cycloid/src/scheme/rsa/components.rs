//! The parts of a private key, as a file or another program has them.

/// The parts of a key as in PKCS #1 (RFC 8017, appendix A.1.2), all big-endian; leading zeros are
/// allowed.
///
/// An empty or zero part is missing, and is computed: both primes from the exponents; the private
/// exponent from the primes; `exponent1`, `exponent2` and `coefficient` from the primes. With
/// `other_primes` no part may be missing.
///
/// ```
/// # use cycloid::scheme::rsa::{Error, KeyPair, PrivateComponents};
/// # fn example(n: &[u8], d: &[u8]) -> Result<KeyPair, Error> {
/// KeyPair::from_components(&PrivateComponents {
///     modulus: n,
///     public_exponent: &[1, 0, 1],
///     private_exponent: d,
///     ..PrivateComponents::default()
/// })
/// # }
/// ```
#[derive(Clone, Copy, Default)]
pub struct PrivateComponents<'a> {
    /// n = p·q.
    pub modulus: &'a [u8],
    /// e.
    pub public_exponent: &'a [u8],
    /// d.
    pub private_exponent: &'a [u8],
    /// p.
    pub prime1: &'a [u8],
    /// q.
    pub prime2: &'a [u8],
    /// d mod (p − 1).
    pub exponent1: &'a [u8],
    /// d mod (q − 1).
    pub exponent2: &'a [u8],
    /// 1/q mod p.
    pub coefficient: &'a [u8],
    /// The third prime and further ones, at most three.
    pub other_primes: &'a [OtherPrime<'a>],
}

/// A third prime of a key or a further one, as in OtherPrimeInfo of PKCS #1 (RFC 8017, appendix
/// A.1.2): big-endian; leading zeros are allowed.
#[derive(Clone, Copy, Default)]
pub struct OtherPrime<'a> {
    /// r.
    pub prime: &'a [u8],
    /// d mod (r − 1).
    pub exponent: &'a [u8],
    /// The inverse, modulo r, of the product of all primes before it.
    pub coefficient: &'a [u8],
}
