//! What a private operation consists of, for whoever measures it.

/// A step of a private operation, in the order of their first beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The input becomes a number: padding, masks.
    Representation,
    /// The message is blinded; later the result is unblinded, and the factors are squared.
    Blinding,
    /// The powers modulo both primes.
    Exponentiation,
    /// The two halves become one number (RFC 8017, section 5.1.2, step 2.b).
    Recombination,
    /// The result is raised to the public exponent and compared.
    Verification,
    /// The result goes to where it was asked for; padding is taken off.
    Delivery,
}
