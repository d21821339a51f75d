//! Code with one leak of each kind, and code without leaks.

use std::arch::{asm, is_x86_feature_detected};
use std::hint::black_box;

use taint_trace::{Kind, is_secret, marker, public, secret, trace};

pub(crate) const ALL: [(&str, fn()); 13] = [
    ("a branch", branch),
    ("flags after shifts", shifted),
    ("an address", address),
    ("a division", division),
    ("a target of a call", target),
    ("a count of a string instruction", count),
    ("a mask of a memory access", mask),
    ("an index of a gather", gather),
    ("a denormal number", denormal),
    ("a comparison that ends early", early_end),
    ("a bit search in a public number", bit_search),
    ("markers", markers),
    ("code without a leak, and equal digests", clean),
];

/// Returns the kinds of leaks of `work` on a secret word. None may be found if the word is public.
fn kinds(word: u64, work: fn(&[u64; 8]) -> u64) -> Vec<Kind> {
    let words = black_box([word; 8]);
    public(&words);
    let (_, report) = trace(|| work(black_box(&words)));
    // These two do not depend on the secret.
    let regardless = [Kind::Denormal, Kind::NotModelled];
    let regardless = report.findings.iter().all(|finding| regardless.contains(&finding.kind));
    assert!(regardless, "nothing is secret: {:?}", report.findings);
    secret(&words);
    let (_, report) = trace(|| work(black_box(&words)));
    // The next test has its variables in the same memory.
    public(&words);
    let mut kinds: Vec<Kind> = report.findings.iter().map(|finding| finding.kind).collect();
    for finding in &report.findings {
        assert!(!finding.instruction.is_empty());
    }
    kinds.dedup();
    kinds
}

fn branch() {
    let found = kinds(3, |words| {
        let mut result = 1_u64;
        // SAFETY: conditionally jumps over an instruction.
        unsafe {
            asm!("test {0}, 1", "jz 2f", "inc {1}", "2:", in(reg) words[0], inout(reg) result);
        }
        result
    });
    assert_eq!(found, [Kind::Branch]);
}

/// A shift by a constant replaces the flags of a secret; one by a register may be by zero, and a
/// rotation leaves the zero flag as it is.
fn shifted() {
    macro_rules! jumps_after {
        ($shift:literal) => {
            kinds(3, |words| {
                let mut result = 1_u64;
                // SAFETY: conditionally jumps over an instruction.
                unsafe {
                    asm!("test {0}, 1", $shift, "jz 2f", "inc {1}", "2:",
                        in(reg) words[0], inout(reg) result, inout("rax") 8_u64 => _,
                        in("rcx") 2_u64);
                }
                result
            })
        };
    }
    assert_eq!(jumps_after!("shr rax, 2"), []);
    assert_eq!(jumps_after!("sar rax, 1"), []);
    assert_eq!(jumps_after!("shr rax, 0"), [Kind::Branch]);
    assert_eq!(jumps_after!("shr rax, 64"), [Kind::Branch]);
    assert_eq!(jumps_after!("shr rax, cl"), [Kind::Branch]);
    assert_eq!(jumps_after!("rol rax, 2"), [Kind::Branch]);
}

fn address() {
    static TABLE: [u64; 16] = [7; 16];
    let found = kinds(3, |words| {
        let result;
        // SAFETY: reads a word of the table.
        unsafe {
            asm!("mov {0}, [{1} + 8 * {2}]", out(reg) result, in(reg) TABLE.as_ptr(), in(reg) words[0]);
        }
        result
    });
    assert_eq!(found, [Kind::Address]);
}

fn division() {
    let found = kinds(3, |words| black_box(100_u64) / black_box(words[0]));
    // The compiler may also choose a shorter division by a branch on the operands, and it tests the
    // divisor for zero.
    assert!(found.contains(&Kind::VariableTime));
}

fn target() {
    extern "C" fn one() {}
    extern "C" fn other() {}
    let found = kinds(1, |words| {
        let (first, second): (extern "C" fn(), extern "C" fn()) = (one, other);
        // SAFETY: calls one of two functions that do nothing.
        unsafe {
            asm!("test {0}, 1", "cmovz rax, {1}", "call rax",
                in(reg) words[0], in(reg) second, inout("rax") first => _, clobber_abi("C"));
        }
        0
    });
    assert_eq!(found, [Kind::Branch]);
}

fn count() {
    let found = kinds(3, |words| {
        let mut to = [0_u8; 16];
        // SAFETY: writes three bytes.
        unsafe {
            asm!("rep stosb", inout("rcx") words[0] => _, inout("rdi") to.as_mut_ptr() => _, in("al") 1_u8);
        }
        u64::from(black_box(to)[2])
    });
    // The count also determines the movement of the pointer.
    assert!(found.contains(&Kind::Count));
}

