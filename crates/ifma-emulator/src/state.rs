//! The registers of the interrupted thread, in the frame that the kernel saved for the signal.
//!
//! The frame's vector state has XSAVE's standard format: the legacy area of 512 bytes, a header
//! that begins with one bit per component that is not in its initial state, then the components at
//! the offsets given by CPUID leaf 0xD (Intel's manual, volume 1, section 13.4).

use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

use crate::decode::{Address, Base};

/// The offsets of the components of a vector register, in bytes from the start of the area.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    /// Bits 128 to 255 of registers 0 to 15.
    ymm_high: usize,
    /// The mask registers.
    masks: usize,
    /// Bits 256 to 511 of registers 0 to 15.
    zmm_high: usize,
    /// Registers 16 to 31.
    high_16: usize,
}

/// A component's bit in the header, and its size in bytes.
type Component = (u32, usize);
const XMM: Component = (1, 256);
const YMM_HIGH: Component = (2, 256);
const MASKS: Component = (5, 64);
const ZMM_HIGH: Component = (6, 512);
const HIGH_16: Component = (7, 1024);

/// The offset of the low 128 bits of registers 0 to 15, in the legacy area.
const XMM_OFFSET: usize = 160;
const HEADER_OFFSET: usize = 512;

static OFFSETS: OnceLock<Offsets> = OnceLock::new();

/// Queries the processor for the offsets of the components. Must be called before a [`State`] is
/// created, because CPUID may take a lock or trap, which a signal handler must not do.
pub(crate) fn find_components() {
    OFFSETS.get_or_init(|| {
        // SAFETY: every processor of this architecture has the instruction, which was unsafe to
        // older compilers.
        #[allow(unused_unsafe)]
        let offset = |component: Component| unsafe { __cpuid_count(0xd, component.0) }.ebx as usize;
        Offsets {
            ymm_high: offset(YMM_HIGH),
            masks: offset(MASKS),
            zmm_high: offset(ZMM_HIGH),
            high_16: offset(HIGH_16),
        }
    });
}

/// The saved registers.
pub(crate) struct State {
    registers: *mut [libc::greg_t; 23],
    area: *mut u8,
    offsets: Offsets,
}

impl State {
    /// Wraps the context of a signal.
    ///
    /// # Safety
    /// `context` must be what the kernel passed to a signal handler that has not returned, must
    /// contain AVX-512 state, and must not be used by anything else; [`find_components`] must have
    /// been called.
    pub(crate) unsafe fn new(context: *mut libc::ucontext_t) -> Self {
        // SAFETY: the caller's promise.
        let machine = unsafe { &mut (*context).uc_mcontext };
        Self {
            registers: &mut machine.gregs,
            area: machine.fpregs.cast(),
            offsets: *OFFSETS.get().expect("the offsets are known before the handler is installed"),
        }
    }

    pub(crate) fn instruction_pointer(&self) -> *const u8 {
        self.general(libc::REG_RIP) as *const u8
    }

    pub(crate) fn set_instruction_pointer(&mut self, address: usize) {
        // SAFETY: `registers` is valid and exclusively ours while this value lives.
        unsafe { (*self.registers)[libc::REG_RIP as usize] = address as i64 };
    }

    fn general(&self, index: libc::c_int) -> usize {
        // SAFETY: `registers` is valid and exclusively ours while this value lives.
        unsafe { (*self.registers)[index as usize] as usize }
    }

    /// Returns the address of a memory operand; `next` is the address of the next instruction.
    pub(crate) fn resolve(&self, address: &Address, next: usize) -> usize {
        let base = match address.base {
            Base::None => 0,
            Base::Register(number) => self.general(GENERAL[number]),
            Base::NextInstruction => next,
        };
        let index = address.index.map_or(0, |number| self.general(GENERAL[number]));
        base.wrapping_add(index << address.shift).wrapping_add(address.displacement as usize)
    }

    /// Returns the bits of a mask register; all ones for number 0.
    pub(crate) fn mask(&mut self, number: usize) -> u64 {
        if number == 0 {
            return u64::MAX;
        }
        // SAFETY: the component has 8 bytes for each of 8 registers.
        unsafe {
            let masks = self.component(MASKS, self.offsets.masks);
            masks.add(8 * number).cast::<u64>().read_unaligned()
        }
    }

    /// Returns all 512 bits of a vector register.
    pub(crate) fn vector(&mut self, number: usize) -> [u64; 8] {
        let mut vector = [0; 8];
        for (part, from) in vector.chunks_exact_mut(2).zip(self.parts(number)) {
            // SAFETY: `parts` points to 16 readable bytes each.
            part.copy_from_slice(&unsafe { from.read_unaligned() });
        }
        vector
    }

    pub(crate) fn set_vector(&mut self, number: usize, vector: [u64; 8]) {
        for (part, to) in vector.as_chunks::<2>().0.iter().zip(self.parts(number)) {
            // SAFETY: `parts` points to 16 writable bytes each.
            unsafe { to.write_unaligned(*part) };
        }
    }

    /// Returns the addresses of the four quarters of a vector register.
    fn parts(&mut self, number: usize) -> [*mut [u64; 2]; 4] {
        let offsets = self.offsets;
        // SAFETY: the components have the sizes stated at their constants, and the number is at
        // most 31.
        unsafe {
            if number < 16 {
                let low = self.component(XMM, XMM_OFFSET).add(16 * number);
                let middle = self.component(YMM_HIGH, offsets.ymm_high).add(16 * number);
                let high = self.component(ZMM_HIGH, offsets.zmm_high).add(32 * number);
                [low, middle, high, high.add(16)].map(<*mut u8>::cast)
            } else {
                let all = self.component(HIGH_16, offsets.high_16).add(64 * (number - 16));
                [0, 16, 32, 48].map(|offset| all.add(offset).cast())
            }
        }
    }

    /// Returns a component, and marks it as no longer in its initial state.
    ///
    /// # Safety
    /// The area must have the component at that offset.
    unsafe fn component(&mut self, (bit, size): Component, offset: usize) -> *mut u8 {
        // SAFETY: the caller's promise; the header follows the legacy area. The initial state of
        // every component here is zeros, and its bytes in the area are undefined until then.
        unsafe {
            let present = self.area.add(HEADER_OFFSET).cast::<u64>();
            let component = self.area.add(offset);
            if *present >> bit & 1 == 0 {
                component.write_bytes(0, size);
                *present |= 1 << bit;
            }
            component
        }
    }
}

/// The kernel's index of each general register, by its number in the encoding.
const GENERAL: [libc::c_int; 16] = [
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
