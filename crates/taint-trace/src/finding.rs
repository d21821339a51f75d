//! What the tracer reports: an instruction whose time or address depends on a secret.

use std::fmt;

/// What depends on a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The direction of a branch, or its target.
    Branch,
    /// The address of a memory operand.
    Address,
    /// An operand of an instruction of variable time.
    VariableTime,
    /// The mask of a memory access.
    Mask,
    /// The count of a repeated string instruction.
    Count,
    /// A denormal operand or result: arithmetic on floating-point numbers takes longer for one.
    Denormal,
    /// An instruction that the tracer does not model has a secret operand.
    NotModelled,
}

impl Kind {
    const fn text(self) -> &'static str {
        match self {
            Self::Branch => "a branch depends on a secret",
            Self::Address => "an address depends on a secret",
            Self::VariableTime => "an instruction of variable time has a secret operand",
            Self::Mask => "the mask of a memory access depends on a secret",
            Self::Count => "the count of a string instruction depends on a secret",
            Self::Denormal => "floating-point arithmetic met a denormal number",
            Self::NotModelled => "an instruction that is not modelled has a secret operand",
        }
    }
}

/// One instruction that leaks, with the calls that led there.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What depends on a secret.
    pub kind: Kind,
    /// The instruction as text.
    pub instruction: String,
    /// The address of the instruction, and of the calls above it, innermost first.
    pub(crate) addresses: Vec<usize>,
}

impl Finding {
    /// The source lines, innermost first, inlined functions included.
    pub fn lines(&self) -> Vec<String> {
        self.addresses.iter().flat_map(|address| Self::lines_of(*address)).collect()
    }

    /// The source lines of an address of code, innermost first, inlined functions included.
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
