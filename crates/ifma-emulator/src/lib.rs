//! Executes the AVX-512 IFMA instructions in a handler for illegal instructions, so that tests of
//! code for IFMA run on processors that have AVX-512 F without it. Linux on x86-64.
//!
//! A test calls [`install`] once. From then on VPMADD52LUQ and VPMADD52HUQ work in every thread,
//! some thousand times slower than in hardware: `decode` reads the instruction, `state` finds
//! the registers in the frame that the kernel saved for the signal. Any other illegal instruction
//! ends the program as before.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod decode;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::OnceLock;

use decode::{Instruction, Operand};
use state::State;

/// Who executes the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The processor; nothing was installed.
    Processor,
    /// The handler.
    Emulator,
}

/// Why the instructions cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The registers that the instructions work on are not there.
    NoAvx512,
    /// The kernel refused the handler.
    Refused,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAvx512 => "this processor has no AVX-512 F, which IFMA emulation needs",
            Self::Refused => "the handler for illegal instructions could not be installed",
        })
    }
}

impl std::error::Error for Error {}

/// Sees to it that AVX-512 IFMA instructions execute in this process: by the processor where it
/// can, otherwise by a signal handler. Further calls do nothing and give the same answer.
pub fn install() -> Result<Executor, Error> {
    static INSTALLED: OnceLock<Result<Executor, Error>> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        if !std::is_x86_feature_detected!("avx512f") {
            Err(Error::NoAvx512)
        } else if std::is_x86_feature_detected!("avx512ifma") {
            Ok(Executor::Processor)
        } else {
            install_handler()
        }
    })
}

fn install_handler() -> Result<Executor, Error> {
    state::find_components();
    // SAFETY: `sigaction` is plain data, for which zeros are valid; the handler has the signature
    // that SA_SIGINFO asks for, and does nothing that a signal handler must not do.
    let status = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut())
    };
    if status == 0 { Ok(Executor::Emulator) } else { Err(Error::Refused) }
}

/// Executes the instruction that was illegal and those like it that follow it at once; where it
/// is none of ours, takes itself away, so that returning to it ends the program.
extern "C" fn handler(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes the frame of the interrupted thread, which nobody else uses until
    // the handler returns, and which holds AVX-512 state because the thread executes AVX-512 code.
    let mut state = unsafe { State::new(context.cast()) };
    let mut executed = false;
    // SAFETY: an instruction lies at the instruction pointer. Reading on behind it ends at the
    // first byte that does not fit, so nothing beyond the next instruction is read.
    while let Some(instruction) = unsafe { decode::decode(state.instruction_pointer()) } {
        execute(&mut state, &instruction);
        executed = true;
    }
    if !executed {
        // SAFETY: setting a default action is allowed in a handler.
        unsafe { libc::signal(libc::SIGILL, libc::SIG_DFL) };
    }
}

/// Eight 52-bit products into eight 64-bit words, as the manual has it.
fn execute(state: &mut State, instruction: &Instruction) {
    let next = state.instruction_pointer() as usize + instruction.length;
    let a = state.vector(instruction.first_source);
    let b = match instruction.second_source {
        Operand::Register(register) => state.vector(register),
        Operand::Memory(address) => {
            let address = state.resolve(&address, next);
            let lanes = instruction.lanes;
            let stride = usize::from(!instruction.broadcast);
            // SAFETY: the instruction reads the same words; if it must not, then this faults as
            // the instruction would have.
            let read =
                |lane| unsafe { (address as *const u64).add(lane * stride).read_unaligned() };
            std::array::from_fn(|lane| if lane < lanes { read(lane) } else { 0 })
        }
    };
    let mask = state.mask(instruction.mask);
    let old = state.vector(instruction.destination);
    let result = std::array::from_fn(|lane| {
        if lane >= instruction.lanes {
            0
        } else if mask >> lane & 1 == 1 {
            old[lane].wrapping_add(half_product(a[lane], b[lane], instruction.high))
        } else if instruction.zeroing {
            0
        } else {
            old[lane]
        }
    });
    state.set_vector(instruction.destination, result);
    state.set_instruction_pointer(next);
}

/// The low or the high 52 bits of the product of the low 52 bits.
fn half_product(a: u64, b: u64, high: bool) -> u64 {
    const MASK: u64 = (1 << 52) - 1;
    let product = u128::from(a & MASK) * u128::from(b & MASK);
    if high { (product >> 52) as u64 } else { product as u64 & MASK }
}
