//! The searched process. It runs one operation after the other. After each it stops, with its
//! registers saved and its dead stack as the operation left it.
//!
//! Its messages go directly to the kernel, from memory that the search excludes.

use std::arch::asm;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use cycloid::cpu::{self, Level};

use crate::cases::{self, Case};
use crate::protocol::{Extent, Input};

/// The number of bytes of stack painted before an operation.
pub(crate) const PAINTED: usize = 512 << 10;

/// The paint; no secret has this pattern.
pub(crate) const PATTERN: u64 = 0xa5c3_a5c3_a5c3_a5c3;

const STACK: usize = 2 << 20;

/// Bytes for inputs, and for keys and results that stay alive during the search.
const INPUT: usize = 64 << 10;
const ARENA: usize = 1 << 20;

static ARENA_START: AtomicUsize = AtomicUsize::new(0);
static ARENA_USED: AtomicUsize = AtomicUsize::new(0);

/// Follows the orders on standard input until it ends.
pub(crate) fn run(level: Level) {
    cpu::limit(level);
    let body = || {
        let cases = cases::all();
        let input: &'static mut [u8] = vec![0; INPUT].leak();
        let arena: &'static mut [u8] = vec![0; ARENA].leak();
        ARENA_START.store(arena.as_mut_ptr() as usize, Ordering::Relaxed);
        let mut output = std::io::stdout();
        for part in [Extent::of(input), Extent::of(arena)] {
            output.write_all(&part.to_bytes()).expect("the other process reads the pipe");
        }
        output.flush().expect("the other process reads the pipe");
        while let Some((case, length)) = header() {
            arena.fill(0);
            ARENA_USED.store(0, Ordering::Relaxed);
            receive(&mut input[..length]);
            // SAFETY: nothing writes to this memory while the operation runs.
            let given = unsafe { std::slice::from_raw_parts(input.as_ptr(), length) };
            paint();
            one(&cases[case], Input::new(given));
            input.fill(0);
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(body);
    thread.expect("the system starts a thread").join().expect("no operation panics");
}

#[inline(never)]
fn one(case: &Case, input: Input) {
    let mut stop = Stop { done: false };
    case.run(input, &mut stop);
    assert!(stop.done, "{} did nothing", case.name);
}

/// Runs a case's operation and stops for the search.
pub(crate) struct Stop {
    done: bool,
}

impl Stop {
    /// Performs the operation, exactly once per case, and then has memory searched.
    #[inline(never)]
    pub(crate) fn after(&mut self, operation: &mut dyn FnMut()) {
        self.done = true;
        // Preparing the input has left data where the next frames have gaps.
        paint();
        Self::search(operation);
    }

    #[inline(never)]
    fn search(operation: &mut dyn FnMut()) {
        let mut registers = Registers([0; Registers::WORDS]);
        paint();
        let pointer = observe(operation, &mut registers);
        // The registers are in memory that is searched.
        send(&(pointer as u64).to_le_bytes());
        receive(&mut [0]);
        std::hint::black_box(&registers);
    }
}

/// Places a value where it may be during the search.
///
/// It is made in frames that are painted over later.
#[inline(never)]
pub(crate) fn alive<T>(make: impl FnOnce() -> T) -> &'static mut T {
    let room = room(size_of::<T>(), align_of::<T>());
    let place = room.as_mut_ptr().cast::<T>();
    // SAFETY: the space belongs to this value alone, with its size and alignment.
    unsafe {
        place.write(make());
        &mut *place
    }
}

/// Returns zeros that may become secrets that stay alive.
pub(crate) fn limbs<T: Copy>(count: usize, zero: T) -> &'static mut [T] {
    let room = room(count * size_of::<T>(), align_of::<T>());
    // SAFETY: the space belongs to these values alone, with their size and alignment.
    let limbs = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), count) };
    limbs.fill(zero);
    limbs
}

fn room(bytes: usize, align: usize) -> &'static mut [u8] {
    let start = ARENA_START.load(Ordering::Relaxed);
    let at = (start + ARENA_USED.load(Ordering::Relaxed)).next_multiple_of(align.max(64));
    ARENA_USED.store(at + bytes - start, Ordering::Relaxed);
    assert!(at + bytes <= start + ARENA, "the arena is full");
    // SAFETY: this part of the arena has no other user.
    unsafe { std::slice::from_raw_parts_mut(at as *mut u8, bytes) }
}

