//! The steps of a private operation, for measurements.

/// A step of a private operation, ordered by first occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Converting the input to a number: padding, masks.
    Representation,
    /// Blinding the message; later unblinding the result and squaring the factors.
    Blinding,
    /// Raising to powers modulo both primes.
    Exponentiation,
    /// Combining the two halves (RFC 8017, section 5.1.2, step 2.b).
    Recombination,
    /// Raising the result to the public exponent and comparing.
    Verification,
    /// Writing the result to its destination; removing padding.
    Delivery,
}
