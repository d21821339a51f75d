//! Checks the rules on the processor: an instruction runs on inputs that agree in public bytes and
//! differ in secret ones. Every byte of the result that differs must be tainted.
//!
//! For some rules that exist for their precision, a test lists the bytes that must be tainted.

use std::arch::{asm, is_x86_feature_detected};
use std::hint::black_box;

use taint_trace::{is_secret, public, secret, trace};

pub(crate) const ALL: [(&str, fn()); 4] = [
    ("rules for general registers", general),
    ("rules for vectors of 16 and 32 bytes", vectors),
    ("rules for vectors of 64 bytes and masks", wide_vectors),
    ("rules that are precise", precise),
];

/// An instruction's input, two blocks of 64 bytes, and its output, one block and flags.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Block {
    a: [u8; 64],
    b: [u8; 64],
    out: [u8; 64],
    flags: [u8; 8],
}

/// The traced function.
type Work = fn(&mut Block);

/// A pseudorandom generator (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The tested secret bytes of both inputs; none is a special case of a rule.
const PATTERNS: [(u64, u64); 9] = [
    (1, 0),
    (0, 1),
    (0x80, 0),
    (0, 0x80),
    (0xf0, 0x0f),
    (0x0101_0101_0101_0101, 0),
    (0xffff_0000_ffff_0000, 0x8000_0000_0000_0001),
    (u64::MAX, 0),
    (0, 0xff00),
];

/// Runs `work` on pairs of inputs and compares the results.
fn differs_only_where_tainted(name: &str, work: Work) {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for (a_mask, b_mask) in PATTERNS {
        for round in 0..6 {
            let mut first = Block { a: [0; 64], b: [0; 64], out: [0; 64], flags: [0; 8] };
            for i in 0..64 {
                // Zeros and ones can determine the result of logic, so the public bytes must
                // include them.
                let byte = [numbers.next() as u8, 0, 0xff][(round + i) % 3];
                first.a[i] = if round < 3 { numbers.next() as u8 } else { byte };
                first.b[i] = if round % 2 == 0 { numbers.next() as u8 } else { byte };
            }
            let mut second = first;
            for i in 0..64 {
                if a_mask >> i & 1 == 1 {
                    second.a[i] = numbers.next() as u8;
                }
                if b_mask >> i & 1 == 1 {
                    second.b[i] = numbers.next() as u8;
                }
            }
            let mut untainted = [[false; 72]; 2];
            for (block, untainted) in [&mut first, &mut second].into_iter().zip(&mut untainted) {
                public(std::slice::from_ref(block));
                for i in 0..64 {
                    if a_mask >> i & 1 == 1 {
                        secret(&block.a[i..=i]);
                    }
                    if b_mask >> i & 1 == 1 {
                        secret(&block.b[i..=i]);
                    }
                }
                trace(|| work(black_box(block)));
                let places = block.out.iter().chain(&block.flags);
                for (untainted, place) in untainted.iter_mut().zip(places) {
                    *untainted = !is_secret(std::slice::from_ref(place));
                }
            }
            let bytes = |block: &Block| [&block.out[..], &block.flags].concat();
            for (i, (a, b)) in bytes(&first).into_iter().zip(bytes(&second)).enumerate() {
                let clean = untainted[0][i] || untainted[1][i];
                assert!(
                    a == b || !clean,
                    "{name}: byte {i} differs and is not tainted, secret bytes {a_mask:x}, {b_mask:x}"
                );
            }
        }
    }
}

/// Cases of instructions on r8 and r9, which hold a word of each input; r10 is a result, too. The
/// memory operands of the second input are at `rsi`.
macro_rules! general {
    ($($text:literal),+ $(,)?) => {
        [$(($text, |block: &mut Block| {
            // SAFETY: reads and writes within the block.
            unsafe {
                asm!(
                    "mov r8, [rdi]",
                    "mov r9, [rsi]",
                    "mov r10, [rsi + 8]",
                    "mov rax, r8",
                    "mov rdx, r9",
                    "mov rcx, r9",
                    "add r11, 0",
                    $text,
                    "setc byte ptr [r12]",
                    "setz byte ptr [r12 + 1]",
                    "sets byte ptr [r12 + 2]",
                    "seto byte ptr [r12 + 3]",
                    "setp byte ptr [r12 + 4]",
                    "mov [r13], r8",
                    "mov [r13 + 8], r9",
                    "mov [r13 + 16], r10",
                    "mov [r13 + 24], rax",
                    "mov [r13 + 32], rdx",
                    "mov [r13 + 40], rcx",
                    in("rdi") block.a.as_ptr(), in("rsi") block.b.as_mut_ptr(),
                    inout("r12") block.flags.as_mut_ptr() => _,
                    inout("r13") block.out.as_mut_ptr() => _,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                    out("rax") _, out("rcx") _, out("rdx") _,
                );
            }
        })),+]
    };
}

