//! Rules for general registers.

use iced_x86::{Mnemonic, OpKind, Register};

use super::operands::{destination_bytes, elementwise, read, write};
use crate::code::Code;
use crate::engine::Engine;
use crate::flow::holds;
use crate::registers::Values;
use crate::rule::Rule;
use crate::taint::{Taint, all_if_any, low, shift_left, shift_right, upward};

/// Applies a rule; returns the taint of the flags.
pub(super) fn apply(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let bytes = destination_bytes(instruction);
    match code.rule {
        Rule::Move => {
            let taint = read(engine, code, values, 1);
            write(engine, code, values, taint);
            0
        }
        Rule::SignExtend => sign_extend(engine, code, values, bytes),
        Rule::Lea => {
            let parts = [instruction.memory_base(), instruction.memory_index()];
            let taint = parts
                .into_iter()
                .filter(|register| *register != Register::None)
                .fold(0, |all, register| all | engine.register(register));
            write(engine, code, values, upward(taint, bytes));
            0
        }
        Rule::And => masked(engine, code, values, 0),
        Rule::Or => masked(engine, code, values, 0xff),
        Rule::Carry => carry(engine, code, values, bytes),
        Rule::Exchange => exchange(engine, code, values),
        Rule::Reverse => {
            let from = instruction.op_count() - 1;
            let taint = read(engine, code, values, from);
            let reversed = taint.reverse_bits() >> (64 - bytes);
            write(engine, code, values, reversed);
            0
        }
        Rule::ShiftLeft | Rule::ShiftRight | Rule::ShiftArithmetic | Rule::Rotate => {
            shift(engine, code, values, bytes)
        }
        Rule::ConditionalMove => conditional_move(engine, code, values, bytes),
        Rule::Count => {
            let taint = elementwise(engine, code, values, 1);
            // BSF and BSR leave the destination unchanged if no bit is set.
            let keeps = matches!(instruction.mnemonic(), Mnemonic::Bsf | Mnemonic::Bsr)
                && (taint != 0 || value(engine, code, values, 1) == 0);
            let old = if keeps { engine.register(instruction.op0_register()) } else { 0 };
            write(engine, code, values, all_if_any(taint, 1) | old);
            taint
        }
        Rule::Push | Rule::Pop | Rule::Call | Rule::Leave => stack(engine, code, values),
        Rule::String => string(engine, code, values),
        _ => unreachable!("the caller passes rules for general registers"),
    }
}

fn sign_extend(engine: &mut Engine, code: &Code, values: &Values<'_>, bytes: usize) -> Taint {
    let instruction = &code.instruction;
    let sign = |taint: Taint, from: usize, bytes: usize| {
        let above = low(bytes) & !low(from);
        if taint >> (from - 1) & 1 == 1 { taint | above } else { taint }
    };
    let registers = &mut engine.registers;
    let of = |register| registers.get(register).unwrap_or(0);
    let (to, taint) = match instruction.mnemonic() {
        Mnemonic::Cdqe => (Register::RAX, sign(of(Register::EAX), 4, 8)),
        Mnemonic::Cwde => (Register::EAX, sign(of(Register::AX), 2, 4)),
        Mnemonic::Cqo => (Register::RDX, all_if_any(of(Register::RAX) >> 7, 8)),
        Mnemonic::Cdq => (Register::EDX, all_if_any(of(Register::EAX) >> 3, 4)),
        _ => {
            let from = match instruction.op1_kind() {
                OpKind::Register => instruction.op1_register().size(),
                _ => instruction.memory_size().size(),
            };
            let taint = read(engine, code, values, 1);
            write(engine, code, values, sign(taint, from, bytes));
            return 0;
        }
    };
    registers.set(to, taint, true);
    0
}

/// AND and OR: a byte of a public operand equal to `deciding` determines the result's byte.
fn masked(engine: &mut Engine, code: &Code, values: &Values<'_>, deciding: u8) -> Taint {
    let a = read(engine, code, values, 0);
    let b = read(engine, code, values, 1);
    let mut taint = a | b;
    if taint != 0 {
        for (operand, own) in [(0, a), (1, b)] {
            let value = value(engine, code, values, operand);
            for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
                if byte == deciding && own >> i & 1 == 0 {
                    taint &= !(1 << i);
                }
            }
        }
    }
    if code.instruction.mnemonic() != Mnemonic::Test {
        write(engine, code, values, taint);
    }
    taint
}

/// Returns the value of an operand before the instruction.
fn value(engine: &mut Engine, code: &Code, values: &Values<'_>, operand: u32) -> u64 {
    let instruction = &code.instruction;
    match instruction.op_kind(operand) {
        OpKind::Register => values.get(instruction.op_register(operand)).unwrap_or(0),
        OpKind::Memory => {
            let mut bytes = [0; 8];
            let length = instruction.memory_size().size().min(8);
            let address = engine.address(code, values) as *const u8;
            // SAFETY: the instruction is about to read these bytes.
            unsafe { std::ptr::copy_nonoverlapping(address, bytes.as_mut_ptr(), length) };
            u64::from_le_bytes(bytes)
        }
        _ => instruction.try_immediate(operand).unwrap_or(0),
    }
}

