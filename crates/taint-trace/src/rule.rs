//! The rules by which taint propagates.

/// The rule of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Every destination depends on every source.
    Generic,
    /// As [`Generic`](Self::Generic), and the time depends on the sources.
    VariableTime,
    /// Nothing is written: branches (checked elsewhere) and fences.
    Nothing,
    /// A no-op, which may be a marker.
    Nop,
    /// The result is independent of the operands, as in the exclusive-or of an operand with itself.
    Constant,
    /// Bytes move to the same positions; higher bytes become zero.
    Move,
    /// As [`Move`](Self::Move), with sign extension.
    SignExtend,
    /// The result is the address itself.
    Lea,
    /// A byte that is zero in a public operand is zero in the result.
    And,
    /// A byte that is all ones in a public operand is all ones in the result.
    Or,
    /// Sums and low halves of products: a byte depends on the same and lower bytes of the operands.
    Carry,
    /// Two values are exchanged.
    Exchange,
    /// The order of the bytes is reversed.
    Reverse,
    /// A left shift of a general register.
    ShiftLeft,
    /// A right shift; zeros come in from above.
    ShiftRight,
    /// A right shift; the sign comes in from above.
    ShiftArithmetic,
    /// A rotation; both ends meet.
    Rotate,
    /// One of two operands, selected by flags.
    ConditionalMove,
    /// A bit index or count, which fits into a byte.
    Count,
    /// To the stack.
    Push,
    /// From the stack.
    Pop,
    /// A call: pushes a public return address.
    Call,
    /// The base pointer becomes the stack pointer, then the base pointer is popped.
    Leave,
    /// MOVS, STOS, LODS: one element of a repetition.
    String,
    /// Vectors with elements of this many bytes, each of which depends only on itself.
    Elements(u8),
    /// One element of this many bytes is copied to all.
    Broadcast(u8),
    /// One element of this many bytes is inserted into a vector, at a position given by an
    /// immediate.
    Insert(u8),
    /// One element of this many bytes is extracted from a vector, at a position given by an
    /// immediate.
    Extract(u8),
    /// Elements of this many bytes of two vectors are interleaved, from the low halves of each
    /// 16 bytes.
    UnpackLow(u8),
    /// As [`UnpackLow`](Self::UnpackLow), with the high halves.
    UnpackHigh(u8),
    /// Elements of this many bytes are permuted within 32 bytes, by an immediate: VPERMQ.
    Permute,
    /// Elements of four bytes are permuted within 16 bytes, by an immediate: PSHUFD.
    Shuffle,
    /// Two concatenated vectors are shifted by this many bytes per step of the immediate: VALIGNQ.
    Align(u8),
    /// The bytes within each 16 bytes depend on each other.
    Within16,
    /// The upper half of 16 bytes is loaded from memory or stored to it.
    MoveHigh,
    /// The lower half of 16 bytes is loaded from memory or stored to it.
    MoveLow,
    /// Elements of this many bytes are loaded from addresses of their own.
    Gather(u8),
    /// VZEROUPPER.
    ZeroUpper,
    /// VZEROALL.
    ZeroAll,
}
