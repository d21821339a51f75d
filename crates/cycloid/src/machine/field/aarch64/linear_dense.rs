//! Sums and differences modulo primes without a special form, whose top bit is unused.

use core::arch::asm;

use super::Limb;
use super::bls12_base::MODULI;
use super::bls12_scalar::MODULUS;

/// Defines a + b, 2a and a − b, for residues less than the prime `$p`.
///
/// `$s` and `$t` are limbs in registers, in pairs from the byte `$place` of a number in memory on.
macro_rules! modulo {
    (
        $n:literal $p:expr; $add:ident $double:ident $sub:ident;
        $s0:ident $t0:ident $s1:ident $t1:ident,
        $($place:literal $s:ident $t:ident $next_s:ident $next_t:ident),+
    ) => {
        /// Returns a + b; both are less than the prime, and so is the result: their sum, minus the
        /// prime unless that is negative.
        #[inline(always)]
        pub(super) fn $add(a: &[Limb; $n], b: &[Limb; $n]) -> [Limb; $n] {
            let [mut $s0, mut $s1, $(mut $s, mut $next_s),+] = *a;
            // SAFETY: as many limbs are read at `b` as it has, and the prime's.
            unsafe {
                asm!(
                    modulo!(@load $t0 $t1 "b" 0),
                    modulo!(@"adds" $s0 $s0 $t0),
                    modulo!(@"adcs" $s1 $s1 $t1),
                    $(
                        modulo!(@load $t $next_t "b" $place),
                        modulo!(@"adcs" $s $s $t),
                        modulo!(@"adcs" $next_s $next_s $next_t),
                    )+
                    modulo!(@subtract $s0 $t0 $s1 $t1, $($place $s $t $next_s $next_t),+),
                    $s0 = inout(reg) $s0,
                    $s1 = inout(reg) $s1,
                    $($s = inout(reg) $s, $next_s = inout(reg) $next_s,)+
                    $t0 = out(reg) _,
                    $t1 = out(reg) _,
                    $($t = out(reg) _, $next_t = out(reg) _,)+
                    b = in(reg) b.as_ptr(),
                    p = in(reg) $p.as_ptr(),
                    options(pure, readonly, nostack),
                );
            }
            [$s0, $s1, $($s, $next_s),+]
        }

        /// Returns 2a, which is less than the prime, as a is.
        #[inline(always)]
        pub(super) fn $double(a: &[Limb; $n]) -> [Limb; $n] {
            let [mut $s0, mut $s1, $(mut $s, mut $next_s),+] = *a;
            // SAFETY: the prime's limbs are read.
            unsafe {
                asm!(
                    modulo!(@"adds" $s0 $s0 $s0),
                    modulo!(@"adcs" $s1 $s1 $s1),
                    $(
                        modulo!(@"adcs" $s $s $s),
                        modulo!(@"adcs" $next_s $next_s $next_s),
                    )+
                    modulo!(@subtract $s0 $t0 $s1 $t1, $($place $s $t $next_s $next_t),+),
                    $s0 = inout(reg) $s0,
                    $s1 = inout(reg) $s1,
                    $($s = inout(reg) $s, $next_s = inout(reg) $next_s,)+
                    $t0 = out(reg) _,
                    $t1 = out(reg) _,
                    $($t = out(reg) _, $next_t = out(reg) _,)+
                    p = in(reg) $p.as_ptr(),
                    options(pure, readonly, nostack),
                );
            }
            [$s0, $s1, $($s, $next_s),+]
        }

        /// Returns a − b; both are less than the prime, and so is the result: their difference,
        /// plus the prime if it is negative.
        #[inline(always)]
        pub(super) fn $sub(a: &[Limb; $n], b: &[Limb; $n]) -> [Limb; $n] {
            let [mut $s0, mut $s1, $(mut $s, mut $next_s),+] = *a;
            // SAFETY: as many limbs are read at `b` as it has, and the prime's.
            unsafe {
                asm!(
                    modulo!(@load $t0 $t1 "b" 0),
                    modulo!(@"subs" $s0 $s0 $t0),
                    modulo!(@"sbcs" $s1 $s1 $t1),
                    $(
                        modulo!(@load $t $next_t "b" $place),
                        modulo!(@"sbcs" $s $s $t),
                        modulo!(@"sbcs" $next_s $next_s $next_t),
                    )+
                    modulo!(@load $t0 $t1 "p" 0),
                    $(modulo!(@load $t $next_t "p" $place),)+
                    modulo!(@keep $t0),
                    modulo!(@keep $t1),
                    $(modulo!(@keep $t), modulo!(@keep $next_t),)+
                    modulo!(@"adds" $s0 $s0 $t0),
                    modulo!(@"adcs" $s1 $s1 $t1),
                    $(
                        modulo!(@"adcs" $s $s $t),
                        modulo!(@"adcs" $next_s $next_s $next_t),
                    )+
                    $s0 = inout(reg) $s0,
                    $s1 = inout(reg) $s1,
                    $($s = inout(reg) $s, $next_s = inout(reg) $next_s,)+
                    $t0 = out(reg) _,
                    $t1 = out(reg) _,
                    $($t = out(reg) _, $next_t = out(reg) _,)+
                    b = in(reg) b.as_ptr(),
                    p = in(reg) $p.as_ptr(),
                    options(pure, readonly, nostack),
                );
            }
            [$s0, $s1, $($s, $next_s),+]
        }
    };
    // The text of one instruction.
    (@$operation:literal $d:ident $a:ident $b:ident) => {
        concat!(
            $operation, " {", stringify!($d), "}, {", stringify!($a), "}, {", stringify!($b), "}"
        )
    };
    (@load $first:ident $second:ident $from:literal $place:literal) => {
        concat!(
            "ldp {", stringify!($first), "}, {", stringify!($second), "}, [{", $from, "}, #",
            $place, "]"
        )
    };
    (@keep $t:ident) => {
        concat!("csel {", stringify!($t), "}, {", stringify!($t), "}, xzr, cc")
    };
    // The sum, minus the prime unless that is negative.
    (
        @subtract $s0:ident $t0:ident $s1:ident $t1:ident,
        $($place:literal $s:ident $t:ident $next_s:ident $next_t:ident),+
    ) => {
        concat!(
            modulo!(@load $t0 $t1 "p" 0), "\n",
            modulo!(@"subs" $t0 $s0 $t0), "\n",
            modulo!(@"sbcs" $t1 $s1 $t1), "\n",
            $(
                modulo!(@load $t $next_t "p" $place), "\n",
                modulo!(@"sbcs" $t $s $t), "\n",
                modulo!(@"sbcs" $next_t $next_s $next_t), "\n",
            )+
            modulo!(@less $s0 $t0), "\n",
            modulo!(@less $s1 $t1), "\n",
            $(modulo!(@less $s $t), "\n", modulo!(@less $next_s $next_t), "\n",)+
        )
    };
    (@less $s:ident $t:ident) => {
        concat!("csel {", stringify!($s), "}, {", stringify!($s), "}, {", stringify!($t), "}, cc")
    };
}

