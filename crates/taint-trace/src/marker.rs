//! The marker instructions of traced code: no-ops with a memory operand that no processor reads.
//! The displacement selects the meaning.
//!
//! | instruction | meaning |
//! |---|---|
//! | `nop dword ptr [pointer + length + SECRET]` | `length` bytes at `pointer` are secret |
//! | `nop dword ptr [pointer + length + PUBLIC]` | `length` bytes at `pointer` are public |
//! | `nop dword ptr [register + PUBLIC_VALUE]` | the register holds a public value |
//!
//! The library emits the same instructions in `cycloid::internals::ct`.

/// Marks memory as secret.
pub const SECRET: i32 = 0x6379_6301;

/// Marks memory as public.
pub const PUBLIC: i32 = 0x6379_6302;

/// Marks the value of a register as public.
pub const PUBLIC_VALUE: i32 = 0x6379_6303;
