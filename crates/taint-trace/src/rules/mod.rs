//! Rules that propagate taint from the sources of an instruction to its destinations.
//!
//! Each rule is sound: a byte of a result is tainted if it can differ with a secret. An instruction
//! without a rule of its own follows [`Rule::Generic`]: every destination depends on every source.
//! The other rules exist because that is too coarse for what compilers do with public values.

mod general;
mod operands;
mod vector;

use iced_x86::OpKind;

use crate::code::Code;
use crate::engine::Engine;
use crate::finding::Kind;
use crate::registers::Values;
use crate::rule::Rule;
use crate::taint::{Taint, all_if_any, low};
use operands::{accessed, write};

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
        | Rule::Gather(_)
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
        // A shift by zero leaves the flags unchanged. Only a count in a register may be zero here:
        // with a constant of zero, the decoder lists no modified flags.
        let by_register =
            instruction.op_kind(instruction.op_count().saturating_sub(1)) == OpKind::Register;
        if by_register { *flags } else { *flags & !(written & !instruction.rflags_undefined()) }
    } else {
        *flags & !written
    };
}

const fn is_shift(rule: Rule) -> bool {
    matches!(rule, Rule::ShiftLeft | Rule::ShiftRight | Rule::ShiftArithmetic | Rule::Rotate)
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
            sources |= taint & accessed(engine, instruction, values);
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
