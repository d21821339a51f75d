//! Instructions with every kind of operand, compared with 128-bit arithmetic; the assembler
//! provides the encodings.

use std::arch::asm;
use std::arch::x86_64::__m512i;

use super::*;

/// Returns whether instructions can be executed; prints a note if not.
fn ready() -> bool {
    match install() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("not run: {error}");
            false
        }
    }
}

const A: [u64; 8] = [0, 1, u64::MAX, (1 << 52) - 1, 0x000f_edcb_a987_6543, 3 << 51, 12345, 1 << 63];
const B: [u64; 8] = [7, u64::MAX, (1 << 52) - 1, (1 << 52) - 1, 0x8004_4444_8888_ffff, 2, 99999, 5];
const SUM: [u64; 8] = [1, 2, u64::MAX, 4, 1 << 63, 6, 7, 8];

fn expected(high: bool) -> [u64; 8] {
    std::array::from_fn(|lane| {
        let product = u128::from(A[lane] % (1 << 52)) * u128::from(B[lane] % (1 << 52));
        let half = if high { product / (1 << 52) } else { product % (1 << 52) };
        SUM[lane].wrapping_add(half as u64)
    })
}

fn vector(words: [u64; 8]) -> __m512i {
    // SAFETY: both are 64 bytes in which every bit pattern is valid.
    unsafe { std::mem::transmute(words) }
}

fn words(vector: __m512i) -> [u64; 8] {
    // SAFETY: both are 64 bytes in which every bit pattern is valid.
    unsafe { std::mem::transmute(vector) }
}

/// Memory reachable by operands of all encodings; aligned like vectors.
#[repr(C, align(64))]
struct Memory([[u64; 8]; 9]);

fn memory() -> Memory {
    Memory([[0; 8], [0; 8], B, [0; 8], [0; 8], [0; 8], [0; 8], [0; 8], B])
}

/// Executes one instruction on SUM in `$sum` and A in `$a`.
macro_rules! run {
    ($instruction:literal, $sum:tt, $a:tt $(, $($operand:tt)*)?) => {{
        #[target_feature(enable = "avx512f,avx512ifma")]
        fn run() -> [u64; 8] {
            let memory = memory();
            let start = memory.0.as_ptr();
            let mut sum = vector(SUM);
            // SAFETY: the operands refer to readable memory; the processor or the handler executes
            // IFMA.
            unsafe {
                asm!(
                    $instruction,
                    inout($sum) sum, in($a) vector(A), in("zmm7") vector(B),
                    in("rax") start, in("r13") start.wrapping_add(10),
                    in("r14") start.wrapping_add(2).wrapping_byte_sub(8192),
                    in("rdx") 64, in("r12") 8, in("k3") 0b1011_0010_u8,
                    $($($operand)*)?
                );
            }
            words(sum)
        }
        // SAFETY: called only if `ready`.
        unsafe { run() }
    }};
}

#[test]
fn register_operands() {
    if !ready() {
        return;
    }
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, zmm7", "zmm0", "zmm1"), expected(false));
    assert_eq!(run!("vpmadd52huq zmm0, zmm1, zmm7", "zmm0", "zmm1"), expected(true));
    assert_eq!(run!("vpmadd52luq zmm15, zmm8, zmm7", "zmm15", "zmm8"), expected(false));
    assert_eq!(run!("vpmadd52huq zmm16, zmm31, zmm7", "zmm16", "zmm31"), expected(true));
    assert_eq!(run!("vpmadd52luq zmm30, zmm7, zmm20", "zmm30", "zmm20"), expected(false));
    assert_eq!(run!("vpmadd52huq zmm24, zmm7, zmm12", "zmm24", "zmm12"), expected(true));
}

#[test]
fn memory_operands() {
    if !ready() {
        return;
    }
    let low = expected(false);
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, [rax + 128]", "zmm0", "zmm1"), low);
    assert_eq!(run!("vpmadd52luq zmm17, zmm18, [rax + rdx*2]", "zmm17", "zmm18"), low);
    assert_eq!(run!("vpmadd52luq zmm0, zmm31, [rax + r12*8 + 64]", "zmm0", "zmm31"), low);
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, [r13 - 512]", "zmm0", "zmm1"), low);
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, [r13 + rdx - 576]", "zmm0", "zmm1"), low);
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, [r12*8 + rax + 0x40]", "zmm0", "zmm1"), low);
    // An unscaled displacement of four bytes.
    assert_eq!(run!("vpmadd52luq zmm0, zmm1, [r14 + 8192]", "zmm0", "zmm1"), low);
    static CONSTANT: Memory = Memory([B; 9]);
    assert_eq!(
        run!("vpmadd52luq zmm0, zmm1, [rip + {constant}]", "zmm0", "zmm1", constant = sym CONSTANT),
        low
    );
}

