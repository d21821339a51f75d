//! One instruction: checks, then propagation.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::code::Code;
use crate::context::Context;
use crate::engine::Engine;
use crate::finding::Kind;
use crate::marker;
use crate::registers::Values;
use crate::rule::Rule;
use crate::rules;

impl Engine {
    /// Checks the next instruction, propagates its taint, and returns it.
    pub(crate) fn step(&mut self, context: &Context) -> &'static Code {
        let values = Values { context };
        let at = context.instruction_pointer;
        let code = self.cache.at(at);
        self.addresses = 0;
        if code.rule == Rule::Nop {
            self.obey(&code.instruction, &values);
        } else {
            self.check_addresses(code);
            self.check_flow(code, &values);
            self.check_time(code);
            rules::apply(self, code, &values);
        }
        self.count(at);
        code
    }

    fn check_addresses(&mut self, code: &Code) {
        let instruction = &code.instruction;
        let mut tainted = false;
        if code.accesses_memory {
            for register in [instruction.memory_base(), instruction.memory_index()] {
                tainted |= register != Register::None && self.register(register) != 0;
            }
            // The mask reveals which elements are accessed, just as an address does.
            let mask = instruction.op_mask();
            if mask != Register::None && self.register(mask) != 0 {
                self.find(Kind::Mask, instruction);
            }
        }
        if instruction.is_stack_instruction() {
            tainted |= self.register(Register::RSP) != 0;
        }
        if tainted {
            self.find(Kind::Address, instruction);
        }
    }

    fn check_flow(&mut self, code: &Code, values: &Values<'_>) {
        let instruction = &code.instruction;
        let tainted = match code.flow {
            FlowControl::ConditionalBranch => {
                let flags = self.registers.flags & instruction.rflags_read() != 0;
                // JRCXZ and LOOP read a register instead of flags, or in addition to them.
                let counts =
                    instruction.is_jcx_short() || instruction.is_loop() || instruction.is_loopcc();
                flags || counts && self.register(Register::RCX) != 0
            }
            FlowControl::IndirectBranch | FlowControl::IndirectCall => {
                if instruction.op0_kind() == OpKind::Register {
                    self.register(instruction.op0_register()) != 0
                } else {
                    let address = self.address(code, values);
                    self.memory.get(address, 8) != 0
                }
            }
            FlowControl::Return => {
                let top = values.get(Register::RSP).unwrap_or(0) as usize;
                self.calls.pop();
                self.memory.get(top, 8) != 0
            }
            _ => false,
        };
        if matches!(code.flow, FlowControl::Call | FlowControl::IndirectCall) {
            self.calls.push(instruction.next_ip() as usize);
        }
        if tainted {
            self.find(Kind::Branch, instruction);
        }
    }

    fn check_time(&mut self, code: &Code) {
        let instruction = &code.instruction;
        let rep = instruction.has_rep_prefix() || instruction.has_repne_prefix();
        if instruction.is_string_instruction() {
            if rep && self.register(Register::RCX) != 0 {
                self.find(Kind::Count, instruction);
            }
            if self.register(Register::RSI) | self.register(Register::RDI) != 0 {
                self.find(Kind::Address, instruction);
            }
        }
    }

    /// Obeys a marker; does nothing for any other no-op.
    fn obey(&mut self, instruction: &Instruction, values: &Values<'_>) {
        if instruction.mnemonic() != Mnemonic::Nop || instruction.op0_kind() != OpKind::Memory {
            return;
        }
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let range = || Some((values.get(base)? as usize, values.get(index)? as usize));
        match instruction.memory_displacement64() as i32 {
            marker::SECRET => {
                if let Some((address, length)) = range() {
                    self.memory.fill(address, length, true);
                }
            }
            marker::PUBLIC => {
                if let Some((address, length)) = range() {
                    self.memory.fill(address, length, false);
                }
            }
            marker::PUBLIC_VALUE => {
                self.registers.set(base, 0, true);
            }
            _ => {}
        }
    }
}
