//! Assembly text for primes without a special form, in Montgomery form.
//!
//! If a prime leaves bits of its top limb unused, a sum of a few products and a multiple of the
//! prime needs no limb for the carry: rows and reduction steps alternate on a window of one limb
//! more than the prime has.

use super::super::super::words;
use super::Limb;

/// The constants that a kernel reads: −1/p modulo 2⁶⁴, and p.
#[repr(C)]
pub(super) struct Modulus<const N: usize> {
    n0: Limb,
    limbs: [Limb; N],
}

impl<const N: usize> Modulus<N> {
    pub(super) const fn of(limbs: [Limb; N]) -> Self {
        Self { n0: words::montgomery_n0(limbs[0]), limbs }
    }
}

/// A reduction step: clears the lowest limb by adding a multiple of the prime, with limbs `$j` of
/// `[$p]`. The top limb is `fresh` or `used` as in `row!`.
macro_rules! step {
    ($kind:ident $p:literal $js:tt $low:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, [", $p, "]\n",
            "imul rdx, ", $low, "\n",
            "xor eax, eax\n",
            row!(@$kind $p "rbp" $js $low $($rest)+),
        )
    };
}

/// A row for each factor limb `$by`, each followed by a step. The result is one limb above the
/// lowest of the window, whose top limb is fresh.
macro_rules! rows_and_steps {
    ([] $p:literal $js:tt $ps:tt $($window:literal)+) => { "" };
    (
        [$by:literal $($more:literal)*] $p:literal $js:tt $ps:tt
        $low:literal $($rest:literal)+
    ) => {
        concat!(
            row!(fresh $by; $js $low $($rest)+),
            step!(used $p $ps $low $($rest)+),
            rows_and_steps!([$($more)*] $p $js $ps $($rest)+ $low),
        )
    };
}

/// Row 0 of a square, like `square_row!` on the stack and `first_row!`; all limbs are fresh.
macro_rules! first_square_row {
    ($js:tt $w0:literal $w1:literal $w2:literal $($w:literal)+) => {
        concat!(
            "mov rdx, [rcx]\n",
            "mov rdi, [rcx + 8]\n",
            "add rdi, rdi\n",
            "xor ebp, ebp\n",
            "mulx ", $w1, ", ", $w0, ", rdx\n",
            "mulx ", $w2, ", rax, rdi\n",
            "adcx ", $w1, ", rax\n",
            first_row!(@"rsp" "rbp" $js $w2 $($w)+),
        )
    };
}

/// The last row of a square: the top limb times itself. Its top limb is fresh.
#[rustfmt::skip]
macro_rules! last_square_row {
    ($i:literal $low:literal $top:literal) => {
        concat!(
            "mov rdx, [rcx + 8*", $i, "]\n",
            "mulx ", $top, ", rax, rdx\n",
            "add ", $low, ", rax\n",
            "adc ", $top, ", 0\n",
        )
    };
}

/// A step for each limb `$k`, on a window as long as the prime, whose lowest limb becomes the top
/// one each time. The result is at most the prime.
macro_rules! steps {
    ([] $p:literal $ps:tt $($window:literal)+) => { "" };
    ([$k:literal $($more:literal)*] $p:literal $ps:tt $low:literal $($rest:literal)+) => {
        concat!(
            step!(fresh $p $ps $low $($rest)+ $low),
            steps!([$($more)*] $p $ps $($rest)+ $low),
        )
    };
}

/// `$t` = the number below 2p in `$w`, minus p unless that is negative.
macro_rules! subtract_modulus {
    ($p:literal [$j:literal $($js:literal)+] $($w:literal)+; $t:literal $($ts:literal)+) => {
        concat!(
            subtract_modulus!(@"mov" [$($w)+] $t $($ts)+),
            "sub ", $t, ", [", $p, " + 8*", $j, "]\n",
            $("sbb ", $ts, ", [", $p, " + 8*", $js, "]\n",)+
            subtract_modulus!(@"cmovc" [$($w)+] $t $($ts)+),
        )
    };
    (@$move:literal [$($w:literal)+] $($t:literal)+) => {
        concat!($($move, " ", $t, ", ", $w, "\n",)+)
    };
}
