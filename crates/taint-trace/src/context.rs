//! The registers of the traced code, and the switch between it and the tracer.

use std::arch::x86_64::{__cpuid_count, CpuidResult};
use std::arch::{asm, naked_asm};
use std::mem::offset_of;

/// The number of the general register that counts repetitions.
pub(crate) const RCX: usize = 1;
/// The number of the stack pointer.
pub(crate) const RSP: usize = 4;
/// The number of the general register that holds the first argument.
const RDI: usize = 7;

/// Bytes for the extended state: x87, SSE, AVX and AVX-512.
const EXTENDED: usize = 3072;

/// Offsets in the standard format of the extended state (Intel SDM volume 1, section 13.4).
mod offset {
    pub(super) const CONTROL_WORD: usize = 0;
    pub(super) const MXCSR: usize = 24;
    /// The lower 16 bytes of vectors 0 to 15.
    pub(super) const VECTORS: usize = 160;
    pub(super) const COMPONENTS: usize = 512;
    /// The end of x87, SSE and the header.
    pub(super) const HEADER_END: usize = 576;
}

/// The components x87 and SSE, AVX, and the three of AVX-512.
const COMPONENTS: u64 = 0b1110_0111;

/// The components of the vectors: bytes 0 to 15, 16 to 31 and 32 to 63 of vectors 0 to 15; vectors
/// 16 to 31.
const VECTORS: [u32; 4] = [1, 2, 6, 7];

/// The component of the mask registers.
const MASKS: u32 = 5;

/// The registers of the traced code.
///
/// The segment register GS points to it while code is traced; programs on Linux do not use GS
/// otherwise.
#[repr(C)]
pub(crate) struct Context {
    /// The general registers, in hardware order.
    pub(crate) general: [u64; 16],
    pub(crate) flags: u64,
    /// The stack pointers for POPFQ and PUSHFQ: the address of `flags`, and the one after it.
    flags_start: u64,
    flags_end: u64,
    /// The components of the extended state that this processor has.
    components: u64,
    /// The stack pointer of the tracer while a copy runs.
    tracer_stack: u64,
    /// The address of the copy to execute.
    copy: usize,
    /// The address of [`leave`].
    pub(crate) leave: u64,
    /// The address of the next instruction.
    pub(crate) instruction_pointer: u64,
    /// The base of the segment FS, the thread-local storage.
    pub(crate) thread_pointer: u64,
    /// The offsets of the components in the extended state; 0 if the processor has none.
    starts: [usize; 8],
    extended: Extended,
}

/// Returns what the processor says of itself. The instruction was unsafe to older compilers.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32, part: u32) -> CpuidResult {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { __cpuid_count(leaf, part) }
}

/// The state that XSAVE stores.
#[repr(C, align(64))]
struct Extended([u8; EXTENDED]);

impl Context {
    /// Creates the context of this processor.
    ///
    /// # Panics
    /// If processor or system cannot save the extended state.
    pub(crate) fn new() -> Self {
        const OSXSAVE: u32 = 1 << 27;
        assert!(cpuid(1, 0).ecx & OSXSAVE != 0, "the tracer needs a processor with XSAVE");
        // SAFETY: the system has enabled XSAVE, and XGETBV with it.
        let components = unsafe { enabled_components() } & COMPONENTS;
        let component = |number: u32| cpuid(0xd, number);
        let has = |number: &u32| components >> number & 1 == 1;
        let end = (2..8).filter(has).map(|i| (component(i).eax + component(i).ebx) as usize).max();
        assert!(end.unwrap_or(offset::HEADER_END) <= EXTENDED, "the extended state is too long");
        Self {
            general: [0; 16],
            flags: 0,
            flags_start: 0,
            flags_end: 0,
            components,
            tracer_stack: 0,
            copy: 0,
            leave: 0,
            instruction_pointer: 0,
            thread_pointer: 0,
            starts: std::array::from_fn(|i| match i as u32 {
                number if number >= 2 && has(&number) => component(number).ebx as usize,
                _ => 0,
            }),
            extended: Extended([0; EXTENDED]),
        }
    }

    /// Prepares a call: `function(argument)` on the stack that ends at `stack`, in a processor
    /// state as after the start of a process. It returns to `exit`.
    ///
    /// # Safety
    /// The context stays where it is until the call has returned.
    pub(crate) unsafe fn begin(&mut self, function: u64, argument: u64, stack: u64, exit: u64) {
        const ALWAYS_ONE: u64 = 1 << 1;
        const INTERRUPTS: u64 = 1 << 9;
        const INITIAL_CONTROL_WORD: u16 = 0x37f;
        const INITIAL_MXCSR: u32 = 0x1f80;
        self.general = [0; 16];
        self.general[RDI] = argument;
        self.general[RSP] = stack - 8;
        // SAFETY: the caller's stack.
        unsafe { (self.general[RSP] as *mut u64).write(exit) };
        self.instruction_pointer = function;
        self.flags = ALWAYS_ONE | INTERRUPTS;
        self.flags_start = &raw const self.flags as u64;
        self.flags_end = self.flags_start + 8;
        self.leave = leave as *const () as u64;
        self.extended = Extended([0; EXTENDED]);
        self.extended.0[offset::CONTROL_WORD..][..2]
            .copy_from_slice(&INITIAL_CONTROL_WORD.to_le_bytes());
        self.extended.0[offset::MXCSR..][..4].copy_from_slice(&INITIAL_MXCSR.to_le_bytes());
        self.thread_pointer = thread_pointer();
        set_gs(self);
    }