fn carry(engine: &mut Engine, code: &Code, values: &Values<'_>, bytes: usize) -> Taint {
    let instruction = &code.instruction;
    let operands = code.sources.iter().fold(0, |all, i| all | read(engine, code, values, *i));
    let flags = engine.registers.flags & instruction.rflags_read() != 0;
    // SBB of a register with itself yields the borrow, whatever the register holds.
    let same = instruction.mnemonic() == Mnemonic::Sbb
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    let operands = if same { 0 } else { operands } | Taint::from(flags);
    let taint =
        if matches!(instruction.mnemonic(), Mnemonic::Blsi | Mnemonic::Blsr | Mnemonic::Blsmsk) {
            upward(operands, bytes)
        } else {
            upward(operands & low(bytes), bytes)
        };
    if instruction.mnemonic() != Mnemonic::Cmp {
        write(engine, code, values, taint);
    }
    taint
}

fn exchange(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let first = read(engine, code, values, 0);
    let second = read(engine, code, values, 1);
    write(engine, code, values, second);
    match instruction.op1_kind() {
        OpKind::Register => {
            engine.registers.set(instruction.op1_register(), first, true);
        }
        _ => {
            let address = engine.address(code, values);
            engine.memory.set(address, instruction.memory_size().size(), first);
        }
    }
    0
}

fn shift(engine: &mut Engine, code: &Code, values: &Values<'_>, bytes: usize) -> Taint {
    let instruction = &code.instruction;
    // With two operands, the first is shifted by the second; with three, the second by the third.
    let (from, by) = if instruction.op_count() == 3 { (1, 2) } else { (0, 1) };
    let taint = read(engine, code, values, from);
    let count_taint = match instruction.op_kind(by) {
        OpKind::Register => engine.register(instruction.op_register(by)) & 1,
        _ => 0,
    };
    let count = value(engine, code, values, by) as usize & if bytes == 8 { 63 } else { 31 };
    let shifted = match code.rule {
        _ if count_taint != 0 => low(bytes),
        Rule::ShiftLeft => shift_left(taint, count, bytes),
        Rule::ShiftRight => shift_right(taint, count, bytes),
        Rule::ShiftArithmetic => {
            let sign = taint >> (bytes - 1) & 1 == 1;
            let within = shift_right(taint, count, bytes);
            if sign && count > 0 {
                // The highest byte that still holds bits of the number, and all bytes above.
                let first = bytes - 1 - (count / 8).min(bytes - 1);
                within | low(bytes) & !low(first)
            } else {
                within
            }
        }
        _ => {
            let count = count % (8 * bytes);
            let left = match instruction.mnemonic() {
                Mnemonic::Rol => count,
                _ => 8 * bytes - count,
            };
            shift_left(taint, left, bytes) | shift_right(taint, 8 * bytes - left, bytes)
        }
    };
    write(engine, code, values, shifted);
    taint | count_taint
}

fn conditional_move(engine: &mut Engine, code: &Code, values: &Values<'_>, bytes: usize) -> Taint {
    let instruction = &code.instruction;
    let old = read(engine, code, values, 0);
    let new = read(engine, code, values, 1);
    let taint = if engine.registers.flags & instruction.rflags_read() != 0 {
        low(bytes)
    } else if holds(instruction.condition_code(), values.context.flags) {
        new
    } else {
        old
    };
    write(engine, code, values, taint);
    0
}

fn stack(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let top = values.get(Register::RSP).unwrap_or(0) as usize;
    match code.rule {
        Rule::Push => {
            let taint = read(engine, code, values, 0);
            engine.accessed(top - 8);
            engine.memory.set(top - 8, 8, taint);
        }
        Rule::Pop => {
            engine.accessed(top);
            let taint = engine.memory.get(top, 8);
            write(engine, code, values, taint);
        }
        Rule::Call => {
            if instruction.op0_kind() == OpKind::Memory {
                engine.address(code, values);
            }
            engine.accessed(top - 8);
            engine.memory.set(top - 8, 8, 0);
        }
        _ => {
            let base = values.get(Register::RBP).unwrap_or(0) as usize;
            engine.accessed(base);
            let taint = engine.memory.get(base, 8);
            let pointer = engine.register(Register::RBP);
            engine.registers.set(Register::RSP, pointer, true);
            engine.registers.set(Register::RBP, taint, true);
        }
    }
    0
}

fn string(engine: &mut Engine, code: &Code, values: &Values<'_>) -> Taint {
    let instruction = &code.instruction;
    let repeated = instruction.has_rep_prefix();
    if repeated && values.get(Register::RCX) == Some(0) {
        return 0;
    }
    let bytes = instruction.memory_size().size();
    let to = values.get(Register::RDI).unwrap_or(0) as usize;
    let stores = matches!(
        instruction.mnemonic(),
        Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq
    );
    let taint = if stores {
        engine.register(Register::RAX) & low(bytes)
    } else {
        let from = values.get(Register::RSI).unwrap_or(0) as usize;
        engine.accessed(from);
        engine.memory.get(from, bytes)
    };
    engine.accessed(to);
    engine.memory.set(to, bytes, taint);
    0
}
