//! Assembly text for primes without a special form, in Montgomery form.
//!
//! If a prime leaves bits of its top limb unused, a sum of a few products and a multiple of the
//! prime needs no limb for the carry: rows and reduction steps alternate on a window of one limb
//! more than the prime has.

use super::super::super::words;
use super::Limb;

/// The constants that a kernel reads: p, and −1/p modulo 2⁶⁴.
#[repr(C)]
pub(super) struct Modulus<const N: usize> {
    pub(super) limbs: [Limb; N],
    n0: Limb,
}

impl<const N: usize> Modulus<N> {
    pub(super) const fn of(limbs: [Limb; N]) -> Self {
        Self { limbs, n0: words::montgomery_n0(limbs[0]) }
    }
}

/// A reduction step: clears the lowest limb of the window by adding a multiple of the prime `$p`.
/// The top limb is `fresh` or `used` as in `row!`; a fresh one may be the lowest limb itself. Needs
/// `$q` and `$t`; `$n0` is −1/p.
///
/// The low half of the lowest product is minus the lowest limb, so their sum carries unless that is
/// zero.
macro_rules! step {
    (
        $kind:ident [$p0:literal $($p:literal)+] [$q:literal $t:literal $n0:literal];
        $w0:literal $($w:literal)+
    ) => {
        concat!(
            "mul ", $q, ", ", $w0, ", ", $n0, "\n",
            "cmp ", $w0, ", #1\n",
            row!(@low $kind $q $t; [$($p)+] $($w)+),
            "umulh ", $t, ", ", $p0, ", ", $q, "\n",
            row!(@high "adds" $q $t; [$($p)+] $($w)+),
        )
    };
}

/// A row for each factor limb `$by`, preceded by the text `$before` and followed by a step. The
/// result is one limb above the lowest of the window, whose top limb is fresh.
macro_rules! rows_and_steps {
    ([] $a:tt $p:tt $s:tt; $($window:literal)+) => { "" };
    (
        [$before:literal $by:literal $($more:literal)*] $a:tt $p:tt
        [$q:literal $t:literal $n0:literal]; $low:literal $($rest:literal)+
    ) => {
        concat!(
            $before,
            row!(fresh $by $t; $a $low $($rest)+),
            step!(used $p [$q $t $n0]; $low $($rest)+),
            rows_and_steps!([$($more)*] $a $p [$q $t $n0]; $($rest)+ $low),
        )
    };
}

/// A step for each limb `$k`, on a window as long as the prime, whose lowest limb becomes the top
/// one each time. The result is at most the prime.
macro_rules! reduction_steps {
    ([] $p:tt $s:tt; $($window:literal)+) => { "" };
    ([$k:literal $($more:literal)*] $p:tt $s:tt; $low:literal $($rest:literal)+) => {
        concat!(
            step!(fresh $p $s; $low $($rest)+ $low),
            reduction_steps!([$($more)*] $p $s; $($rest)+ $low),
        )
    };
}

/// `$w` = the number below 2p in `$w`, minus `$p` unless that is negative. Needs `$t`.
macro_rules! subtract_modulus {
    ($w:tt $p:tt $t:tt) => {
        concat!(chain!("subs" "sbcs"; $t $w $p), select_limbs!("cc"; $w $w $t))
    };
}
