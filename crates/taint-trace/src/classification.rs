//! The rule for each instruction.

mod vector;

use iced_x86::{Instruction, Mnemonic, OpKind};

use crate::rule::Rule;

/// Returns the rule of an instruction.
pub(crate) fn rule(instruction: &Instruction) -> Rule {
    use Mnemonic as M;
    if vector::is_constant(instruction) || is_constant(instruction) {
        return Rule::Constant;
    }
    match instruction.mnemonic() {
        M::Nop | M::Endbr64 => Rule::Nop,
        M::Div | M::Idiv | M::Pdep | M::Pext | M::Cpuid | M::Rdrand | M::Rdseed => {
            Rule::VariableTime
        }
        // Division and square roots of floating-point numbers, also in vectors.
        mnemonic
            if ["Div", "Sqrt", "Vdiv", "Vsqrt", "Fdiv", "Fsqrt"]
                .iter()
                .any(|start| format!("{mnemonic:?}").starts_with(start)) =>
        {
            Rule::VariableTime
        }
        _ if instruction.is_jcc_short_or_near()
            || instruction.is_jmp_short_or_near()
            || instruction.is_jmp_near_indirect()
            || instruction.is_jcx_short() =>
        {
            Rule::Nothing
        }
        M::Ret | M::Pause | M::Lfence | M::Mfence | M::Sfence => Rule::Nothing,
        M::Mov | M::Movzx => {
            if instruction.op0_register().is_segment_register() {
                Rule::Generic
            } else {
                Rule::Move
            }
        }
        M::Movbe | M::Bswap => Rule::Reverse,
        M::Movsx | M::Movsxd | M::Cdqe | M::Cwde | M::Cqo | M::Cdq => Rule::SignExtend,
        M::Lea => Rule::Lea,
        M::And | M::Test => Rule::And,
        M::Or => Rule::Or,
        M::Xor | M::Not | M::Andn => Rule::Elements(1),
        M::Add
        | M::Sub
        | M::Adc
        | M::Sbb
        | M::Adcx
        | M::Adox
        | M::Inc
        | M::Dec
        | M::Neg
        | M::Cmp
        | M::Blsr
        | M::Blsmsk
        | M::Blsi => Rule::Carry,
        M::Imul if instruction.op_count() > 1 => Rule::Carry,
        M::Xchg => Rule::Exchange,
        M::Shl | M::Shlx => Rule::ShiftLeft,
        M::Shr | M::Shrx => Rule::ShiftRight,
        M::Sar | M::Sarx => Rule::ShiftArithmetic,
        M::Rol | M::Ror | M::Rorx => Rule::Rotate,
        M::Bsr | M::Bsf | M::Tzcnt | M::Lzcnt | M::Popcnt => Rule::Count,
        M::Push => Rule::Push,
        M::Pop => Rule::Pop,
        M::Call => Rule::Call,
        M::Leave => Rule::Leave,
        _ if instruction.is_string_instruction() => match instruction.mnemonic() {
            M::Movsb
            | M::Movsw
            | M::Movsd
            | M::Movsq
            | M::Stosb
            | M::Stosw
            | M::Stosd
            | M::Stosq => Rule::String,
            _ => Rule::Generic,
        },
        mnemonic if is_conditional_move(mnemonic) => Rule::ConditionalMove,
        _ => vector::rule(instruction).unwrap_or(Rule::Generic),
    }
}

fn is_conditional_move(mnemonic: Mnemonic) -> bool {
    format!("{mnemonic:?}").starts_with("Cmov")
}

/// Returns whether the result, in a general register, is independent of the operands.
fn is_constant(instruction: &Instruction) -> bool {
    let same = instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    same && matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub)
}
