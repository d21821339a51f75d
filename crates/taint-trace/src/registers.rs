//! The shadow of the registers, and the values of the registers that form addresses.

use iced_x86::Register;

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

/// The values of general registers and masks before an instruction.
pub(crate) struct Values<'a> {
    pub(crate) registers: &'a [libc::greg_t; 23],
    pub(crate) thread_pointer: u64,
    /// The mask registers; zeros if the processor has none or they are in their initial state.
    pub(crate) masks: [u64; 8],
}

/// Returns the mask registers in the state that the kernel saved for a signal.
///
/// # Safety
/// `state` must be the pointer to that state in the context of a signal, or null.
pub(crate) unsafe fn saved_masks(state: *const u8, offset: Option<usize>) -> [u64; 8] {
    /// The offset in the header of the extended state of the set of non-initial components.
    const COMPONENTS: usize = 512;
    /// The component of the mask registers.
    const MASKS: u64 = 1 << 5;
    let Some(offset) = offset.filter(|_| !state.is_null()) else { return [0; 8] };
    // SAFETY: the kernel wrote the extended state there, in the standard format.
    unsafe {
        if state.add(COMPONENTS).cast::<u64>().read_unaligned() & MASKS == 0 {
            return [0; 8];
        }
        state.add(offset).cast::<[u64; 8]>().read_unaligned()
    }
}

/// Returns the offset of the mask registers in the extended state, if the processor has them.
pub(crate) fn offset_of_masks() -> Option<usize> {
    let there = std::is_x86_feature_detected!("avx512f");
    let state = there.then(|| std::arch::x86_64::__cpuid_count(0xd, 5))?;
    Some(state.ebx as usize)
}

impl Values<'_> {
    /// Returns the value of a register; iced calls this to compute an address.
    pub(crate) fn get(&self, register: Register) -> Option<u64> {
        if register.is_gpr() {
            let whole = self.registers[INDEX[number(register)] as usize] as u64;
            let value = whole >> (8 * high_byte(register));
            return Some(if register.size() == 8 {
                value
            } else {
                value & ((1 << (8 * register.size())) - 1)
            });
        }
        match register {
            Register::FS => Some(self.thread_pointer),
            Register::RIP => Some(self.registers[libc::REG_RIP as usize] as u64),
            _ if register.is_segment_register() => Some(0),
            _ => None,
        }
    }

    pub(crate) const fn flags(&self) -> u64 {
        self.registers[libc::REG_EFL as usize] as u64
    }
}

/// The kernel's index of each general register, in hardware order.
const INDEX: [i32; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

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