fn general() {
    let cases: [(&str, Work); 87] = general![
        "mov r8, r9",
        "mov r8d, r9d",
        "mov r8w, r9w",
        "mov r8b, r9b",
        "mov al, ch",
        "mov ah, cl",
        "mov r8, [rsi]",
        "mov r8d, [rsi]",
        "movzx r8, r9b",
        "movzx r8d, r9w",
        "movzx eax, ch",
        "movsx r8, r9b",
        "movsxd r8, r9d",
        "cdqe",
        "cqo",
        "cdq",
        "cwde",
        "movbe r8, [rsi]",
        "bswap r8",
        "bswap r8d",
        "lea r8, [r8 + 4 * r9]",
        "lea r8d, [r8 + r9 + 17]",
        "and r8, r9",
        "and r8d, 0xff00",
        "and r8, [rsi]",
        "test r8, r9",
        "test r8b, 15",
        "or r8, r9",
        "or r8, -256",
        "or [rsi], r8",
        "xor r8, r9",
        "xor r8, r8",
        "not r8",
        "andn r8, r8, r9",
        "add r8, r9",
        "add r8d, r9d",
        "add r8b, r9b",
        "sub r8, r9",
        "adc r8, r9",
        "sbb r8, r9",
        "add r8, r9\nadc r10, 0",
        "cmp r8, r9\nsbb r8, r8",
        "cmp r8, r9\nsetb r8b",
        "adcx r8, r9",
        "adox r8, r9",
        "inc r8",
        "dec r8w",
        "neg r8",
        "cmp r8, r9",
        "imul r8, r9",
        "imul r8, r9, 77",
        "mul r9",
        "imul r9",
        "mulx r8, r10, r9",
        "blsr r8, r9",
        "blsi r8, r9",
        "blsmsk r8, r9",
        "shl r8, 3",
        "shl r8, 16",
        "shr r8, 63",
        "shr r8, 8",
        "shr r8d, 5",
        "sar r8, 7",
        "sar r8, 40",
        "sar r8, 63",
        "sar r8d, 31",
        "rol r8, 13",
        "ror r8, 13",
        "ror r8d, 8",
        "rorx r8, r9, 40",
        "shl r8, cl",
        "sar r8, cl",
        "shlx r8, r8, r9",
        "shrd r8, r9, 9",
        "shld r8, r9, 60",
        "rcl r8, 1",
        "bt r8, 9",
        "btr r8, 9",
        "popcnt r8, r9",
        "tzcnt r8, r9",
        "bsr r8, r9",
        "xchg r8, r9",
        "xchg [rsi], r8",
        "cmp r8, r9\ncmovb r8, r9",
        "test r11, r11\ncmovz r8, r9",
        "push r8\npop r9",
        "xadd r8, r9",
    ];
    for (name, work) in cases {
        differs_only_where_tainted(name, work);
    }
}

/// Cases of instructions on vectors 0, 1 and 2: each input, and the first again. `k1` selects some
/// elements; the result is vector 0.
macro_rules! vectors {
    ($load:literal, $store:literal, $mask:literal, [$($text:literal),+ $(,)?]) => {
        [$(($text, |block: &mut Block| {
            // SAFETY: reads and writes within the block.
            unsafe {
                asm!(
                    concat!($load, "0, [rdi]"),
                    concat!($load, "1, [rdi]"),
                    concat!($load, "2, [rsi]"),
                    "mov r8, [rdi]",
                    "xor ecx, ecx",
                    $mask,
                    $text,
                    "setc byte ptr [r12]",
                    "setz byte ptr [r12 + 1]",
                    $store,
                    in("rdi") block.a.as_ptr(), in("rsi") block.b.as_mut_ptr(),
                    inout("r12") block.flags.as_mut_ptr() => _,
                    inout("r13") block.out.as_mut_ptr() => _,
                    out("r8") _, out("rcx") _,
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("k1") _, out("k2") _,
                );
            }
        })),+]
    };
}