/// All vector registers, the masks and the general registers.
#[repr(C, align(64))]
struct Registers([u64; Self::WORDS]);

impl Registers {
    const WORDS: usize = 32 * 8 + 8 + 16;
}

/// Fills the stack below with the pattern.
#[inline(never)]
fn paint() {
    // SAFETY: the words belong to this thread's stack, and without `nostack` the compiler keeps
    // nothing below the stack pointer here.
    unsafe {
        asm!(
            "lea rdi, [rsp - {bytes}]",
            "rep stosq",
            bytes = const PAINTED,
            inout("rcx") PAINTED / 8 => _,
            out("rdi") _,
            in("rax") PATTERN,
            options(preserves_flags),
        );
    }
}

/// Calls the operation, saves the registers that it left, and returns the stack pointer of the
/// call.
#[inline(never)]
fn observe(operation: &mut dyn FnMut(), registers: &mut Registers) -> usize {
    extern "C" fn call(operation: &mut &mut dyn FnMut()) {
        operation();
    }
    let mut operation = operation;
    let pointer: usize;
    macro_rules! observed {
        ($vectors:literal) => {
            // SAFETY: the function is called according to its type; the registers are written to
            // memory reserved for them.
            unsafe {
                asm!(
                    "mov r13, rsp",
                    "call {call}",
                    "mov [r12 + 2112], rax",
                    "mov [r12 + 2120], rcx",
                    "mov [r12 + 2128], rdx",
                    "mov [r12 + 2136], rsi",
                    "mov [r12 + 2144], rdi",
                    "mov [r12 + 2152], r8",
                    "mov [r12 + 2160], r9",
                    "mov [r12 + 2168], r10",
                    "mov [r12 + 2176], r11",
                    $vectors,
                    call = sym call,
                    in("rdi") &mut operation,
                    in("r12") registers.0.as_mut_ptr(),
                    out("r13") pointer,
                    clobber_abi("C"),
                );
            }
        };
    }
    if cpu::detected_level() >= Level::Avx512 {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
             vmovdqu64 [r12 + 64*\\i], zmm\\i
             .endr
             .irp i, 0,1,2,3,4,5,6,7
             kmovq [r12 + 2048 + 8*\\i], k\\i
             .endr"
        );
    } else if std::is_x86_feature_detected!("avx") {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
             vmovdqu [r12 + 64*\\i], ymm\\i
             .endr"
        );
    } else {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
             movdqu [r12 + 64*\\i], xmm\\i
             .endr"
        );
    }
    pointer
}

/// Receives the number of a case and the length of its input; `None` at the end.
fn header() -> Option<(usize, usize)> {
    let mut header = [0; 16];
    if read(&mut header[..1]) == 0 {
        return None;
    }
    receive(&mut header[1..]);
    let word = |i: usize| u64::from_le_bytes(header[8 * i..][..8].try_into().expect("8 bytes"));
    Some((word(0) as usize, word(1) as usize))
}

#[inline(always)]
fn receive(mut bytes: &mut [u8]) {
    while !bytes.is_empty() {
        let read = read(bytes);
        if read == 0 {
            std::process::exit(0);
        }
        bytes = &mut bytes[read..];
    }
}

#[inline(always)]
fn read(bytes: &mut [u8]) -> usize {
    transfer(0, 0, bytes.as_mut_ptr() as usize, bytes.len())
}

#[inline(always)]
fn send(bytes: &[u8]) {
    assert_eq!(transfer(1, 1, bytes.as_ptr() as usize, bytes.len()), bytes.len());
}

/// Performs the system calls `read`, 0, and `write`, 1; nothing below the stack pointer changes.
#[inline(always)]
fn transfer(call: usize, file: usize, start: usize, length: usize) -> usize {
    let outcome: isize;
    // SAFETY: the kernel reads or writes the memory of the caller's slice, which is borrowed
    // accordingly.
    unsafe {
        asm!(
            "syscall",
            inout("rax") call as isize => outcome,
            in("rdi") file,
            in("rsi") start,
            in("rdx") length,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    usize::try_from(outcome).expect("the other process is running")
}

/// Leaves eight bytes in an otherwise unused vector register, to test the search.
pub(crate) fn leave_in_a_register(bytes: &[u8]) {
    let word = u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
    // SAFETY: the register is declared as clobbered.
    unsafe { asm!("movq xmm13, {}", in(reg) word, out("xmm13") _, options(nomem, nostack)) };
}
