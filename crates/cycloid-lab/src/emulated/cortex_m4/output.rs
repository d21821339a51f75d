//! Reads what the programs and the plugin write.

use super::MEGAHERTZ;
use crate::Failure;
use crate::emulated::tables;
use crate::record::{Count, Memory};

/// The memory and the counts of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Its name.
    pub(super) name: String,
    /// Bytes of scratch that the caller passes.
    pub(super) scratch: usize,
    /// Bytes of stack.
    pub(super) stack: usize,
    /// Bytes of heap, for a library that allocates.
    pub(super) heap: Option<u64>,
    /// The plugin's counts.
    pub(super) counts: Counts,
}

/// The plugin's counts between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    /// Instructions.
    pub(super) instructions: u64,
    /// Cycles by the model.
    pub(super) cycles: u64,
    /// Divisions, whose time depends on values.
    pub(super) divisions: u64,
    /// Bytes of executed code, in whole lines of 64 bytes.
    pub(super) code: u64,
}

impl Run {
    /// Returns it as an operation of a library.
    pub(super) fn counted(
        self,
        product: &'static str,
        backend: Option<&'static str>,
    ) -> tables::Run {
        let Counts { instructions, cycles, divisions, code } = self.counts;
        let count = instructions as f64;
        tables::Run {
            product,
            backend,
            operation: self.name,
            instructions: Count { count, range: [count; 2], runs: 1, code_bytes: code },
            cycles: Some((cycles, divisions)),
            memory: Memory {
                scratch: backend.is_some().then_some(self.scratch),
                stack_peak: Some(self.stack),
                heap_peak: Some(self.heap.unwrap_or(0)),
                heap_held: Some(0),
                ..Memory::default()
            },
            nanoseconds: cycles as f64 * 1e3 / f64::from(MEGAHERTZ),
        }
    }
}

/// Combines the program's lines, `name scratch stack [heap]`, with the plugin's, `instructions
/// cycles divisions code`, for these operations in this order.
///
/// # Errors
/// Names the first line that does not fit.
pub(super) fn runs(names: &[&str], program: &str, plugin: &str) -> Result<Vec<Run>, Failure> {
    let foreign = |what: String| Failure::new(what, "please report it");
    let (uses, counts): (Vec<&str>, Vec<&str>) =
        (program.lines().collect(), plugin.lines().collect());
    if let Some(said) = uses.iter().find(|line| line.starts_with("wrong result")) {
        return Err(foreign(format!("the emulated processor reports a {said}")));
    }
    if uses.len() != names.len() || counts.len() != names.len() {
        return Err(foreign(format!(
            "{} operations have {} results and {} counts",
            names.len(),
            uses.len(),
            counts.len()
        )));
    }
    let lines = names.iter().zip(uses).zip(counts);
    lines
        .map(|((name, used), counted)| {
            let fits = used.split(' ').next() == Some(name);
            let read = || run(name, used, counted);
            fits.then(read).flatten().ok_or_else(|| {
                foreign(format!("'{used}' and '{counted}' are no result of the operation {name}"))
            })
        })
        .collect()
}

fn run(name: &str, used: &str, counted: &str) -> Option<Run> {
    let numbers: Option<Vec<u64>> =
        used.split(' ').skip(1).map(|number| number.parse().ok()).collect();
    let (scratch, stack, heap) = match numbers?[..] {
        [scratch, stack] => (scratch, stack, None),
        [scratch, stack, heap] => (scratch, stack, Some(heap)),
        _ => return None,
    };
    let counts: Option<Vec<u64>> = counted.split(' ').map(|number| number.parse().ok()).collect();
    let [instructions, cycles, divisions, code] = counts?[..] else { return None };
    Some(Run {
        name: name.into(),
        scratch: scratch.try_into().ok()?,
        stack: stack.try_into().ok()?,
        heap,
        counts: Counts { instructions, cycles, divisions, code },
    })
}

/// Returns the bytes of flash that a program occupies, from the list of sections by `readelf -SW`:
/// code, constants, and the initial values of variables, without the table of interrupts.
pub(super) fn flash(sections: &str) -> Option<u64> {
    let mut sizes = Vec::new();
    for line in sections.lines() {
        // "  [ 2] .text             PROGBITS        00000400 000514 04576c 00  AX  0   0  4"
        let Some((_, line)) = line.split_once(']') else { continue };
        let mut words = line.split_whitespace();
        if let (
            Some(".text" | ".rodata" | ".data" | ".ARM.exidx"),
            Some("PROGBITS" | "ARM_EXIDX"),
        ) = (words.next(), words.next())
        {
            sizes.push(u64::from_str_radix(words.nth(2)?, 16).ok()?);
        }
    }
    (!sizes.is_empty()).then(|| sizes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_program_and_plugin_are_combined() {
        let names = ["empty", "rsa-sign"];
        let runs = runs(&names, "empty 0 0\nrsa-sign 2088 13152 96\n", "0 0 0 0\n12 34 5 64\n");
        let runs = runs.unwrap();
        let counts = Counts { instructions: 12, cycles: 34, divisions: 5, code: 64 };
        assert_eq!(runs[0].heap, None);
        assert_eq!(
            runs[1],
            Run { name: "rsa-sign".into(), scratch: 2088, stack: 13152, heap: Some(96), counts }
        );
    }

    #[test]
    fn other_lines_are_refused() {
        let refused =
            |program: &str, plugin: &str| runs(&["pow"], program, plugin).unwrap_err().message;
        let wrong = refused("wrong result: pow\n", "1 2 3 4\n");
        assert_eq!(wrong, "the emulated processor reports a wrong result: pow");
        assert_eq!(refused("", "1 2 3 4\n"), "1 operations have 0 results and 1 counts");
        assert_eq!(refused("pow 1 2\n", ""), "1 operations have 1 results and 0 counts");
        for (program, plugin) in [
            ("power 1 2\n", "1 2 3 4\n"),
            ("pow 1\n", "1 2 3 4\n"),
            ("pow 1 -2\n", "1 2 3 4\n"),
            ("pow 1 2 3 4\n", "1 2 3 4\n"),
            ("pow 1 2\n", "1 2 3\n"),
            ("pow 1 2\n", "1 2 3 many\n"),
            ("pow 1 2\n", "1 2 3 99999999999999999999\n"),
        ] {
            assert!(refused(program, plugin).contains("no result of the operation pow"));
        }
    }

    #[test]
    fn sections_that_occupy_flash_are_added() {
        let sections = "\
Section Headers:
  [Nr] Name              Type            Addr     Off    Size   ES Flg Lk Inf Al
  [ 0]                   NULL            00000000 000000 000000 00      0   0  0
  [ 1] .vector_table     PROGBITS        00000000 000114 000400 00   A  0   0  4
  [ 2] .text             PROGBITS        00000400 000514 000100 00  AX  0   0  4
  [ 3] .rodata           PROGBITS        00045b70 045c80 000020 00  AM  0   0  8
  [ 4] .data             PROGBITS        20000000 080e94 000003 00   A  0   0  4
  [ 6] .bss              NOBITS          20000000 080ea0 010000 00  WA  0   0  8
  [10] .debug_abbrev     PROGBITS        00000000 080ea0 000b8a 00      0   0  1
";
        assert_eq!(flash(sections), Some(0x123));
        assert_eq!(flash("readelf: Error"), None);
    }
}