fn vectors() {
    let legacy: [(&str, Work); 24] = vectors!(
        "movdqu xmm",
        "movdqu [r13], xmm0",
        "",
        [
            "movdqa xmm0, xmm2",
            "movq xmm0, xmm2",
            "movd xmm0, r8d",
            "movq xmm0, r8",
            "pand xmm0, xmm2",
            "pxor xmm0, xmm0",
            "paddq xmm0, xmm2",
            "psllq xmm0, 5",
            "psrlq xmm0, 33",
            "psllq xmm0, xmm2",
            "pmuludq xmm0, xmm2",
            "punpcklqdq xmm0, xmm2",
            "punpckhdq xmm0, xmm2",
            "punpcklbw xmm0, xmm2",
            "pshufd xmm0, xmm2, 0x4e",
            "pslldq xmm0, 3",
            "movhps xmm0, [rsi]",
            "movlps xmm0, [rsi]",
            "movhps [rsi + 8], xmm0",
            "unpcklpd xmm0, xmm2",
            "pcmpeqd xmm0, xmm0",
            "pcmpeqd xmm0, xmm2",
            "movhlps xmm0, xmm2",
            "ptest xmm0, xmm2",
        ]
    );
    for (name, work) in legacy {
        differs_only_where_tainted(name, work);
    }
    if !is_x86_feature_detected!("avx2") {
        eprintln!("no AVX2: vectors of 32 bytes are not traced");
        return;
    }
    let avx2: [(&str, Work); 22] = vectors!(
        "vmovdqu ymm",
        "vmovdqu [r13], ymm0",
        "",
        [
            "vpaddd ymm0, ymm1, ymm2",
            "vpand ymm0, ymm1, [rsi]",
            "vpblendd ymm0, ymm1, ymm2, 0x35",
            "vpermq ymm0, ymm2, 0x93",
            "vperm2i128 ymm0, ymm1, ymm2, 0x21",
            "vinserti128 ymm0, ymm1, xmm2, 1",
            "vextracti128 xmm0, ymm2, 1",
            "vpbroadcastq ymm0, xmm2",
            "vbroadcasti128 ymm0, [rsi]",
            "vpunpcklqdq ymm0, ymm1, ymm2",
            "vpshufb ymm0, ymm1, ymm2",
            "vpinsrq xmm0, xmm1, r8, 1",
            "vmovq xmm0, xmm2",
            "vzeroupper",
            "vpblendvb ymm0, ymm1, ymm2, ymm1",
            "vpsllvq ymm0, ymm1, ymm2",
            "vpsrlq ymm0, ymm1, 60",
            "vmulpd ymm0, ymm1, ymm2",
            "vpalignr ymm0, ymm1, ymm2, 5",
            "vpcmpeqd ymm2, ymm2, ymm2\nvpxor xmm1, xmm1, xmm1\nvpgatherqq ymm0, [rsi + 8 * ymm1], ymm2",
            "vpcmpeqd ymm2, ymm2, ymm2\nvpsrldq ymm2, ymm2, 4\nvpxor xmm1, xmm1, xmm1\nvpgatherdd ymm0, [rsi + ymm1], ymm2",
            "vpcmpeqd ymm1, ymm1, ymm1\nvpabsd ymm1, ymm1\nvpslld ymm2, ymm1, 31\nvpgatherdq ymm0, [rsi + 8 * xmm1], ymm2",
        ]
    );
    for (name, work) in avx2 {
        differs_only_where_tainted(name, work);
    }
}

