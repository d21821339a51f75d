//! The rule for each instruction on vector registers.

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};

use crate::rule::Rule;

/// Instructions whose elements depend only on themselves: the name without the leading V, and the
/// size of the elements.
const ELEMENTWISE: [(&str, u8); 96] = [
    ("movdqa", 1),
    ("movdqu", 1),
    ("movdqa32", 1),
    ("movdqa64", 1),
    ("movdqu8", 1),
    ("movdqu16", 1),
    ("movdqu32", 1),
    ("movdqu64", 1),
    ("movaps", 1),
    ("movups", 1),
    ("movapd", 1),
    ("movupd", 1),
    ("lddqu", 1),
    ("movntdq", 1),
    ("movntdqa", 1),
    ("movntps", 1),
    ("movntpd", 1),
    ("movq", 1),
    ("movd", 1),
    ("pand", 1),
    ("pandd", 1),
    ("pandq", 1),
    ("por", 1),
    ("pord", 1),
    ("porq", 1),
    ("pxor", 1),
    ("pxord", 1),
    ("pxorq", 1),
    ("pandn", 1),
    ("pandnd", 1),
    ("pandnq", 1),
    ("andps", 1),
    ("andpd", 1),
    ("orps", 1),
    ("orpd", 1),
    ("xorps", 1),
    ("xorpd", 1),
    ("andnps", 1),
    ("andnpd", 1),
    ("pternlogd", 1),
    ("pternlogq", 1),
    ("pblendvb", 1),
    ("paddb", 1),
    ("psubb", 1),
    ("pcmpeqb", 1),
    ("pcmpgtb", 1),
    ("pminub", 1),
    ("pmaxub", 1),
    ("paddw", 2),
    ("psubw", 2),
    ("pcmpeqw", 2),
    ("pmullw", 2),
    ("paddd", 4),
    ("psubd", 4),
    ("pslld", 4),
    ("psrld", 4),
    ("psrad", 4),
    ("psllvd", 4),
    ("psrlvd", 4),
    ("pmulld", 4),
    ("prold", 4),
    ("prord", 4),
    ("pcmpeqd", 4),
    ("pcmpgtd", 4),
    ("pminud", 4),
    ("pmaxud", 4),
    ("pblendmd", 4),
    ("paddq", 8),
    ("psubq", 8),
    ("psllq", 8),
    ("psrlq", 8),
    ("psraq", 8),
    ("psllvq", 8),
    ("psrlvq", 8),
    ("psravq", 8),
    ("pmuludq", 8),
    ("pmuldq", 8),
    ("pmullq", 8),
    ("pmadd52luq", 8),
    ("pmadd52huq", 8),
    ("prolq", 8),
    ("prorq", 8),
    ("pcmpeqq", 8),
    ("pcmpgtq", 8),
    ("pminuq", 8),
    ("pmaxuq", 8),
    ("pblendmq", 8),
    ("addpd", 8),
    ("subpd", 8),
    ("mulpd", 8),
    ("fmadd231pd", 8),
    ("fmadd213pd", 8),
    ("fmadd132pd", 8),
    ("fmsub231pd", 8),
    ("fmsub213pd", 8),
    ("fnmadd231pd", 8),
];

/// The other instructions with a rule.
const OTHERS: [(&str, Rule); 49] = [
    ("pbroadcastb", Rule::Broadcast(1)),
    ("pbroadcastw", Rule::Broadcast(2)),
    ("pbroadcastd", Rule::Broadcast(4)),
    ("broadcastss", Rule::Broadcast(4)),
    ("pbroadcastq", Rule::Broadcast(8)),
    ("broadcastsd", Rule::Broadcast(8)),
    ("movddup", Rule::Within16),
    ("broadcasti128", Rule::Broadcast(16)),
    ("broadcastf128", Rule::Broadcast(16)),
    ("broadcasti32x4", Rule::Broadcast(16)),
    ("broadcasti64x2", Rule::Broadcast(16)),
    ("broadcastf32x4", Rule::Broadcast(16)),
    ("broadcasti64x4", Rule::Broadcast(32)),
    ("broadcastf64x4", Rule::Broadcast(32)),
    ("pinsrb", Rule::Insert(1)),
    ("pinsrw", Rule::Insert(2)),
    ("pinsrd", Rule::Insert(4)),
    ("pinsrq", Rule::Insert(8)),
    ("inserti128", Rule::Insert(16)),
    ("insertf128", Rule::Insert(16)),
    ("inserti32x4", Rule::Insert(16)),
    ("inserti64x2", Rule::Insert(16)),
    ("inserti64x4", Rule::Insert(32)),
    ("insertf64x4", Rule::Insert(32)),
    ("pextrb", Rule::Extract(1)),
    ("pextrw", Rule::Extract(2)),
    ("pextrd", Rule::Extract(4)),
    ("pextrq", Rule::Extract(8)),
    ("extracti128", Rule::Extract(16)),
    ("extractf128", Rule::Extract(16)),
    ("extracti32x4", Rule::Extract(16)),
    ("extracti64x2", Rule::Extract(16)),
    ("extracti64x4", Rule::Extract(32)),
    ("extractf64x4", Rule::Extract(32)),
    ("permq", Rule::Permute),
    ("permpd", Rule::Permute),
    ("pshufd", Rule::Shuffle),
    ("alignq", Rule::Align(8)),
    ("alignd", Rule::Align(4)),
    ("pgatherdd", Rule::Gather(4)),
    ("pgatherqd", Rule::Gather(4)),
    ("gatherdps", Rule::Gather(4)),
    ("gatherqps", Rule::Gather(4)),
    ("pgatherdq", Rule::Gather(8)),
    ("pgatherqq", Rule::Gather(8)),
    ("gatherdpd", Rule::Gather(8)),
    ("gatherqpd", Rule::Gather(8)),
    ("zeroupper", Rule::ZeroUpper),
    ("zeroall", Rule::ZeroAll),
];

