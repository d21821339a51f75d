//! Measures functions of both libraries in turns, and prints blst's processor time divided by
//! Cycloid's.
//!
//! `cargo run --release -p cycloid-blst-h --example compare`

// Every call passes references and arrays as long as blst's header says.
#![allow(clippy::undocumented_unsafe_blocks)]

use std::hint::black_box;

use cycloid_blst_h as ours;

/// The number of rounds. The fastest one is printed.
const ROUNDS: usize = 15;

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Returns the processor time of this process, in nanoseconds, as Linux counts it.
fn processor_time() -> f64 {
    const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;
    let mut time = [0; 2];
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time[0] as f64 * 1e9 + time[1] as f64
}

/// Prints a row: nanoseconds of each, and the ratio.
fn row(name: &str, repetitions: usize, mut first: impl FnMut(), mut second: impl FnMut()) {
    let time = |work: &mut dyn FnMut()| {
        let start = processor_time();
        (0..repetitions).for_each(|_| work());
        (processor_time() - start) / repetitions as f64
    };
    let (mut a, mut b) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        a = a.min(time(&mut first));
        b = b.min(time(&mut second));
    }
    println!("{name:28} {a:14.1} {b:14.1} {:8.2}", b / a);
}

/// Compares one function of both.
macro_rules! compare {
    ($repetitions:expr, $name:ident($($argument:expr),*)) => {
        row(
            stringify!($name),
            $repetitions,
            || { black_box(unsafe { ours::$name($($argument.cast()),*) }); },
            || { black_box(unsafe { blst::$name($($argument.cast()),*) }); },
        )
    };
    ($repetitions:expr, $name:ident($($argument:expr),*), $last:expr) => {
        row(
            stringify!($name),
            $repetitions,
            || { black_box(unsafe { ours::$name($($argument.cast(),)* $last) }); },
            || { black_box(unsafe { blst::$name($($argument.cast(),)* $last) }); },
        )
    };
}

fn main() {
    println!("{:28} {:>14} {:>14} {:>8}", "", "Cycloid, ns", "blst, ns", "ratio");
    let mut fr = [[7u64, 8, 9, 10]; 3];
    let mut fp = [[7u64, 8, 9, 10, 11, 12]; 3];
    let mut fp2 = [[[7u64, 8, 9, 10, 11, 12]; 2]; 3];
    let (o, a, b) = parts(&mut fr);
    compare!(100_000, blst_fr_add(o, a, b));
    compare!(100_000, blst_fr_mul(o, a, b));
    compare!(1_000, blst_fr_eucl_inverse(o, a));
    let (o, a, b) = parts(&mut fp);
    compare!(100_000, blst_fp_add(o, a, b));
    compare!(100_000, blst_fp_mul(o, a, b));
    compare!(100_000, blst_fp_sqr(o, a));
    compare!(1_000, blst_fp_inverse(o, a));
    let (o, a, b) = parts(&mut fp2);
    compare!(100_000, blst_fp2_mul(o, a, b));
    compare!(100_000, blst_fp2_sqr(o, a));
    let scalar = [0x5au8; 32];
    let k = scalar.as_ptr();
    let dst = [1u8; 43];
    let d = dst.as_ptr();
    let mut p1 = [[[0u64; 6]; 3]; 3];
    let mut p1_affine = [[0u64; 6]; 2];
    let mut p2 = [[[[0u64; 6]; 2]; 3]; 3];
    let mut p2_affine = [[[0u64; 6]; 2]; 2];
    let mut bytes = [0u8; 192];
    unsafe {
        for (i, p) in p1.iter_mut().enumerate() {
            ours::blst_p1_mult(p, ours::blst_p1_generator(), k.add(i), 200);
        }
        for (i, p) in p2.iter_mut().enumerate() {
            ours::blst_p2_mult(p, ours::blst_p2_generator(), k.add(i), 200);
        }
        ours::blst_p1_to_affine(&mut p1_affine, &p1[2]);
        ours::blst_p2_to_affine(&mut p2_affine, &p2[2]);
    }
    let (f1, f2) = (&raw const p1_affine, &raw const p2_affine);
    let (m1, m2, w) = (&raw mut p1_affine, &raw mut p2_affine, bytes.as_mut_ptr());
    let (o, a, b) = parts(&mut p1);
    compare!(10_000, blst_p1_add_or_double(o, a, b));
    compare!(10_000, blst_p1_add_or_double_affine(o, a, f1));
    compare!(10_000, blst_p1_double(o, a));
    compare!(100, blst_p1_mult(o, a, k), 255);
    compare!(100, blst_p1_in_g1(a));
    compare!(100, blst_p1_compress(w, a));
    compare!(100, blst_p1_uncompress(m1, w));
    let hash = |o: *mut u8| {
        row(
            "blst_hash_to_g1",
            100,
            || unsafe { ours::blst_hash_to_g1(o.cast(), d, 32, d, 43, d, 0) },
            || unsafe { blst::blst_hash_to_g1(o.cast(), d, 32, d, 43, d, 0) },
        );
    };
    hash(o.cast());
    let (o, a, b) = parts(&mut p2);
    compare!(10_000, blst_p2_add_or_double(o, a, b));
    compare!(10_000, blst_p2_double(o, a));
    compare!(100, blst_p2_mult(o, a, k), 255);
    compare!(100, blst_p2_in_g2(a));
    compare!(100, blst_p2_compress(w, a));
    compare!(100, blst_p2_uncompress(m2, w));
    row(
        "blst_hash_to_g2",
        100,
        || unsafe { ours::blst_hash_to_g2(o.cast(), d, 32, d, 43, d, 0) },
        || unsafe { blst::blst_hash_to_g2(o.cast(), d, 32, d, 43, d, 0) },
    );
    compare!(100, blst_sign_pk_in_g1(o, a, k));
    let mut f = [[[[0u64; 6]; 2]; 6]; 3];
    let (o, a, b) = parts(&mut f);
    compare!(50, blst_miller_loop(o, f2, f1));
    unsafe { ours::blst_miller_loop(a, f2, f1) };
    unsafe { ours::blst_miller_loop(b, f2, f1) };
    compare!(10_000, blst_fp12_mul(o, a, b));
    compare!(10_000, blst_fp12_sqr(o, a));
    compare!(10_000, blst_fp12_cyclotomic_sqr(o, a));
    compare!(50, blst_final_exp(o, a));
    lists();
}