fn wide_vectors() {
    if !(is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")) {
        eprintln!("no AVX-512: vectors of 64 bytes are not traced");
        return;
    }
    let avx512: [(&str, Work); 30] = vectors!(
        "vmovdqu64 zmm",
        "vmovdqu64 [r13], zmm0",
        "mov ecx, 0x5a\nkmovw k1, ecx\nkmovw k2, r8d\nxor ecx, ecx",
        [
            "vpaddq zmm0, zmm1, zmm2",
            "vpaddq zmm0{{k1}}, zmm1, zmm2",
            "vpaddq zmm0{{k1}}{{z}}, zmm1, zmm2",
            "vpaddq zmm0{{k2}}, zmm1, zmm2",
            "vpblendmq zmm0{{k1}}, zmm1, zmm2",
            "vpblendmq zmm0{{k2}}, zmm1, zmm2",
            "vpmullq zmm0, zmm1, zmm2",
            "vpmuludq zmm0, zmm1, qword ptr [rsi]{{1to8}}",
            "valignq zmm0, zmm1, zmm2, 3",
            "valignd zmm0, zmm1, zmm2, 7",
            "vpermq zmm0, zmm1, zmm2",
            "vpermq zmm0, zmm2, 0x1b",
            "vpermi2q zmm0, zmm1, zmm2",
            "vpermt2q zmm0, zmm1, zmm2",
            "vpternlogq zmm0, zmm1, zmm2, 0x96",
            "vpternlogd zmm0, zmm1, zmm2, 0xff",
            "vpcmpuq k1, zmm1, zmm2, 1\nvpmovm2q zmm0, k1",
            "vptestmq k1, zmm1, zmm2\nkmovw r8d, k1\nvpbroadcastq zmm0, r8",
            "vinserti64x4 zmm0, zmm1, ymm2, 1",
            "vextracti64x4 ymm0, zmm2, 1",
            "vbroadcasti64x4 zmm0, [rsi]",
            "vprolq zmm0, zmm1, 11",
            "vpsraq zmm0, zmm1, 40",
            "vmovdqu64 [rsi]{{k1}}, zmm1\nvmovdqu64 zmm0, [rsi]",
            "kxorw k1, k2, k2\nvpmovm2q zmm0, k1",
            "vpexpandq zmm0{{k1}}, zmm2",
            "vpxorq zmm17, zmm17, zmm17\nvpgatherqq zmm0{{k1}}, [rsi + 8 * zmm17]",
            "mov ecx, 1\nvpbroadcastq zmm17, rcx\nvpgatherqq zmm0{{k1}}, [rsi + 8 * zmm17]",
            "vpternlogd zmm1, zmm1, zmm1, 0xff\nvpabsd ymm1, ymm1\nvpgatherdq zmm0{{k1}}, [rsi + 8 * ymm1]",
            "vpxord zmm1, zmm1, zmm1\nkxnorw k1, k1, k1\nvpgatherdd zmm0{{k1}}, [rsi + zmm1]",
        ]
    );
    for (name, work) in avx512 {
        differs_only_where_tainted(name, work);
    }
    if !is_x86_feature_detected!("avx512ifma") {
        eprintln!("no IFMA: its instructions are not traced");
        return;
    }
    let ifma: [(&str, Work); 2] = vectors!(
        "vmovdqu64 zmm",
        "vmovdqu64 [r13], zmm0",
        "",
        ["vpmadd52luq zmm0, zmm1, zmm2", "vpmadd52huq zmm0, zmm1, zmm2",]
    );
    for (name, work) in ifma {
        differs_only_where_tainted(name, work);
    }
}

/// Instructions, the secret bytes of the second input, and the tainted bytes of the result. The
/// first input is public.
fn precise() {
    if !is_x86_feature_detected!("avx2") {
        eprintln!("no AVX2: the precision of rules for its vectors is not tested");
        return;
    }
    let works: [(&str, Work); 5] = vectors!(
        "vmovdqu ymm",
        "vmovdqu [r13], ymm0",
        "",
        [
            "vpaddq ymm0, ymm1, ymm2",
            "vpermq ymm0, ymm2, 0x1b",
            "vpunpcklqdq ymm0, ymm1, ymm2",
            "vpcmpeqd ymm2, ymm2, ymm2\nvpxor xmm1, xmm1, xmm1\nvpgatherqq ymm0, [rsi + 8 * ymm1], ymm2",
            "vpxor xmm1, xmm1, xmm1\nvpcmpeqd xmm2, xmm2, xmm2\nvpgatherqq ymm0, [rsi + 8 * ymm1], ymm2",
        ]
    );
    let expected = [
        [(1_u64, 0xff_u64), (0xff00, 0xff00)],
        [(1, 1 << 24), (0xff00, 0xff << 16)],
        [(1, 1 << 8), (0xff00, 0)],
        [(1, 0x0101_0101), (0xff00, 0)],
        [(1, 0x0101), (0xff00, 0)],
    ];
    for ((name, work), expected) in works.into_iter().zip(expected) {
        for (secret_bytes, tainted) in expected {
            let mut block = Block { a: [0; 64], b: [0; 64], out: [0; 64], flags: [0; 8] };
            public(std::slice::from_ref(&block));
            for i in (0..64).filter(|i| secret_bytes >> i & 1 == 1) {
                secret(&block.b[i..=i]);
            }
            trace(|| work(black_box(&mut block)));
            let found = (0..64).filter(|i| is_secret(&block.out[*i..=*i]));
            let found = found.fold(0_u64, |all, i| all | 1 << i);
            assert_eq!(found, tainted, "{name}, secret bytes {secret_bytes:x}");
        }
    }
}
