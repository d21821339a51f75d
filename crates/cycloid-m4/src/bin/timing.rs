//! Sequences of instructions whose cycles are known from Arm's Cortex-M4 Technical Reference Manual
//! (DDI 0439, tables 3-1 and section 3.3.3), as a test of the plugin's model.
//!
//! Writes a line `instructions cycles name` for each sequence; the plugin counts the same sequences
//! in the same order.

#![no_std]
#![no_main]

use core::arch::asm;

use cortex_m_rt::entry;
use cycloid_m4::semihosting;

/// Runs lines of assembly between the plugin's marks. r0 points to memory whose first word is its
/// own address; r1 to r5, r12 and lr are free.
macro_rules! sequence {
    ($name:literal: $instructions:literal instructions, $cycles:literal cycles; $($line:literal)+) => {{
        let mut memory = [0u32; 16];
        let start = memory.as_mut_ptr();
        // SAFETY: the sequences below access the memory and the stack below its pointer only, and
        // leave the stack pointer as it was.
        unsafe {
            start.write(start as u32);
            asm!(
                "dbg #1", $($line,)+ "dbg #2",
                inout("r0") start => _, inout("r1") 7 => _, inout("r2") 5 => _, inout("r3") 3 => _,
                out("r4") _, out("r5") _, out("r12") _, out("lr") _,
            );
        }
        semihosting::write_number($instructions);
        semihosting::write(" ");
        semihosting::write_number($cycles);
        semihosting::write(concat!(" ", $name, "\n"));
    }};
}

#[entry]
fn main() -> ! {
    sequence!("nothing": 0 instructions, 0 cycles; "");
    sequence!("data processing": 4 instructions, 4 cycles;
        "adds r1, r1, #1" "mov r2, r1" "eor r3, r2, r1, lsl #3" "cmp r1, r2");
    sequence!("multiplications": 4 instructions, 4 cycles;
        "mul r4, r1, r2" "umull r4, r5, r1, r2" "umaal r4, r5, r2, r3" "umlal r4, r5, r1, r3");
    sequence!("multiply and accumulate, one result": 2 instructions, 4 cycles;
        "mla r4, r1, r2, r3" "mls r5, r1, r2, r3");
    sequence!("division, at most": 1 instructions, 12 cycles; "udiv r4, r1, r2");
    sequence!("load": 1 instructions, 2 cycles; "ldr r1, [r0]");
    sequence!("loads in a pipeline": 3 instructions, 4 cycles;
        "ldr r1, [r0]" "ldr r2, [r0, #4]" "ldr r3, [r0, #8]");
    sequence!("load from a loaded address": 2 instructions, 4 cycles;
        "ldr r1, [r0]" "ldr r2, [r1]");
    sequence!("load, then store": 2 instructions, 3 cycles; "ldr r1, [r0]" "str r1, [r0, #4]");
    sequence!("store with an immediate offset": 1 instructions, 1 cycles; "str r1, [r0, #4]");
    sequence!("store with a register offset": 3 instructions, 4 cycles;
        "movs r1, #4" "nop" "str r2, [r0, r1]");
    sequence!("load from a computed address": 2 instructions, 4 cycles;
        "adds r1, r0, #4" "ldr r2, [r1]");
    sequence!("loads of several registers": 2 instructions, 9 cycles;
        "ldm r0, {{r1, r2, r3, r4}}" "ldm r0, {{r1, r2, r3}}");
    sequence!("two registers": 2 instructions, 6 cycles;
        "ldrd r2, r3, [r0]" "strd r2, r3, [r0, #8]");
    sequence!("push and pop": 2 instructions, 8 cycles; "push {{r1, r2, r3}}" "pop {{r1, r2, r3}}");
    sequence!("branch that is not taken": 3 instructions, 3 cycles; "cmp r1, r1" "bne 2f" "nop" "2:");
    sequence!("branch that is taken": 2 instructions, 4 cycles; "cmp r1, r1" "beq 2f" "nop" "2:");
    // 1 + 10 · 1 + 9 · (1 + 2) + 1: the last branch is not taken.
    sequence!("loop": 21 instructions, 39 cycles; "movs r1, #10" "2:" "subs r1, r1, #1" "bne 2b");
    sequence!("call and return": 3 instructions, 9 cycles; "bl 2f" "b 3f" "2:" "bx lr" "3:");
    sequence!("conditional instruction": 3 instructions, 3 cycles;
        "cmp r1, r1" "it ne" "addne r2, r2, #1");
    semihosting::exit(true)
}
