//! Rules that propagate taint from the sources of an instruction to its destinations.
//!
//! Each rule is sound: a byte of a result is tainted if it can differ with a secret. An instruction
//! without a rule of its own follows [`Rule::Generic`]: every destination depends on every source.
//! The other rules exist because that is too coarse for what compilers do with public values.

mod general;
mod vector;

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register};

use crate::code::Code;
use crate::engine::Engine;
use crate::finding::Kind;
use crate::registers::Values;
use crate::taint::{Taint, all_if_any, elements, low};

/// The rule of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Every destination depends on every source.
    Generic,
    /// As [`Generic`](Self::Generic), and the time depends on the sources.
    VariableTime,
    /// Nothing is written: branches (checked elsewhere) and fences.
    Nothing,
    /// A no-op, which may be a marker.
    Nop,
    /// The result is independent of the operands, as in the exclusive-or of an operand with itself.
    Constant,
    /// Bytes move to the same positions; higher bytes become zero.
    Move,
    /// As [`Move`](Self::Move), with sign extension.
    SignExtend,
    /// The result is the address itself.
    Lea,
    /// A byte that is zero in a public operand is zero in the result.
    And,
    /// A byte that is all ones in a public operand is all ones in the result.
    Or,
    /// Sums and low halves of products: a byte depends on the same and lower bytes of the operands.
    Carry,
    /// Two values are exchanged.
    Exchange,
    /// The order of the bytes is reversed.
    Reverse,
    /// A left shift of a general register.
    ShiftLeft,
    /// A right shift; zeros come in from above.
    ShiftRight,
    /// A right shift; the sign comes in from above.
    ShiftArithmetic,
    /// A rotation; both ends meet.
    Rotate,
    /// One of two operands, selected by flags.
    ConditionalMove,
    /// A bit index or count, which fits into a byte.
    Count,
    /// To the stack.
    Push,
    /// From the stack.
    Pop,
    /// A call: pushes a public return address.
    Call,
    /// The base pointer becomes the stack pointer, then the base pointer is popped.
    Leave,
    /// MOVS, STOS, LODS: one element of a repetition.
    String,
    /// Vectors with elements of this many bytes, each of which depends only on itself.
    Elements(u8),
    /// One element of this many bytes is copied to all.
    Broadcast(u8),
    /// One element of this many bytes is inserted into a vector, at a position given by an
    /// immediate.
    Insert(u8),
    /// One element of this many bytes is extracted from a vector, at a position given by an
    /// immediate.
    Extract(u8),
    /// Elements of this many bytes of two vectors are interleaved, from the low halves of each
    /// 16 bytes.
    UnpackLow(u8),
    /// As [`UnpackLow`](Self::UnpackLow), with the high halves.
    UnpackHigh(u8),
    /// Elements of this many bytes are permuted within 32 bytes, by an immediate: VPERMQ.
    Permute,
    /// Elements of four bytes are permuted within 16 bytes, by an immediate: PSHUFD.
    Shuffle,
    /// Two concatenated vectors are shifted by this many bytes per step of the immediate: VALIGNQ.
    Align(u8),
    /// The bytes within each 16 bytes depend on each other.
    Within16,
    /// The upper half of 16 bytes is loaded from memory or stored to it.
    MoveHigh,
    /// The lower half of 16 bytes is loaded from memory or stored to it.
    MoveLow,
    /// VZEROUPPER.
    ZeroUpper,
    /// VZEROALL.
    ZeroAll,
}

