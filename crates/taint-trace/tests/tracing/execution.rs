//! Traced code computes what it computes untraced: each kind of instruction that is not executed
//! as it stands.

use std::arch::{asm, is_x86_feature_detected};
use std::hint::black_box;

use taint_trace::trace;

pub(crate) const ALL: [(&str, fn()); 7] = [
    ("jumps on every condition", conditions),
    ("jumps on a count", counts),
    ("repeated string instructions", repetitions),
    ("calls, returns and jumps by register and memory", calls),
    ("operands relative to the instruction pointer", relative),
    ("vector state, masks and flags from step to step", state),
    ("system calls and allocations", system),
];

/// Runs `work` untraced and traced; the results must agree. Returns the steps.
fn same<T: PartialEq + std::fmt::Debug>(work: impl Fn() -> T) -> usize {
    let expected = black_box(work());
    let (result, report) = trace(|| black_box(&work)());
    assert_eq!(result, expected);
    report.steps
}

/// Returns a bit for each condition on which a jump after CMP is taken.
fn taken(a: i64, b: i64) -> u32 {
    let mut bits = 0_u32;
    macro_rules! jump {
        ($($jump:literal)*) => { $(
            // SAFETY: compares, then jumps over an instruction.
            unsafe {
                asm!("shl {2:e}, 1", "cmp {0}, {1}", concat!($jump, " 2f"), "inc {2:e}", "2:",
                    in(reg) a, in(reg) b, inout(reg) bits, options(nostack));
            }
        )* };
    }
    jump!("jo" "jno" "jb" "jae" "je" "jne" "jbe" "ja" "js" "jns" "jp" "jnp" "jl" "jge" "jle" "jg");
    bits
}

fn conditions() {
    let edges = [0, 1, -1, 2, 3, 127, i64::MAX, i64::MIN, i64::MIN + 1];
    for a in edges {
        for b in edges {
            same(|| taken(black_box(a), black_box(b)));
        }
    }
}

fn counts() {
    for count in [0_u64, 1, 2, 9] {
        same(|| {
            let mut skipped = 1_u32;
            // SAFETY: jumps over an instruction.
            unsafe {
                asm!("jrcxz 2f", "mov {0:e}, 0", "2:", inout(reg) skipped, in("rcx") count);
            }
            skipped
        });
        if count > 0 {
            same(|| {
                let (mut rounds, mut equal) = (0_u64, 0_u64);
                // SAFETY: counts down.
                unsafe {
                    asm!("2: inc {0}", "loop 2b", inout(reg) rounds, inout("rcx") count => _);
                    asm!("2: inc {0}", "cmp {0}, 3", "loopne 2b", inout(reg) equal,
                        inout("rcx") count => _);
                }
                (rounds, equal)
            });
        }
    }
}

fn repetitions() {
    let text = *b"in the middle of this text is a z, not at its end";
    let mut other = text;
    other[20] = b'!';
    for count in [0, 1, 8, text.len()] {
        let work = || {
            let (mut copy, mut filled) = ([0_u8; 64], [0_u32; 64]);
            let (left, right, found, at): (usize, usize, usize, *const u8);
            // SAFETY: within the arrays.
            unsafe {
                asm!("rep movsb", inout("rcx") count => _, inout("rsi") text.as_ptr() => _,
                    inout("rdi") copy.as_mut_ptr() => _);
                asm!("rep stosd", inout("rcx") count => _, in("eax") 0x0102_0304,
                    inout("rdi") filled.as_mut_ptr() => _);
                // Both sides are equal to begin with, which sets the zero flag.
                asm!("cmp {0}, {0}", "repe cmpsb", in(reg) 0_u64, inout("rcx") count => left,
                    inout("rsi") text.as_ptr() => _, inout("rdi") other.as_ptr() => _);
                asm!("repne scasb", inout("rcx") count => found, in("al") b'z',
                    inout("rdi") text.as_ptr() => at);
                asm!("std", "rep movsb", "cld", inout("rcx") count => right,
                    inout("rsi") text.as_ptr().wrapping_add(text.len() - 1) => _,
                    inout("rdi") copy.as_mut_ptr().wrapping_add(63) => _);
            }
            (copy, filled, left, right, found, at.addr() - text.as_ptr().addr())
        };
        assert!(same(work) >= 3 * count, "each element is a step");
    }
}

