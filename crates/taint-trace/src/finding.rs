//! The findings of the tracer: instructions whose time or address depends on a secret.

use std::fmt;

/// The kind of dependency on a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The direction of a branch, or its target.
    Branch,
    /// The address of a memory operand.
    Address,
    /// An operand of a variable-time instruction.
    VariableTime,
    /// The mask of a memory access.
    Mask,
    /// The count of a repeated string instruction.
    Count,
    /// A denormal operand or result, which slows floating-point arithmetic down.
    Denormal,
    /// A secret operand of an instruction that the tracer does not model.
    NotModelled,
}

impl Kind {
    const fn text(self) -> &'static str {
        match self {
            Self::Branch => "a branch depends on a secret",
            Self::Address => "an address depends on a secret",
            Self::VariableTime => "a variable-time instruction has a secret operand",
            Self::Mask => "the mask of a memory access depends on a secret",
            Self::Count => "the count of a string instruction depends on a secret",
            Self::Denormal => "floating-point arithmetic used a denormal number",
            Self::NotModelled => "an unmodelled instruction has a secret operand",
        }
    }
}

/// An instruction that leaks, with the calls that led to it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The kind of leak.
    pub kind: Kind,
    /// The disassembled instruction.
    pub instruction: String,
    /// The addresses of the instruction and of the enclosing calls, innermost first.
    pub(crate) addresses: Vec<usize>,
}

impl Finding {
    /// Returns the source lines, innermost first, including inlined functions.
    pub fn lines(&self) -> Vec<String> {
        self.addresses.iter().flat_map(|address| Self::lines_of(*address)).collect()
    }

    /// Returns the source lines of a code address, innermost first, including inlined functions.
    pub fn lines_of(address: usize) -> Vec<String> {
        let mut lines = Vec::new();
        backtrace::resolve(address as *mut _, |symbol| {
            let name = symbol.name().map_or("?".into(), |name| format!("{name:#}"));
            let place = match (symbol.filename(), symbol.lineno()) {
                (Some(file), Some(line)) => format!(" at {}:{line}", file.display()),
                _ => String::new(),
            };
            lines.push(format!("{name}{place}"));
        });
        lines
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.text(), self.instruction)?;
        for line in self.lines().iter().take(12) {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}