modulo!(6 MODULI.prime.limbs; add_6 double_6 sub_6;
    s0 t0 s1 t1, 16 s2 t2 s3 t3, 32 s4 t4 s5 t5);
modulo!(4 MODULUS.limbs; add_4 double_4 sub_4; s0 t0 s1 t1, 16 s2 t2 s3 t3);

/// Defines the plain operation `$name` on six limbs, by `$first` for the lowest limb and by `$next`
/// for the others.
macro_rules! plain {
    ($(#[$doc:meta])* $name:ident $first:literal $next:literal) => {
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
            let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5] = *a;
            // SAFETY: six limbs are read at `b`.
            unsafe {
                asm!(
                    "ldp {t0}, {t1}, [{b}]",
                    concat!($first, " {s0}, {s0}, {t0}"),
                    concat!($next, " {s1}, {s1}, {t1}"),
                    "ldp {t0}, {t1}, [{b}, #16]",
                    concat!($next, " {s2}, {s2}, {t0}"),
                    concat!($next, " {s3}, {s3}, {t1}"),
                    "ldp {t0}, {t1}, [{b}, #32]",
                    concat!($next, " {s4}, {s4}, {t0}"),
                    concat!($next, " {s5}, {s5}, {t1}"),
                    s0 = inout(reg) s0,
                    s1 = inout(reg) s1,
                    s2 = inout(reg) s2,
                    s3 = inout(reg) s3,
                    s4 = inout(reg) s4,
                    s5 = inout(reg) s5,
                    t0 = out(reg) _,
                    t1 = out(reg) _,
                    b = in(reg) b.as_ptr(),
                    options(pure, readonly, nostack),
                );
            }
            [s0, s1, s2, s3, s4, s5]
        }
    };
}

plain!(
    /// Returns a + b, which is less than 2³⁸⁴.
    add_plain_6 "adds" "adcs"
);
plain!(
    /// Returns a − b, which is not negative.
    sub_plain_6 "subs" "sbcs"
);

/// Returns p − a for a ≤ p: at most p.
#[inline(always)]
pub(super) fn negate_6(a: &[Limb; 6]) -> [Limb; 6] {
    sub_plain_6(&MODULI.prime.limbs, a)
}
