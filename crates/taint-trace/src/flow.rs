//! Executes one instruction and finds the next.

use std::sync::atomic::Ordering;

use iced_x86::{ConditionCode, FlowControl, Instruction, Mnemonic, OpKind};

use crate::arena::IN_TRACER;
use crate::code::Code;
use crate::context::{Context, RCX, RSP};
use crate::registers::Values;

/// Executes an instruction of the traced code: most as a copy; jumps, calls and returns by the
/// registers and the memory that they read.
///
/// # Safety
/// The context has begun, `code` is its next instruction, and nothing else refers to it.
pub(crate) unsafe fn advance(context: *mut Context, code: &Code) {
    if let Some(copy) = code.copy {
        // SAFETY: the caller's promise.
        unsafe { execute(context, copy, &code.instruction) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { (*context).instruction_pointer = branch(&mut *context, &code.instruction) };
    }
}

/// Executes a copy; of a repeated instruction, one element.
///
/// # Safety
/// As for [`advance`].
unsafe fn execute(context: *mut Context, copy: usize, instruction: &Instruction) {
    let run = || {
        IN_TRACER.store(false, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { Context::execute(context, copy) };
        IN_TRACER.store(true, Ordering::Relaxed);
    };
    let repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    // SAFETY: the caller's promise.
    let count = unsafe { (*context).general[RCX] };
    if !repeated || count > 0 {
        run();
    }
    // SAFETY: the caller's promise; the copy has been executed.
    let context = unsafe { &mut *context };
    let mut again = false;
    if repeated && count > 0 {
        context.general[RCX] = count - 1;
        again =
            count > 1 && (!compares(instruction) || zero(context) == instruction.has_repe_prefix());
    }
    context.instruction_pointer = if again { instruction.ip() } else { instruction.next_ip() };
}

/// Returns whether a repetition also ends by the zero flag.
fn compares(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq | M::Scasb | M::Scasw | M::Scasd | M::Scasq
    )
}

fn zero(context: &Context) -> bool {
    holds(ConditionCode::e, context.flags)
}

/// Takes a jump, call or return, and returns the address of the next instruction.
fn branch(context: &mut Context, instruction: &Instruction) -> u64 {
    let next = instruction.next_ip();
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch => instruction.near_branch_target(),
        FlowControl::ConditionalBranch if is_taken(context, instruction) => {
            instruction.near_branch_target()
        }
        FlowControl::ConditionalBranch => next,
        FlowControl::IndirectBranch => pointer(context, instruction),
        FlowControl::Call => {
            push(context, next);
            instruction.near_branch_target()
        }
        FlowControl::IndirectCall => {
            let target = pointer(context, instruction);
            push(context, next);
            target
        }
        FlowControl::Return => {
            let stack = &mut context.general[RSP];
            // SAFETY: the traced code reads its return address.
            let target = unsafe { (*stack as *const u64).read_unaligned() };
            let operand = if instruction.op_count() == 1 { instruction.immediate16() } else { 0 };
            *stack += 8 + u64::from(operand);
            target
        }
        _ => unreachable!("every other instruction has a copy"),
    }
}

/// Returns whether a conditional jump is taken; LOOP also counts down.
fn is_taken(context: &mut Context, instruction: &Instruction) -> bool {
    let condition = instruction.condition_code();
    if instruction.is_jcx_short() {
        return context.general[RCX] == 0;
    }
    if instruction.is_loop() || instruction.is_loopcc() {
        let count = &mut context.general[RCX];
        *count = count.wrapping_sub(1);
        let more = *count != 0;
        return more && (condition == ConditionCode::None || holds(condition, context.flags));
    }
    holds(condition, context.flags)
}

/// Returns the target of an indirect jump or call.
fn pointer(context: &Context, instruction: &Instruction) -> u64 {
    let values = Values { context };
    if instruction.op0_kind() == OpKind::Register {
        return values.get(instruction.op0_register()).expect("the target is a general register");
    }
    let address = instruction.virtual_address(0, 0, |register, _, _| values.get(register));
    let address = address.expect("general registers form the address");
    // SAFETY: the traced code reads the target there.
    unsafe { (address as *const u64).read_unaligned() }
}

fn push(context: &mut Context, word: u64) {
    let stack = &mut context.general[RSP];
    *stack -= 8;
    // SAFETY: the traced code writes to its stack.
    unsafe { (*stack as *mut u64).write_unaligned(word) };
}

/// Returns whether a condition holds for these flags.
pub(crate) fn holds(condition: ConditionCode, flags: u64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    match condition {
        ConditionCode::o => overflow,
        ConditionCode::no => !overflow,
        ConditionCode::b => carry,
        ConditionCode::ae => !carry,
        ConditionCode::e => zero,
        ConditionCode::ne => !zero,
        ConditionCode::be => carry || zero,
        ConditionCode::a => !(carry || zero),
        ConditionCode::s => sign,
        ConditionCode::ns => !sign,
        ConditionCode::p => parity,
        ConditionCode::np => !parity,
        ConditionCode::l => sign != overflow,
        ConditionCode::ge => sign == overflow,
        ConditionCode::le => zero || sign != overflow,
        ConditionCode::g => !(zero || sign != overflow),
        _ => unreachable!("the instruction has a condition"),
    }
}