fn mask() {
    if !is_x86_feature_detected!("avx512f") {
        eprintln!("no AVX-512: a masked access is not traced");
        return;
    }
    let found = kinds(3, |words| {
        // SAFETY: reads within the words.
        unsafe {
            asm!("kmovw k1, {0:e}", "vmovdqu64 zmm0{{k1}}{{z}}, [{1}]",
                in(reg) words[0], in(reg) words.as_ptr(), out("zmm0") _, out("k1") _);
        }
        0
    });
    assert_eq!(found, [Kind::Mask]);
}

fn gather() {
    if !is_x86_feature_detected!("avx2") {
        eprintln!("no AVX2: a gather is not traced");
        return;
    }
    static TABLE: [u64; 16] = [7; 16];
    let found = kinds(3, |words| {
        // SAFETY: reads within the table.
        unsafe {
            asm!("vpcmpeqd xmm2, xmm2, xmm2", "vmovdqu xmm1, [{0}]",
                "vpgatherqq xmm0, [{1} + 8 * xmm1], xmm2",
                in(reg) words.as_ptr(), in(reg) TABLE.as_ptr(),
                out("xmm0") _, out("xmm1") _, out("xmm2") _);
        }
        0
    });
    assert!(found.contains(&Kind::Address));
}

fn denormal() {
    let found = kinds(3, |words| {
        let result: f64;
        // SAFETY: adds two numbers, one of which is denormal.
        unsafe {
            asm!("movq {0}, {2}", "addsd {0}, {1}", out(xmm_reg) result, in(xmm_reg) 1.0_f64, in(reg) words[0]);
        }
        result.to_bits()
    });
    assert_eq!(found, [Kind::Denormal]);
}

fn early_end() {
    let found = kinds(3, |words| {
        let same = black_box(&words[..4]) == black_box(&words[4..]);
        u64::from(black_box(same))
    });
    assert!(found.contains(&Kind::Branch));
}

/// BSR keeps its destination if the number is zero, and only then.
fn bit_search() {
    let words = black_box([5_u64; 4]);
    secret(&words);
    for (number, leaks) in [(40_u64, false), (0, true)] {
        let ((), report) = trace(|| {
            // SAFETY: finds a bit in a public number, and branches on the result.
            unsafe {
                asm!("mov {0}, [{1}]", "bsr {0}, {2}", "cmp {0}, 3", "je 2f", "2:",
                    out(reg) _, in(reg) words.as_ptr(), in(reg) number);
            }
        });
        assert_eq!(!report.findings.is_empty(), leaks, "{number}");
    }
}

fn markers() {
    let words = black_box([5_u64; 4]);
    secret(&words);
    let ((), report) = trace(|| {
        let word = black_box(&words)[0] & 1;
        // SAFETY: declares the register public, then branches on it; declares the words public.
        unsafe {
            asm!("nop dword ptr [{0} + {1}]", "test {0}, {0}", "jz 2f", "2:",
                in(reg) word, const marker::PUBLIC_VALUE);
            asm!("nop dword ptr [{0} + {1} + {2}]",
                in(reg) words.as_ptr(), in(reg) 16_usize, const marker::PUBLIC);
        }
    });
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(!is_secret(&words[..2]) && is_secret(&words[2..]));
    let mut generated = [0_u64; 2];
    let ((), _) = trace(|| {
        // SAFETY: declares the words secret.
        unsafe {
            asm!("nop dword ptr [{0} + {1} + {2}]",
                in(reg) generated.as_mut_ptr(), in(reg) 16_usize, const marker::SECRET);
        }
    });
    assert!(is_secret(&generated));
}

fn clean() {
    let table = black_box([3_u64, 5, 7, 11]);
    let mut reports = [1_u64, 2].map(|index| {
        let mut index = black_box([index]);
        public(&table);
        secret(&index);
        let (found, report) = trace(|| {
            // A branch-free selection that also allocates memory.
            let copy = black_box(table.to_vec());
            let at = black_box(&mut index)[0];
            copy.iter().zip(0..).fold(0, |sum, (entry, i)| {
                let mut same = i ^ at;
                same = (same | same.wrapping_neg()) >> 63;
                sum | entry & black_box(same.wrapping_sub(1))
            })
        });
        assert_eq!(found, table[index[0] as usize]);
        assert!(report.findings.is_empty(), "{}", report.findings[0]);
        report
    });
    let [first, second] = &mut reports;
    assert_eq!((first.digest, first.steps), (second.digest, second.steps));
    assert_eq!(first.trail, second.trail);
    assert!(first.steps > 20);
}
