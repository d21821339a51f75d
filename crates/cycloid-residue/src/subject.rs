//! The searched process. It runs one operation after the other. After each it stops, with its
//! registers saved and its dead stack as the operation left it.
//!
//! Its messages go directly to the kernel, from memory that the search excludes.

use std::io::Write;

use cycloid::cpu::{self, Level};

use crate::cases::{self, Case};
use crate::live_values;
use crate::pipe::{read, receive};
use crate::protocol::{Extent, Input};
use crate::stop::{Stop, paint};

const STACK: usize = 2 << 20;

/// Bytes for inputs.
const INPUT: usize = 64 << 10;
/// Follows the orders on standard input until it ends.
pub(crate) fn run(level: Level) {
    cpu::limit(level);
    let body = || {
        let cases = cases::all();
        let input: &'static mut [u8] = vec![0; INPUT].leak();
        let arena = live_values::reserve();
        let mut output = std::io::stdout();
        for part in [Extent::of(input), Extent::of(arena)] {
            output.write_all(&part.to_bytes()).expect("the other process reads the pipe");
        }
        output.flush().expect("the other process reads the pipe");
        while let Some((case, length)) = header() {
            arena.fill(0);
            live_values::clear();
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
    let mut stop = Stop::new();
    case.run(input, &mut stop);
    assert!(stop.is_done(), "{} did nothing", case.name);
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