    /// Executes a copy of an instruction with these registers.
    ///
    /// # Safety
    /// The context has begun, and the traced code may execute the instruction now.
    pub(crate) unsafe fn execute(this: *mut Self, copy: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            (*this).copy = copy;
            enter();
        }
    }

    /// Returns the control and status register of SSE.
    pub(crate) fn mxcsr(&self) -> u32 {
        self.word(offset::MXCSR) as u32
    }

    /// Returns a mask register; zero if the processor has none or they are in their initial state.
    pub(crate) fn mask(&self, number: usize) -> u64 {
        if self.is_initial(MASKS) { 0 } else { self.word(self.starts[MASKS as usize] + 8 * number) }
    }

    /// Returns element `index` of `size` bytes, 4 or 8, of a vector register.
    pub(crate) fn element(&self, number: usize, index: usize, size: usize) -> u64 {
        let at = index * size;
        let [low, upper, top, others] = VECTORS;
        let (component, offset) = match at {
            _ if number >= 16 => (others, 64 * (number - 16) + at),
            0..16 => (low, offset::VECTORS + 16 * number + at),
            16..32 => (upper, 16 * number + at - 16),
            _ => (top, 32 * number + at - 32),
        };
        if self.is_initial(component) {
            return 0;
        }
        let word = self.word(self.starts[component as usize] + offset);
        if size == 8 { word } else { u64::from(word as u32) }
    }

    /// Returns whether the processor has no such component, or it holds zeros only.
    fn is_initial(&self, component: u32) -> bool {
        self.components >> component & 1 == 0 || self.word(offset::COMPONENTS) >> component & 1 == 0
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(*self.extended.0[at..].first_chunk().expect("the area is long enough"))
    }
}

/// Loads the registers and jumps to the copy.
///
/// # Safety
/// GS points to a context whose `copy` may be executed.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
        "mov gs:[{tracer_stack}], rsp",
        "mov eax, gs:[{components}]", "xor edx, edx", "xrstor64 gs:[{extended}]",
        "mov rsp, gs:[{flags_start}]", "popfq",
        "mov rax, gs:[0]", "mov rcx, gs:[8]", "mov rdx, gs:[16]", "mov rbx, gs:[24]",
        "mov rsp, gs:[32]", "mov rbp, gs:[40]", "mov rsi, gs:[48]", "mov rdi, gs:[56]",
        "mov r8, gs:[64]", "mov r9, gs:[72]", "mov r10, gs:[80]", "mov r11, gs:[88]",
        "mov r12, gs:[96]", "mov r13, gs:[104]", "mov r14, gs:[112]", "mov r15, gs:[120]",
        "jmp gs:[{copy}]",
        tracer_stack = const offset_of!(Context, tracer_stack),
        components = const offset_of!(Context, components),
        extended = const offset_of!(Context, extended),
        flags_start = const offset_of!(Context, flags_start),
        copy = const offset_of!(Context, copy),
    )
}

/// Stores the registers and returns from [`enter`]. Every copy ends with a jump to it.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "mov gs:[0], rax", "mov gs:[8], rcx", "mov gs:[16], rdx", "mov gs:[24], rbx",
        "mov gs:[32], rsp", "mov gs:[40], rbp", "mov gs:[48], rsi", "mov gs:[56], rdi",
        "mov gs:[64], r8", "mov gs:[72], r9", "mov gs:[80], r10", "mov gs:[88], r11",
        "mov gs:[96], r12", "mov gs:[104], r13", "mov gs:[112], r14", "mov gs:[120], r15",
        "mov rsp, gs:[{flags_end}]", "pushfq", "cld",
        "mov eax, gs:[{components}]", "xor edx, edx", "xsave64 gs:[{extended}]",
        "mov rsp, gs:[{tracer_stack}]",
        "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx", "ret",
        flags_end = const offset_of!(Context, flags_end),
        components = const offset_of!(Context, components),
        extended = const offset_of!(Context, extended),
        tracer_stack = const offset_of!(Context, tracer_stack),
    )
}

/// Returns the components of the extended state that the system has enabled.
///
/// # Safety
/// The system has enabled XSAVE.
unsafe fn enabled_components() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: reads XCR0.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Returns the base of the segment FS.
fn thread_pointer() -> u64 {
    const ARCH_GET_FS: libc::c_int = 0x1003;
    let mut base = 0_u64;
    // SAFETY: the kernel writes one word to a local variable.
    let status = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_GET_FS, &raw mut base) };
    assert_eq!(status, 0, "the kernel returns the base of thread-local storage");
    base
}

/// Lets the segment GS begin at `base`.
fn set_gs(base: *const Context) {
    const ARCH_SET_GS: libc::c_int = 0x1001;
    // SAFETY: nothing else uses GS.
    let status = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, base) };
    assert_eq!(status, 0, "the kernel sets the base of GS");
}
