//! The shadow of the registers, and the values of the registers that form addresses.

use iced_x86::Register;

use crate::context::Context;
use crate::taint::{Taint, low};

/// The bytes of each register that depend on a secret.
#[derive(Clone, Default)]
pub(crate) struct Registers {
    general: [u8; 16],
    vector: [Taint; 32],
    /// One bit per mask register, because its single bits are not tracked.
    mask: u8,
    /// Flags, by iced's `RflagsBits`.
    pub(crate) flags: u32,
}

impl Registers {
    /// Returns the tainted bytes of a register operand; `None` if it is not modelled.
    pub(crate) fn get(&self, register: Register) -> Option<Taint> {
        if register.is_gpr() {
            let taint = Taint::from(self.general[number(register)]);
            Some(taint >> high_byte(register) & low(register.size()))
        } else if register.is_vector_register() {
            Some(self.vector[register.number()] & low(register.size()))
        } else if register.is_k() {
            Some(if self.mask >> register.number() & 1 == 1 { low(8) } else { 0 })
        } else if register.is_ip() || register.is_segment_register() {
            Some(0)
        } else {
            None
        }
    }

    /// Writes a register operand. A write of 32 bits clears the upper half of a general register;
    /// `clears_upper` tells whether a write clears the upper part of a vector register. Returns
    /// `false` for a register that is not modelled.
    pub(crate) fn set(&mut self, register: Register, taint: Taint, clears_upper: bool) -> bool {
        let written = low(register.size());
        let taint = taint & written;
        if register.is_gpr() {
            let slot = &mut self.general[number(register)];
            let shift = high_byte(register);
            let kept = if register.size() >= 4 { 0 } else { *slot & !((written as u8) << shift) };
            *slot = kept | (taint as u8) << shift;
        } else if register.is_vector_register() {
            let slot = &mut self.vector[register.number()];
            *slot = if clears_upper { taint } else { *slot & !written | taint };
        } else if register.is_k() {
            let bit = 1 << register.number();
            self.mask = if taint == 0 { self.mask & !bit } else { self.mask | bit };
        } else {
            return register.is_segment_register();
        }
        true
    }

    /// Cleans the vector registers from byte `kept` on: VZEROUPPER keeps 16 bytes, VZEROALL none.
    pub(crate) fn zero_vectors(&mut self, kept: usize) {
        for slot in &mut self.vector[..16] {
            *slot &= low(kept);
        }
    }
}

/// Returns the index of the full register in hardware order.
fn number(register: Register) -> usize {
    register.full_register().number()
}

/// Returns the offset of the operand in its register, in bytes.
const fn high_byte(register: Register) -> usize {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH) as usize
}

/// The values of the registers that form addresses, before an instruction.
pub(crate) struct Values<'a> {
    pub(crate) context: &'a Context,
}

impl Values<'_> {
    /// Returns the value of a register; iced calls this to compute an address.
    pub(crate) fn get(&self, register: Register) -> Option<u64> {
        if register.is_gpr() {
            let whole = self.context.general[number(register)];
            let value = whole >> (8 * high_byte(register));
            return Some(if register.size() == 8 {
                value
            } else {
                value & ((1 << (8 * register.size())) - 1)
            });
        }
        match register {
            Register::FS => Some(self.context.thread_pointer),
            Register::RIP => Some(self.context.instruction_pointer),
            _ if register.is_segment_register() => Some(0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_general_register() {
        let mut registers = Registers::default();
        registers.set(Register::RAX, 0xff, true);
        registers.set(Register::AH, 0, true);
        assert_eq!(registers.get(Register::RAX), Some(0xfd));
        assert_eq!(registers.get(Register::AH), Some(0));
        registers.set(Register::AX, 0, true);
        assert_eq!(registers.get(Register::RAX), Some(0xfc));
        registers.set(Register::EAX, 0, true);
        assert_eq!(registers.get(Register::RAX), Some(0));
        registers.set(Register::R9L, 1, true);
        assert_eq!(registers.get(Register::R9), Some(1));
    }

    #[test]
    fn parts_of_a_vector_register() {
        let mut registers = Registers::default();
        registers.set(Register::ZMM20, Taint::MAX, true);
        registers.set(Register::XMM20, 0, false);
        assert_eq!(registers.get(Register::ZMM20), Some(!0xffff));
        registers.set(Register::XMM20, 1, true);
        assert_eq!(registers.get(Register::ZMM20), Some(1));
    }
}