/// Returns pointers to an output and two inputs.
fn parts<T>(all: &mut [T; 3]) -> (*mut T, *mut T, *mut T) {
    let at = all.as_mut_ptr();
    // SAFETY: there are three.
    unsafe { (at, at.add(1), at.add(2)) }
}

fn lists() {
    println!("lists");
    for n in [16usize, 256, 4096] {
        let mut points = vec![[[0u64; 6]; 3]; n];
        let mut affine = vec![[[0u64; 6]; 2]; n];
        let mut scalars = vec![[0u8; 32]; n];
        for (i, (point, scalar)) in points.iter_mut().zip(&mut scalars).enumerate() {
            for (j, byte) in scalar.iter_mut().take(31).enumerate() {
                *byte = (((i + 1) * (j + 3) * 2_654_435_761) >> 13) as u8;
            }
            unsafe { ours::blst_p1_mult(point, ours::blst_p1_generator(), scalar.as_ptr(), 64) };
        }
        let list = [points.as_ptr(), core::ptr::null()];
        let (list, out) = (list.as_ptr(), affine.as_mut_ptr());
        let times = 8192 / n;
        row(
            &format!("blst_p1s_to_affine {n}"),
            times,
            || unsafe { ours::blst_p1s_to_affine(out, list, n) },
            || unsafe { blst::blst_p1s_to_affine(out.cast(), list.cast(), n) },
        );
        let list = [affine.as_ptr(), core::ptr::null()];
        let keys = [scalars.as_ptr().cast::<u8>(), core::ptr::null()];
        let (list, keys, mut sum) = (list.as_ptr(), keys.as_ptr(), [[0u64; 6]; 3]);
        let sum = &raw mut sum;
        row(
            &format!("blst_p1s_add {n}"),
            times,
            || unsafe { ours::blst_p1s_add(sum, list, n) },
            || unsafe { blst::blst_p1s_add(sum.cast(), list.cast(), n) },
        );
        let size = unsafe {
            ours::blst_p1s_mult_pippenger_scratch_sizeof(n)
                .max(blst::blst_p1s_mult_pippenger_scratch_sizeof(n))
        };
        let mut scratch = vec![0u64; size / 8];
        let at = scratch.as_mut_ptr();
        row(
            &format!("blst_p1s_mult_pippenger {n}"),
            (512 / n).max(1),
            || unsafe { ours::blst_p1s_mult_pippenger(sum, list, n, keys, 255, at) },
            || unsafe { blst::blst_p1s_mult_pippenger(sum.cast(), list.cast(), n, keys, 255, at) },
        );
    }
}
