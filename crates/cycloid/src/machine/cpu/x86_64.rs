//! Features of x86-64 other than those of backends.

cpufeatures::new!(sha, "sha", "sse4.1");
cpufeatures::new!(avx, "avx");
cpufeatures::new!(avx512, "avx512f", "avx512dq", "avx512bw", "avx512vl");

/// Returns whether the processor has SHA-256 instructions.
pub(super) fn has_sha() -> bool {
    sha::get()
}

/// The available vector registers.
#[derive(Clone, Copy)]
pub(in super::super) enum VectorRegisters {
    /// 16 of 128 bits.
    Sse,
    /// 16 of 256 bits.
    Avx,
    /// 32 of 512 bits, and masks.
    Avx512,
}

/// Returns the processor's vector registers, regardless of [`limit`](super::limit): other crates
/// and the C library use whatever exists.
#[inline]
pub(in super::super) fn vector_registers() -> VectorRegisters {
    if avx512::get() {
        VectorRegisters::Avx512
    } else if avx::get() {
        VectorRegisters::Avx
    } else {
        VectorRegisters::Sse
    }
}
