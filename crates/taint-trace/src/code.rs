//! Decoded instructions; each is decoded once.

use std::collections::HashMap;

use iced_x86::{
    Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, InstructionInfoFactory,
    Mnemonic, OpAccess,
};

use crate::addresses::ByAddress;
use crate::classification;
use crate::copies::Copies;
use crate::rule::Rule;

/// An instruction with all data that its rule needs.
pub(crate) struct Code {
    pub(crate) instruction: Instruction,
    pub(crate) rule: Rule,
    pub(crate) flow: FlowControl,
    /// The numbers of the operands that are read.
    pub(crate) sources: Vec<u32>,
    /// Whether a write to a vector register clears its upper part.
    pub(crate) clears_upper: bool,
    /// Whether the explicit memory operand is read or written.
    pub(crate) accesses_memory: bool,
    /// The address of its copy; none for jumps, calls and returns.
    pub(crate) copy: Option<usize>,
}

/// The length of the longest instruction.
const LONGEST: usize = 15;

/// The decoded instructions, by address.
pub(crate) struct Cache {
    codes: HashMap<u64, Box<Code>, ByAddress>,
    factory: InstructionInfoFactory,
    copies: Copies,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            codes: HashMap::default(),
            factory: InstructionInfoFactory::new(),
            copies: Copies::new(),
        }
    }

    /// Returns the instruction at `address`, which the processor is about to execute.
    pub(crate) fn at(&mut self, address: u64) -> &'static Code {
        let Self { codes, factory, copies } = self;
        let code =
            codes.entry(address).or_insert_with(|| Box::new(decode(address, factory, copies)));
        let code: *const Code = &raw const **code;
        // SAFETY: a code is boxed and never dropped while the program runs.
        unsafe { &*code }
    }
}

fn decode(address: u64, factory: &mut InstructionInfoFactory, copies: &mut Copies) -> Code {
    // SAFETY: the processor is about to execute this code. The last instruction of a mapping may be
    // shorter than the longest, but executable mappings are followed by others of the same file.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, LONGEST) };
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let info = factory.info(&instruction);
    let accesses = (0..instruction.op_count()).map(|i| info.op_access(i)).collect::<Vec<_>>();
    let reads = |access: OpAccess| {
        matches!(
            access,
            OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    let sources = (0..instruction.op_count()).filter(|i| reads(accesses[*i as usize])).collect();
    let accesses_memory = (0..instruction.op_count()).any(|i| {
        instruction.op_kind(i) == iced_x86::OpKind::Memory
            && !matches!(accesses[i as usize], OpAccess::None | OpAccess::NoMemAccess)
    });
    let branches = !matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::Interrupt | FlowControl::Exception
    ) && instruction.mnemonic() != Mnemonic::Syscall;
    Code {
        copy: (!branches).then(|| copies.add(&instruction, factory)),
        rule: classification::rule(&instruction),
        flow: instruction.flow_control(),
        sources,
        clears_upper: instruction.encoding() != EncodingKind::Legacy,
        accesses_memory,
        instruction,
    }
}
