//! Copies of instructions, which the processor executes one at a time.
//!
//! A copy ends with a jump back to the tracer. It is the original, byte by byte, with two
//! exceptions: where the original addresses memory relative to itself, a register that it does not
//! use holds that address; and a repeated string instruction is copied without its prefix.

use std::mem::offset_of;

use iced_x86::{
    Code as Form, Encoder, Instruction, InstructionInfoFactory, MemoryOperand, Register,
};

use crate::context::Context;

/// Bytes of address space for copies; pages are allocated when they are touched.
const SPACE: usize = 256 << 20;

/// Bytes of a copy, at most: four instructions.
const LONGEST: usize = 64;

/// The memory of the copies.
pub(crate) struct Copies {
    next: usize,
    end: usize,
    encoder: Encoder,
}

impl Copies {
    pub(crate) fn new() -> Self {
        // SAFETY: a fresh private mapping that nothing else refers to.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                SPACE,
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert!(start != libc::MAP_FAILED, "no executable memory for the tracer");
        Self { next: start as usize, end: start as usize + SPACE, encoder: Encoder::new(64) }
    }

    /// Writes a copy of an instruction that is not a branch, and returns its address.
    pub(crate) fn add(
        &mut self,
        instruction: &Instruction,
        factory: &mut InstructionInfoFactory,
    ) -> usize {
        assert!(self.next + LONGEST <= self.end, "no space for more copies");
        let start = self.next;
        if instruction.is_ip_rel_memory_operand() {
            let register = unused(instruction, factory);
            let target = instruction.ip_rel_memory_address();
            let mut moved = *instruction;
            moved.set_memory_base(register);
            moved.set_memory_displacement64(0);
            moved.set_memory_displ_size(0);
            self.encode(&Instruction::with2(Form::Mov_r64_imm64, register, target).expect(VALID));
            self.encode(&moved);
            let slot = in_context(8 * register.number());
            self.encode(&Instruction::with2(Form::Mov_r64_rm64, register, slot).expect(VALID));
        } else if instruction.has_rep_prefix() || instruction.has_repne_prefix() {
            let mut once = *instruction;
            once.set_has_rep_prefix(false);
            once.set_has_repne_prefix(false);
            self.encode(&once);
        } else {
            // SAFETY: the processor is about to execute these bytes.
            let bytes = unsafe {
                std::slice::from_raw_parts(instruction.ip() as *const u8, instruction.len())
            };
            self.write(bytes);
        }
        let leave = in_context(offset_of!(Context, leave));
        self.encode(&Instruction::with1(Form::Jmp_rm64, leave).expect(VALID));
        start
    }

    fn encode(&mut self, instruction: &Instruction) {
        self.encoder.encode(instruction, self.next as u64).expect("a decoded instruction encodes");
        let bytes = self.encoder.take_buffer();
        self.write(&bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        // SAFETY: `add` has checked the space, and nothing executes it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.next as *mut u8, bytes.len()) };
        self.next += bytes.len();
    }
}

const VALID: &str = "the operands are those of the form";

/// Returns a general register that the instruction neither reads nor writes.
fn unused(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Register {
    /// The first ones need no prefix, which would exclude AH to DH.
    const CANDIDATES: [Register; 7] = [
        Register::RAX,
        Register::RCX,
        Register::RDX,
        Register::RBX,
        Register::RSI,
        Register::RDI,
        Register::R8,
    ];
    let used = factory.info(instruction).used_registers();
    let is_free =
        |register: &Register| used.iter().all(|used| used.register().full_register() != *register);
    CANDIDATES.into_iter().find(is_free).expect("no instruction uses seven general registers")
}

/// Returns the operand for a word of the context.
fn in_context(offset: usize) -> MemoryOperand {
    MemoryOperand::new(Register::None, Register::None, 1, offset as i64, 8, false, Register::GS)
}
