//! Rules for vector registers.

use iced_x86::{Mnemonic, OpKind, Register};

use super::operands::{destination_bytes, elementwise, memory_bytes, read, write};
use crate::code::Code;
use crate::engine::Engine;
use crate::finding::Kind;
use crate::registers::Values;
use crate::rule::Rule;
use crate::taint::{Taint, all_if_any, low, repeat};

/// Applies a rule; returns the taint of the flags.
pub(super) fn apply(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let bytes = destination_bytes(instruction);
    let count = instruction.op_count();
    let immediate = if count > 0 && instruction.op_kind(count - 1) == OpKind::Immediate8 {
        usize::from(instruction.immediate8())
    } else {
        0
    };
    let taint = match code.rule {
        Rule::Elements(size) => elementwise(engine, code, values, usize::from(size)),
        Rule::Broadcast(size) => {
            let from = read(engine, code, values, count - 1);
            repeat(from, usize::from(size), bytes)
        }
        Rule::Insert(size) => {
            let size = usize::from(size);
            // Without the V prefix the first operand is the vector; otherwise the second is.
            let into = if count == 4 { 1 } else { 0 };
            let old = read(engine, code, values, into);
            let part = read(engine, code, values, into + 1) & low(size);
            let at = size * (immediate % (bytes / size));
            old & !(low(size) << at) | part << at
        }
        Rule::Extract(size) => {
            let size = usize::from(size);
            let from = instruction.op1_register().size();
            let taint = read(engine, code, values, 1);
            taint >> (size * (immediate % (from / size))) & low(size)
        }
        Rule::UnpackLow(size) => unpack(engine, code, values, usize::from(size), 0),
        Rule::UnpackHigh(size) => unpack(engine, code, values, usize::from(size), 8),
        Rule::Permute => {
            let from = read(engine, code, values, 1);
            by_immediate(from, immediate, 8, bytes)
        }
        Rule::Shuffle => {
            let from = read(engine, code, values, 1);
            by_immediate(from, immediate, 4, bytes)
        }
        Rule::Align(size) => {
            let shift = usize::from(size) * (immediate % (bytes / usize::from(size)));
            let high = read(engine, code, values, 1);
            let from = read(engine, code, values, 2);
            let down = from >> shift;
            (if shift == 0 { down } else { down | high << (bytes - shift) }) & low(bytes)
        }
        Rule::Within16 => elementwise(engine, code, values, 16),
        Rule::MoveHigh | Rule::MoveLow => return move_half(engine, code, values),
        Rule::Gather(size) => return gather(engine, code, values, usize::from(size)),
        Rule::ZeroUpper => {
            engine.registers.zero_vectors(16);
            return 0;
        }
        _ => {
            engine.registers.zero_vectors(0);
            return 0;
        }
    };
    // A mask instead of a merge keeps or clears whole elements.
    let taint = if instruction.op_mask() == Register::None {
        taint
    } else {
        all_if_any(engine.register(instruction.op_mask()), bytes) | taint
    };
    // MOVQ and MOVD also clear the upper part in their legacy encoding.
    if matches!(instruction.mnemonic(), Mnemonic::Movq | Mnemonic::Movd)
        && instruction.op0_kind() == OpKind::Register
    {
        engine.registers.set(instruction.op0_register(), taint & low(8), false);
        return 0;
    }
    write(engine, code, values, taint);
    taint
}

fn unpack(
    engine: &mut Engine,
    code: &Code,
    values: &Values<'_>,
    size: usize,
    from: usize,
) -> Taint {
    let (first, second) = if code.instruction.op_count() == 3 { (1, 2) } else { (0, 1) };
    let a = read(engine, code, values, first);
    let b = read(engine, code, values, second);
    let mut taint = 0;
    for lane in (0..destination_bytes(&code.instruction)).step_by(16) {
        for i in 0..8 / size {
            let at = lane + from + i * size;
            taint |= (a >> at & low(size)) << (lane + 2 * i * size);
            taint |= (b >> at & low(size)) << (lane + (2 * i + 1) * size);
        }
    }
    taint
}

/// Loads each selected element from an address of its own; the others stay. The mask, a register of
/// masks or of the signs of elements, becomes zero.
fn gather(engine: &mut Engine, code: &Code, values: &Values<'_>, size: usize) -> Taint {
    let instruction = &code.instruction;
    let (to, index) = (instruction.op0_register(), instruction.memory_index());
    let by_signs = instruction.op_mask() == Register::None;
    let mask = if by_signs { instruction.op2_register() } else { instruction.op_mask() };
    let secret_mask = engine.register(mask) != 0;
    if by_signs && secret_mask {
        engine.find(Kind::Mask, instruction);
    }
    let index_size = if instruction.vsib() == Some(true) { 8 } else { 4 };
    let count = (to.size() / size).min(index.size() / index_size);
    let old = engine.register(to) & low(count * size);
    let mut taint = old;
    for i in 0..count {
        let selected = if by_signs {
            let top = values.context.element(mask.number(), i, size);
            top >> (8 * size - 1) == 1
        } else {
            values.context.mask(mask.number()) >> i & 1 == 1
        };
        let address = instruction.virtual_address(1, i, |register, element, bytes| {
            if register.is_vector_register() {
                Some(values.context.element(register.number(), element, bytes))
            } else {
                values.get(register)
            }
        });
        if let Some(address) = address.filter(|_| selected) {
            engine.accessed(address as usize);
            let loaded = engine.memory.get(address as usize, size) << (i * size);
            taint = taint & !(low(size) << (i * size)) | loaded;
        }
    }
    if secret_mask {
        taint = low(count * size);
    }
    engine.registers.set(to, taint, true);
    engine.registers.set(mask, 0, true);
    0
}

/// Permutes each group of four elements; two bits of the immediate select the source of each
/// element.
fn by_immediate(from: Taint, immediate: usize, size: usize, bytes: usize) -> Taint {
    let mut taint = 0;
    for group in (0..bytes).step_by(4 * size) {
        for i in 0..4 {
            let source = immediate >> (2 * i) & 3;
            taint |= (from >> (group + source * size) & low(size)) << (group + i * size);
        }
    }
    taint
}

/// MOVHPS, MOVLPS and similar moves between memory and half of 16 bytes.
fn move_half(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let at = if code.rule == Rule::MoveHigh { 8 } else { 0 };
    if instruction.op0_kind() == OpKind::Memory {
        let taint = read(engine, code, values, 1) >> at;
        let address = engine.address(code, values);
        engine.memory.set(address, memory_bytes(instruction), taint);
    } else {
        let (into, from) = if instruction.op_count() == 3 { (1, 2) } else { (0, 1) };
        let old = read(engine, code, values, into) & !(low(8) << at);
        let taint = old | (read(engine, code, values, from) & low(8)) << at;
        engine.registers.set(instruction.op0_register(), taint, code.clears_upper);
    }
    0
}
