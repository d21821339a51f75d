//! Emulates the AVX-512 IFMA instructions in a handler for illegal instructions, so that tests of
//! IFMA code run on processors with AVX-512 F but without IFMA. Linux on x86-64.
//!
//! A test calls [`install`] once. From then on VPMADD52LUQ and VPMADD52HUQ work in every thread,
//! about a thousand times slower than in hardware: `decode` decodes the instruction, and `state`
//! accesses the registers in the frame that the kernel saved for the signal. Any other illegal
//! instruction ends the program as before.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod decode;
mod state;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::OnceLock;

use decode::{Instruction, Operand};
use state::State;

/// The executor of IFMA instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The processor; no handler was installed.
    Processor,
    /// The signal handler.
    Emulator,
}

/// Why the instructions cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The processor lacks the registers that the instructions use.
    NoAvx512,
    /// The kernel rejected the handler.
    Refused,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAvx512 => "this processor has no AVX-512 F, which IFMA emulation needs",
            Self::Refused => "cannot install the handler for illegal instructions",
        })
    }
}

impl std::error::Error for Error {}

/// Enables AVX-512 IFMA instructions in this process: on the processor if it supports them,
/// otherwise through a signal handler. Further calls do nothing and return the same result.
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
    // SAFETY: `sigaction` is plain data, for which zeros are valid. The handler has the signature
    // that SA_SIGINFO requires, and is async-signal-safe.
    let status = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut())
    };
    if status == 0 { Ok(Executor::Emulator) } else { Err(Error::Refused) }
}

/// Executes the illegal instruction and directly following instructions of the same kind. If the
/// instruction is not supported, removes the handler, so that returning to it ends the program.
extern "C" fn handler(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes the frame of the interrupted thread. Nothing else uses it until the
    // handler returns, and it holds AVX-512 state because the thread executes AVX-512 code.
    let mut state = unsafe { State::new(context.cast()) };
    let mut executed = false;
    // SAFETY: there is an instruction at the instruction pointer. Decoding of what follows stops at
    // the first byte that does not match, so nothing beyond the next instruction is read.
    while let Some(instruction) = unsafe { decode::decode(state.instruction_pointer()) } {
        execute(&mut state, &instruction);
        executed = true;
    }
    if !executed {
        // SAFETY: setting a default action is allowed in a handler.
        unsafe { libc::signal(libc::SIGILL, libc::SIG_DFL) };
    }
}

/// Adds eight 52-bit products to eight 64-bit words, as the manual specifies.
fn execute(state: &mut State, instruction: &Instruction) {
    let next = state.instruction_pointer() as usize + instruction.length;
    let a = state.vector(instruction.first_source);
    let b = match instruction.second_source {
        Operand::Register(register) => state.vector(register),
        Operand::Memory(address) => {
            let address = state.resolve(&address, next);
            let lanes = instruction.lanes;
            let stride = usize::from(!instruction.broadcast);
            // SAFETY: the instruction reads the same words; if it must not, this faults as the
            // instruction would have.
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

/// Returns the low or the high 52 bits of the product of the low 52 bits.
fn half_product(a: u64, b: u64, high: bool) -> u64 {
    const MASK: u64 = (1 << 52) - 1;
    let product = u128::from(a & MASK) * u128::from(b & MASK);
    if high { (product >> 52) as u64 } else { product as u64 & MASK }
}