impl Rule {
    /// Returns the rule of an instruction.
    pub(crate) fn of(instruction: &Instruction) -> Self {
        use Mnemonic as M;
        if vector::is_constant(instruction) || general::is_constant(instruction) {
            return Self::Constant;
        }
        match instruction.mnemonic() {
            M::Nop | M::Endbr64 => Self::Nop,
            M::Div | M::Idiv | M::Pdep | M::Pext | M::Cpuid | M::Rdrand | M::Rdseed => {
                Self::VariableTime
            }
            // Division and square roots of floating-point numbers, also in vectors.
            mnemonic
                if ["Div", "Sqrt", "Vdiv", "Vsqrt", "Fdiv", "Fsqrt"]
                    .iter()
                    .any(|start| format!("{mnemonic:?}").starts_with(start)) =>
            {
                Self::VariableTime
            }
            _ if instruction.is_jcc_short_or_near()
                || instruction.is_jmp_short_or_near()
                || instruction.is_jmp_near_indirect()
                || instruction.is_jcx_short() =>
            {
                Self::Nothing
            }
            M::Ret | M::Pause | M::Lfence | M::Mfence | M::Sfence => Self::Nothing,
            M::Mov | M::Movzx => {
                if instruction.op0_register().is_segment_register() {
                    Self::Generic
                } else {
                    Self::Move
                }
            }
            M::Movbe | M::Bswap => Self::Reverse,
            M::Movsx | M::Movsxd | M::Cdqe | M::Cwde | M::Cqo | M::Cdq => Self::SignExtend,
            M::Lea => Self::Lea,
            M::And | M::Test => Self::And,
            M::Or => Self::Or,
            M::Xor | M::Not | M::Andn => Self::Elements(1),
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
            | M::Blsi => Self::Carry,
            M::Imul if instruction.op_count() > 1 => Self::Carry,
            M::Xchg => Self::Exchange,
            M::Shl | M::Shlx => Self::ShiftLeft,
            M::Shr | M::Shrx => Self::ShiftRight,
            M::Sar | M::Sarx => Self::ShiftArithmetic,
            M::Rol | M::Ror | M::Rorx => Self::Rotate,
            M::Bsr | M::Bsf | M::Tzcnt | M::Lzcnt | M::Popcnt => Self::Count,
            M::Push => Self::Push,
            M::Pop => Self::Pop,
            M::Call => Self::Call,
            M::Leave => Self::Leave,
            _ if instruction.is_string_instruction() => match instruction.mnemonic() {
                M::Movsb
                | M::Movsw
                | M::Movsd
                | M::Movsq
                | M::Stosb
                | M::Stosw
                | M::Stosd
                | M::Stosq => Self::String,
                _ => Self::Generic,
            },
            mnemonic if is_conditional_move(mnemonic) => Self::ConditionalMove,
            _ => vector::rule(instruction).unwrap_or(Self::Generic),
        }
    }
}

fn is_conditional_move(mnemonic: Mnemonic) -> bool {
    format!("{mnemonic:?}").starts_with("Cmov")
}

/// Propagates the taint of an instruction.
pub(crate) fn apply(engine: &mut Engine, code: &Code, values: &Values<'_>) {
    let instruction = &code.instruction;
    let before = engine.registers.flags & instruction.rflags_read();
    let tainted = match code.rule {
        Rule::Nop | Rule::Nothing => return,
        Rule::Constant => {
            let zero = write(engine, code, values, 0);
            debug_assert!(zero);
            0
        }
        Rule::Generic | Rule::VariableTime => generic(engine, code, values),
        Rule::Elements(_)
        | Rule::Broadcast(_)
        | Rule::Insert(_)
        | Rule::Extract(_)
        | Rule::UnpackLow(_)
        | Rule::UnpackHigh(_)
        | Rule::Permute
        | Rule::Shuffle
        | Rule::Align(_)
        | Rule::Within16
        | Rule::MoveHigh
        | Rule::MoveLow
        | Rule::ZeroUpper
        | Rule::ZeroAll => vector::apply(engine, code, values),
        _ => general::apply(engine, code, values),
    };
    // Flags depend on all operands and on the flags that were read.
    let any = tainted != 0 || before != 0;
    let written = instruction.rflags_modified();
    let constant = instruction.rflags_cleared() | instruction.rflags_set();
    let flags = &mut engine.registers.flags;
    *flags = if any && code.rule != Rule::Constant {
        *flags & !constant | written & !constant
    } else if is_shift(code.rule) {
        // A shift by zero leaves the flags unchanged.
        *flags
    } else {
        *flags & !written
    };
}

const fn is_shift(rule: Rule) -> bool {
    matches!(rule, Rule::ShiftLeft | Rule::ShiftRight | Rule::ShiftArithmetic | Rule::Rotate)
}

/// Returns the taint of an operand that is read.
fn read(engine: &mut Engine, code: &Code, values: &Values<'_>, operand: u32) -> Taint {
    let instruction = &code.instruction;
    match instruction.op_kind(operand) {
        OpKind::Register => {
            let register = instruction.op_register(operand);
            engine.registers.get(register).unwrap_or(0)
        }
        OpKind::Memory => {
            let bytes = memory_bytes(instruction);
            let address = engine.address(code, values);
            let taint = engine.memory.get(address, bytes);
            if instruction.is_broadcast() {
                crate::taint::repeat(taint, bytes, vector_bytes(instruction))
            } else {
                taint & accessed(engine, instruction, values)
            }
        }
        _ => 0,
    }
}

/// Returns the bytes of a memory operand that a public mask selects; all bytes without a mask.
fn accessed(engine: &Engine, instruction: &Instruction, values: &Values<'_>) -> Taint {
    let mask = instruction.op_mask();
    if mask == Register::None || engine.register(mask) != 0 {
        return Taint::MAX;
    }
    let size = instruction.memory_size().element_size().max(1);
    let bits = values.masks[mask.number()];
    (0..64 / size).filter(|i| bits >> i & 1 == 1).fold(0, |all, i| all | low(size) << (i * size))
}

/// Returns the number of bytes accessed in memory; one element for a broadcast.
fn memory_bytes(instruction: &Instruction) -> usize {
    let size = instruction.memory_size();
    if instruction.is_broadcast() { size.element_size() } else { size.size() }
}

