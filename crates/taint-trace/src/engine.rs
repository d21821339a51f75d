//! The state of a trace: taint, active calls, and the report.

use iced_x86::{FastFormatter, Instruction, InstructionInfoFactory, OpKind, Register};

use crate::code::{Cache, Code};
use crate::finding::{Finding, Kind};
use crate::memory::Memory;
use crate::registers::{Registers, Values};
use crate::report::{Place, Report};
use crate::taint::Taint;

/// The number of steps in a trail.
const TRAIL: usize = 1_000_000;

/// The number of calls in a finding.
const CALLS: usize = 6;

/// The number of findings per trace.
const FINDINGS: usize = 50;

/// The state of a trace.
pub(crate) struct Engine {
    pub(crate) registers: Registers,
    pub(crate) memory: Memory,
    /// Temporarily taken while a rule uses it.
    pub(crate) factory: Option<InstructionInfoFactory>,
    pub(crate) cache: Cache,
    /// Return addresses of the active calls.
    pub(crate) calls: Vec<usize>,
    report: Report,
    /// A hash of the addresses accessed in this step.
    pub(crate) addresses: u64,
    reported: Vec<(u64, Kind)>,
}

impl Engine {
    pub(crate) fn new() -> Self {
        Self {
            registers: Registers::default(),
            memory: Memory::default(),
            factory: Some(InstructionInfoFactory::new()),
            cache: Cache::new(),
            calls: Vec::new(),
            report: Report::default(),
            addresses: 0,
            reported: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self) {
        self.registers = Registers::default();
        self.calls.clear();
        self.reported.clear();
        self.report = Report::default();
    }

    /// Ends a trace with this value of MXCSR, and returns its report.
    pub(crate) fn end(&mut self, mxcsr: u32) -> Report {
        if mxcsr & DENORMAL != 0 {
            self.report.findings.push(Finding {
                kind: Kind::Denormal,
                instruction: "seen in MXCSR at the end".into(),
                addresses: Vec::new(),
            });
        }
        std::mem::take(&mut self.report)
    }

    pub(crate) fn count(&mut self, at: u64) {
        let step = mix(at ^ mix(self.addresses));
        self.report.steps += 1;
        self.report.digest = mix(self.report.digest ^ step);
        if self.report.trail.len() < TRAIL {
            let accessed = self.addresses as u32;
            self.report.trail.push(Place { at: at as usize, accessed });
        }
    }

    /// Returns the address of a memory operand, and adds it to the trace.
    pub(crate) fn address(&mut self, code: &Code, values: &Values<'_>) -> usize {
        let operand = (0..code.instruction.op_count())
            .find(|i| code.instruction.op_kind(*i) == OpKind::Memory)
            .unwrap_or(0);
        let address = code
            .instruction
            .virtual_address(operand, 0, |register, _, _| values.get(register))
            .unwrap_or(0);
        self.accessed(address as usize);
        address as usize
    }

    /// Adds an access to the trace.
    pub(crate) fn accessed(&mut self, address: usize) {
        self.addresses = mix(self.addresses ^ address as u64);
    }

    pub(crate) fn find(&mut self, kind: Kind, instruction: &Instruction) {
        let at = (instruction.ip(), kind);
        if self.reported.len() >= FINDINGS || self.reported.contains(&at) {
            return;
        }
        self.reported.push(at);
        let mut text = String::new();
        FastFormatter::new().format(instruction, &mut text);
        let calls = self.calls.iter().rev().take(CALLS);
        let addresses = [at.0 as usize].into_iter().chain(calls.map(|call| call - 1)).collect();
        self.report.findings.push(Finding { kind, instruction: text, addresses });
    }

    /// Returns the taint of a register; a register that is not modelled is never tainted.
    pub(crate) fn register(&self, register: Register) -> Taint {
        self.registers.get(register).unwrap_or(0)
    }
}

/// Distributes every bit of `x` over all bits (the finalizer of MurmurHash3).
const fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let x = (x ^ x >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ x >> 33
}

/// Flags in MXCSR: a denormal operand, or a denormal result.
const DENORMAL: u32 = 1 << 1 | 1 << 4;
