//! The assembly text of primes without a special form, in Montgomery's form.
//!
//! Where a prime leaves bits of its top limb unused, a sum of a few products and a multiple of the
//! prime needs no limb for the carry: a row and a step of the reduction take turns on a window of
//! one limb more than the prime has.

use super::super::super::words;
use super::Limb;

/// What a kernel reads: −1/p modulo 2⁶⁴, and p.
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

/// `limbs = [rsi] · $by`, as `first_row!`, and `rbp` and both flags zero.
///
/// The flags go through ADCX here as in the rows that follow: behind a chain of ADC those are slower.
macro_rules! opening_row {
    ($by:literal; [$j:literal $($js:literal)+] $low:literal $high:literal $($rest:literal)+) => {
        concat!(
            "mov rdx, ", $by, "\n",
            "xor ebp, ebp\n",
            "mulx ", $high, ", ", $low, ", [rsi + 8*", $j, "]\n",
            opening_row!(@"rsi" [$($js)+] $high $($rest)+),
        )
    };
    (@$base:literal [] $top:literal) => { concat!("adcx ", $top, ", rbp\n") };
    (
        @$base:literal [$j:literal $($js:literal)*]
        $low:literal $high:literal $($rest:literal)*
    ) => {
        concat!(
            "mulx ", $high, ", rax, [", $base, " + 8*", $j, "]\n",
            "adcx ", $low, ", rax\n",
            opening_row!(@$base [$($js)*] $high $($rest)*),
        )
    };
}

/// A step of the reduction: the lowest limb is cleared by adding a multiple of the prime, the places
/// `$j` of `[$p]`. The top limb is `fresh` or `used` as in `row!`.
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

/// A row for each factor limb `$by`, and a step after each: what is left is one limb up from the
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

/// Row `$i` of a square: the limb `$i` of the number at `[rcx]` times itself, times twice `$next`, the
/// limb above, and times the limbs `$j`, at `[rsp]`, of twice the number. That is added to the
/// limbs, of which the top one is fresh.
macro_rules! square_row {
    ($i:literal $next:literal $js:tt $even:literal $odd:literal $($limb:literal)+) => {
        concat!(
            "mov rdx, [rcx + 8*", $i, "]\n",
            "mov rdi, ", $next, "\n",
            "add rdi, rdi\n",
            "xor eax, eax\n",
            "mulx rbx, rax, rdx\n",
            "adcx ", $even, ", rax\n",
            "adox ", $odd, ", rbx\n",
            square_row!(@$js $odd $($limb)+),
        )
    };
    (@[] $odd:literal $top:literal) => {
        concat!(
            "mulx ", $top, ", rax, rdi\n",
            "adcx ", $odd, ", rax\n",
            "adcx ", $top, ", rbp\n",
            "adox ", $top, ", rbp\n",
        )
    };
    (@$js:tt $odd:literal $even:literal $($limb:literal)+) => {
        concat!(
            "mulx rbx, rax, rdi\n",
            "adcx ", $odd, ", rax\n",
            "adox ", $even, ", rbx\n",
            row!(@fresh "rsp" "rbp" $js $even $($limb)+),
        )
    };
}

/// Row 0 of a square, as `square_row!` and `opening_row!`; all limbs are fresh.
macro_rules! opening_square_row {
    ($js:tt $w0:literal $w1:literal $w2:literal $($w:literal)+) => {
        concat!(
            "mov rdx, [rcx]\n",
            "mov rdi, [rcx + 8]\n",
            "add rdi, rdi\n",
            "xor ebp, ebp\n",
            "mulx ", $w1, ", ", $w0, ", rdx\n",
            "mulx ", $w2, ", rax, rdi\n",
            "adcx ", $w1, ", rax\n",
            opening_row!(@"rsp" $js $w2 $($w)+),
        )
    };
}

/// The last row of a square: the top limb times itself. The top limb of it is fresh.
macro_rules! last_square_row {
    ($i:literal $low:literal $top:literal) => {
        concat!(
            "mov rdx, [rcx + 8*",
            $i,
            "]\n",
            "mulx ",
            $top,
            ", rax, rdx\n",
            "add ",
            $low,
            ", rax\n",
            "adc ",
            $top,
            ", 0\n",
        )
    };
}

/// A step for each place `$k`, on a window as long as the prime, whose lowest limb becomes the top
/// one each time. What is left is at most the prime.
macro_rules! steps {
    ([] $p:literal $ps:tt $($window:literal)+) => { "" };
    ([$k:literal $($more:literal)*] $p:literal $ps:tt $low:literal $($rest:literal)+) => {
        concat!(
            step!(fresh $p $ps $low $($rest)+ $low),
            steps!([$($more)*] $p $ps $($rest)+ $low),
        )
    };
}

/// `$t` = the number below 2p in `$w`, less p where that is not negative.
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