/// Instructions that mix bytes within 16 bytes, and those that move halves.
const WITHIN: [(&str, Rule); 24] = [
    ("punpcklbw", Rule::UnpackLow(1)),
    ("punpcklwd", Rule::UnpackLow(2)),
    ("punpckldq", Rule::UnpackLow(4)),
    ("punpcklqdq", Rule::UnpackLow(8)),
    ("unpcklps", Rule::UnpackLow(4)),
    ("unpcklpd", Rule::UnpackLow(8)),
    ("punpckhbw", Rule::UnpackHigh(1)),
    ("punpckhwd", Rule::UnpackHigh(2)),
    ("punpckhdq", Rule::UnpackHigh(4)),
    ("punpckhqdq", Rule::UnpackHigh(8)),
    ("unpckhps", Rule::UnpackHigh(4)),
    ("unpckhpd", Rule::UnpackHigh(8)),
    ("pshufb", Rule::Within16),
    ("shufps", Rule::Within16),
    ("shufpd", Rule::Within16),
    ("palignr", Rule::Within16),
    ("pslldq", Rule::Within16),
    ("psrldq", Rule::Within16),
    ("pshuflw", Rule::Within16),
    ("pshufhw", Rule::Within16),
    ("movhps", Rule::MoveHigh),
    ("movhpd", Rule::MoveHigh),
    ("movlps", Rule::MoveLow),
    ("movlpd", Rule::MoveLow),
];

/// Returns the name without the leading V of the encodings with more operands.
fn name(instruction: &Instruction) -> String {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    match name.strip_prefix('v') {
        Some(rest) if !is_legacy(instruction) => rest.into(),
        _ => name,
    }
}

/// Returns the rule of a vector instruction, if it has one.
pub(super) fn rule(instruction: &Instruction) -> Option<Rule> {
    let name = name(instruction);
    let mut operands = (0..instruction.op_count()).map(|i| instruction.op_register(i));
    if operands.any(Register::is_mm) || instruction.op0_register().is_k() {
        return None;
    }
    if name == "pblendvb" && is_legacy(instruction) {
        // Its mask is not an operand.
        return None;
    }
    if let Some((_, size)) = ELEMENTWISE.iter().find(|known| known.0 == name) {
        // The count of some shifts is one number for all elements.
        let last = instruction.op_count() - 1;
        let by_register =
            instruction.op_register(last).is_xmm() || instruction.op_kind(last) == OpKind::Memory;
        let shift = ["psll", "psrl", "psra"].iter().any(|shift| name.starts_with(shift));
        let by_one_count = shift && !name.contains('v') && by_register;
        return (!by_one_count).then_some(Rule::Elements(*size));
    }
    let (_, rule) = OTHERS.iter().chain(&WITHIN).find(|known| known.0 == name)?;
    let last = instruction.op_count().saturating_sub(1);
    let by_immediate = last > 0 && instruction.op_kind(last) == OpKind::Immediate8;
    // VPERMQ with a register mixes all elements.
    (*rule != Rule::Permute || by_immediate).then_some(*rule)
}

/// Returns whether the result is independent of the operands.
pub(super) fn is_constant(instruction: &Instruction) -> bool {
    let register = |i: u32| {
        (instruction.op_count() > i && instruction.op_kind(i) == OpKind::Register)
            .then(|| instruction.op_register(i))
    };
    let (a, b) = if instruction.op_count() == 2 { (0, 1) } else { (1, 2) };
    let same = register(a).is_some() && register(a) == register(b);
    let all_bits = instruction.op_count() == 4 && matches!(instruction.immediate8(), 0 | 0xff);
    match instruction.mnemonic() {
        Mnemonic::Vpternlogd | Mnemonic::Vpternlogq => all_bits,
        Mnemonic::Kxorb
        | Mnemonic::Kxorw
        | Mnemonic::Kxord
        | Mnemonic::Kxorq
        | Mnemonic::Kxnorb
        | Mnemonic::Kxnorw
        | Mnemonic::Kxnord
        | Mnemonic::Kxnorq => same,
        _ => {
            let of_equals = [
                "pxor", "pxord", "pxorq", "xorps", "xorpd", "psubb", "psubw", "psubd", "psubq",
                "pcmpeqb", "pcmpeqw", "pcmpeqd", "pcmpeqq",
            ];
            same && of_equals.contains(&name(instruction).as_str())
        }
    }
}

/// Returns whether an instruction has two operands and reads the first one, too.
fn is_legacy(instruction: &Instruction) -> bool {
    instruction.encoding() == EncodingKind::Legacy
}