extern "C" fn twice(x: u64) -> u64 {
    2 * x
}

fn calls() {
    same(|| {
        let pointer = black_box(twice as extern "C" fn(u64) -> u64);
        let by_memory = black_box([pointer as usize; 2]);
        let (mut first, mut second, third): (u64, u64, u64);
        // SAFETY: calls a function with the C calling convention, and jumps within this code. The
        // stack pointer is aligned for the calls, and kept.
        unsafe {
            asm!("mov r12, rsp", "and rsp, -16", "call {0}", "mov rsp, r12", in(reg) pointer,
                in("rdi") 21_u64, out("rax") first, out("r12") _, clobber_abi("C"));
            asm!("mov r12, rsp", "and rsp, -16", "call [{0} + 8]", "mov rsp, r12",
                in(reg) by_memory.as_ptr(),
                in("rdi") 22_u64, out("rax") second, out("r12") _, clobber_abi("C"));
            // A function that releases its arguments, and a jump to an address in a register.
            asm!("sub rsp, 256", "push {0}", "push {0}", "call 3f", "add rsp, 256",
                "lea {1}, [rip + 4f]", "jmp {1}",
                "3: mov {2}, [rsp + 8]", "ret 16", "4:",
                in(reg) 77_u64, out(reg) _, out(reg) third);
        }
        first += 1;
        second += 1;
        (first, second, third)
    });
}

static WORD: u64 = 0x1122_3344_5566_7788;

fn relative() {
    same(|| {
        let (word, high, sum, address, compared): (u64, u64, u64, u64, u64);
        // SAFETY: reads a static word.
        unsafe {
            asm!("mov {0}, [rip + {word}]", out(reg) word, word = sym WORD);
            asm!("mov rax, -1", "mov ah, [rip + {word}]", out("rax") high, word = sym WORD);
            asm!("mov rax, 1", "mov rcx, 2", "mov rdx, 4", "mov rbx, 8", "add rax, rcx",
                "add rax, rdx", "add rax, [rip + {word}]", out("rax") sum, out("rcx") _,
                out("rdx") _, word = sym WORD, options(nostack));
            asm!("lea {0}, [rip + {word}]", out(reg) address, word = sym WORD);
            asm!("xor eax, eax", "cmp qword ptr [rip + {word}], 5", "setb al",
                out("rax") compared, word = sym WORD);
        }
        (word, high, sum, address, compared)
    });
    if is_x86_feature_detected!("avx512f") {
        same(|| {
            let sum: u64;
            // SAFETY: the processor has AVX-512.
            unsafe {
                asm!("vpbroadcastq zmm17, [rip + {word}]", "vpaddq zmm17, zmm17, [rip + {word}]{{1to8}}",
                    "vmovq {0}, xmm17", out(reg) sum, out("zmm17") _, word = sym WORD);
            }
            sum
        });
    }
}

fn state() {
    same(|| {
        let (sum, carry): (f64, u64);
        // SAFETY: arithmetic in registers.
        unsafe {
            asm!("fld1", "fldpi", "faddp", "fstp qword ptr [{0}]", "movsd {1}, [{0}]",
                in(reg) &mut 0.0_f64, out(xmm_reg) sum);
            asm!("stc", "nop", "mov {0}, 0", "nop", "adc {0}, 0", out(reg) carry);
        }
        (sum, carry)
    });
    if is_x86_feature_detected!("avx512f") {
        same(|| {
            let (selected, upper): (u64, u64);
            // SAFETY: the processor has AVX-512.
            unsafe {
                asm!("mov {0:e}, 0x2a", "kmovw k3, {0:e}", "vpternlogd zmm20, zmm20, zmm20, 0xff",
                    "vmovdqa64 zmm21{{k3}}{{z}}, zmm20", "vextracti64x4 ymm22, zmm21, 1",
                    "vmovq {0}, xmm22", "vpextrq {1}, xmm21, 1", out(reg) upper, out(reg) selected,
                    out("k3") _, out("zmm20") _, out("zmm21") _, out("zmm22") _);
            }
            (selected, upper)
        });
    }
}

fn system() {
    same(|| {
        let mut texts: Vec<String> = (0..50_u32).map(|number| format!("{number:x}")).collect();
        texts.sort();
        // SAFETY: without effect.
        (texts.concat(), unsafe { libc::getpid() })
    });
}