#[test]
fn broadcast() {
    if !ready() {
        return;
    }
    let factor = B[3];
    let expected: [u64; 8] = std::array::from_fn(|lane| {
        let product = u128::from(A[lane] % (1 << 52)) * u128::from(factor);
        SUM[lane].wrapping_add((product / (1 << 52)) as u64)
    });
    // The fourth word of the vector at offset 128.
    let result = run!("vpmadd52huq zmm3, zmm4, qword ptr [rax + 152]{{1to8}}", "zmm3", "zmm4");
    assert_eq!(result, expected);
}

#[test]
fn masks() {
    if !ready() {
        return;
    }
    let full = expected(false);
    let lane_is_set = |lane: usize| 0b1011_0010 >> lane & 1 == 1;
    let merged = std::array::from_fn(|lane| if lane_is_set(lane) { full[lane] } else { SUM[lane] });
    let zeroed = std::array::from_fn(|lane| if lane_is_set(lane) { full[lane] } else { 0 });
    assert_eq!(run!("vpmadd52luq zmm0{{k3}}, zmm1, zmm7", "zmm0", "zmm1"), merged);
    assert_eq!(run!("vpmadd52luq zmm0{{k3}}{{z}}, zmm1, zmm7", "zmm0", "zmm1"), zeroed);
}

/// Shorter vectors clear the upper part of the register.
#[test]
fn shorter_vectors() {
    if !ready() {
        return;
    }
    let full = expected(true);
    let first = |lanes| std::array::from_fn(|lane| if lane < lanes { full[lane] } else { 0 });
    assert_eq!(run!("vpmadd52huq ymm0, ymm1, ymm7", "zmm0", "zmm1"), first(4));
    assert_eq!(run!("vpmadd52huq ymm0, ymm1, [rax + 128]", "zmm0", "zmm1"), first(4));
    assert_eq!(run!("vpmadd52huq xmm20, xmm1, [rax + 128]", "zmm20", "zmm1"), first(2));
}

/// Several instructions in a row: each uses the previous result, and other registers are unchanged.
#[test]
fn a_sequence() {
    if !ready() {
        return;
    }
    let result = run!(
        "vpmadd52luq zmm0, zmm1, zmm7
         vpmadd52luq zmm0, zmm1, [rax + 128]
         vpmadd52luq zmm5, zmm1, zmm7
         vpaddq zmm0, zmm0, zmm5",
        "zmm0", "zmm1", inout("zmm5") vector([1; 8]) => _,
    );
    let expected: [u64; 8] = std::array::from_fn(|lane| {
        let low = (A[lane] % (1 << 52)).wrapping_mul(B[lane] % (1 << 52)) % (1 << 52);
        SUM[lane].wrapping_add(3 * low).wrapping_add(1)
    });
    assert_eq!(result, expected);
}

#[test]
fn every_thread() {
    if !ready() {
        return;
    }
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..1000 {
                    let result = run!("vpmadd52huq zmm9, zmm10, zmm7", "zmm9", "zmm10");
                    assert_eq!(result, expected(true));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no thread finds a wrong result");
    }
}

#[test]
fn other_instructions_are_not_decoded() {
    let others: [&[u8]; 6] = [
        // ud2
        &[0x0f, 0x0b],
        // vpmullq zmm0, zmm1, zmm2
        &[0x62, 0xf2, 0xf5, 0x48, 0x40, 0xc2],
        // The opcode B4 without W, and in another map.
        &[0x62, 0xf2, 0x75, 0x48, 0xb4, 0xc2],
        &[0x62, 0xf1, 0xf5, 0x48, 0xb4, 0xc2],
        // The reserved vector length, and a register operand with the broadcast bit.
        &[0x62, 0xf2, 0xf5, 0x68, 0xb4, 0xc2],
        &[0x62, 0xf2, 0xf5, 0x58, 0xb4, 0xc2],
    ];
    for bytes in others {
        // SAFETY: the decoder reads no further than the bytes of an instruction.
        assert_eq!(unsafe { decode::decode(bytes.as_ptr()) }, None);
    }
    let ours = [0x62, 0xf2, 0xf5, 0x48, 0xb4, 0xc2];
    // SAFETY: as above.
    let decoded = unsafe { decode::decode(ours.as_ptr()) }.expect("vpmadd52luq zmm0, zmm1, zmm2");
    assert_eq!((decoded.length, decoded.destination, decoded.first_source), (6, 0, 1));
    assert_eq!(decoded.second_source, Operand::Register(2));
}

/// A real illegal instruction still ends the process with its signal.
#[test]
fn real_illegal_instructions_end_the_process() {
    use std::os::unix::process::ExitStatusExt;
    const VARIABLE: &str = "IFMA_EMULATOR_TEST_UD2";
    if std::env::var_os(VARIABLE).is_some() {
        install().expect("the parent has checked that it can be installed");
        // SAFETY: the process is meant to end here.
        unsafe { asm!("ud2", options(noreturn)) };
    }
    if !ready() {
        return;
    }
    let status = std::process::Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", "tests::real_illegal_instructions_end_the_process"])
        .env(VARIABLE, "1")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("the test program starts");
    assert_eq!(status.signal(), Some(libc::SIGILL));
}