/// Returns the length of the widest vector register among the operands.
fn vector_bytes(instruction: &Instruction) -> usize {
    (0..instruction.op_count())
        .filter(|i| instruction.op_kind(*i) == OpKind::Register)
        .map(|i| instruction.op_register(i))
        .filter(|register| register.is_vector_register())
        .map(Register::size)
        .max()
        .unwrap_or(16)
}

/// Writes the first operand. Returns `false` if it cannot be written.
fn write(engine: &mut Engine, code: &Code, values: &Values<'_>, taint: Taint) -> bool {
    let instruction = &code.instruction;
    let mask = instruction.op_mask();
    let mask = mask != Register::None;
    let by_mask = mask && engine.register(instruction.op_mask()) != 0;
    match instruction.op0_kind() {
        OpKind::Register => {
            let register = instruction.op0_register();
            let mut taint = taint;
            if mask && register.is_vector_register() {
                if instruction.merging_masking() {
                    taint |= engine.register(register);
                }
                if by_mask {
                    taint = low(register.size());
                }
            }
            let clears = code.clears_upper || !register.is_vector_register();
            engine.registers.set(register, taint, clears)
        }
        OpKind::Memory => {
            let bytes = memory_bytes(instruction);
            let address = engine.address(code, values);
            // Masked-out bytes stay unchanged; a secret mask is a separate finding.
            let written = accessed(engine, instruction, values);
            let kept =
                engine.memory.get(address, bytes) & if by_mask { Taint::MAX } else { !written };
            engine.memory.set(address, bytes, taint & written | kept);
            true
        }
        // TEST and CMP with an immediate write nothing.
        _ => true,
    }
}

/// Returns the size of the first operand in bytes.
fn destination_bytes(instruction: &Instruction) -> usize {
    match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size(),
        OpKind::Memory => memory_bytes(instruction),
        _ => 8,
    }
}

/// Every destination depends on every source, including implicit ones.
fn generic(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let mut factory = engine.factory.take().expect("one rule runs at a time");
    let info = factory.info(instruction);
    let mut sources = Taint::from(engine.registers.flags & instruction.rflags_read() != 0);
    let mut modelled = true;
    use iced_x86::OpAccess as A;
    for used in info.used_registers() {
        if matches!(used.access(), A::Read | A::CondRead | A::ReadWrite | A::ReadCondWrite) {
            sources |= engine.register(used.register());
        }
    }
    let mut memory = Vec::new();
    for used in info.used_memory() {
        if matches!(used.access(), A::None | A::NoMemAccess) {
            continue;
        }
        let bytes = used.memory_size().size();
        let address = used.virtual_address(0, |register, _, _| values.get(register));
        let Some(address) = address.filter(|_| (1..=64).contains(&bytes)) else {
            modelled = false;
            continue;
        };
        engine.accessed(address as usize);
        if matches!(used.access(), A::Read | A::CondRead | A::ReadWrite | A::ReadCondWrite) {
            let taint = engine.memory.get(address as usize, bytes);
            // A gather's mask is a separate register, and its elements are read one by one.
            let whole = bytes == instruction.memory_size().size();
            let through = if whole { accessed(engine, instruction, values) } else { Taint::MAX };
            sources |= taint & through;
        }
        memory.push((address as usize, bytes, used.access()));
    }
    for (address, bytes, access) in memory {
        match access {
            A::Write | A::ReadWrite => {
                engine.memory.set(address, bytes, all_if_any(sources, bytes));
            }
            A::CondWrite | A::ReadCondWrite if sources != 0 => {
                engine.memory.set(address, bytes, low(bytes));
            }
            _ => {}
        }
    }
    for used in info.used_registers() {
        let register = used.register();
        let known = match used.access() {
            A::Write | A::ReadWrite => {
                engine.registers.set(register, all_if_any(sources, 64), code.clears_upper)
            }
            A::CondWrite | A::ReadCondWrite if sources != 0 => {
                engine.registers.set(register, all_if_any(sources, 64), code.clears_upper)
            }
            _ => true,
        };
        modelled &= known || sources == 0;
    }
    engine.factory = Some(factory);
    if !modelled {
        engine.find(Kind::NotModelled, instruction);
    }
    if code.rule == Rule::VariableTime && sources != 0 {
        engine.find(Kind::VariableTime, instruction);
    }
    sources
}

/// Returns the union of all sources, element by element.
fn elementwise(engine: &mut Engine, code: &Code, values: &Values<'_>, size: usize) -> Taint {
    let taint = code.sources.iter().fold(0, |all, i| all | read(engine, code, values, *i));
    elements(taint, size)
}

/// Returns whether an instruction has two operands and reads the first one, too.
fn is_legacy(instruction: &Instruction) -> bool {
    instruction.encoding() == EncodingKind::Legacy
}
