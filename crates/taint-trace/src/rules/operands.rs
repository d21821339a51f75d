//! Reads and writes the taint of operands.

use iced_x86::{Instruction, OpKind, Register};

use crate::code::Code;
use crate::engine::Engine;
use crate::registers::Values;
use crate::taint::{Taint, elements, low};

/// Returns the taint of an operand that is read.
pub(super) fn read(engine: &mut Engine, code: &Code, values: &Values<'_>, operand: u32) -> Taint {
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
pub(super) fn accessed(engine: &Engine, instruction: &Instruction, values: &Values<'_>) -> Taint {
    let mask = instruction.op_mask();
    if mask == Register::None || engine.register(mask) != 0 {
        return Taint::MAX;
    }
    let size = instruction.memory_size().element_size().max(1);
    let bits = values.context.mask(mask.number());
    (0..64 / size).filter(|i| bits >> i & 1 == 1).fold(0, |all, i| all | low(size) << (i * size))
}

/// Returns the number of bytes accessed in memory; one element for a broadcast.
pub(super) fn memory_bytes(instruction: &Instruction) -> usize {
    let size = instruction.memory_size();
    if instruction.is_broadcast() { size.element_size() } else { size.size() }
}

/// Returns the length of the widest vector register among the operands.
pub(super) fn vector_bytes(instruction: &Instruction) -> usize {
    (0..instruction.op_count())
        .filter(|i| instruction.op_kind(*i) == OpKind::Register)
        .map(|i| instruction.op_register(i))
        .filter(|register| register.is_vector_register())
        .map(Register::size)
        .max()
        .unwrap_or(16)
}

/// Writes the first operand. Returns `false` if it cannot be written.
pub(super) fn write(engine: &mut Engine, code: &Code, values: &Values<'_>, taint: Taint) -> bool {
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
pub(super) fn destination_bytes(instruction: &Instruction) -> usize {
    match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size(),
        OpKind::Memory => memory_bytes(instruction),
        _ => 8,
    }
}

/// Returns the union of all sources, element by element.
pub(super) fn elementwise(
    engine: &mut Engine,
    code: &Code,
    values: &Values<'_>,
    size: usize,
) -> Taint {
    let taint = code.sources.iter().fold(0, |all, i| all | read(engine, code, values, *i));
    elements(taint, size)
}
