//! Taint as a set of the bytes of an operand: bit i is set if byte i depends on a secret.

/// The tainted bytes of an operand of at most 64 bytes.
pub(crate) type Taint = u64;

/// Returns the set of the first `bytes` bytes.
pub(crate) const fn low(bytes: usize) -> Taint {
    if bytes >= 64 { Taint::MAX } else { (1 << bytes) - 1 }
}

/// Returns all of `bytes` bytes if any byte of `taint` is tainted.
pub(crate) const fn all_if_any(taint: Taint, bytes: usize) -> Taint {
    if taint == 0 { 0 } else { low(bytes) }
}

/// Returns the lowest tainted byte and all above it, of `bytes` bytes: the reach of a carry.
pub(crate) const fn upward(taint: Taint, bytes: usize) -> Taint {
    if taint == 0 { 0 } else { (Taint::MAX << taint.trailing_zeros()) & low(bytes) }
}

/// Returns whole elements of `size` bytes, a power of two, that have any tainted byte.
pub(crate) const fn elements(mut taint: Taint, size: usize) -> Taint {
    // Folds each element into its first byte, then spreads it.
    let mut step = 1;
    while step < size {
        taint |= taint >> step;
        step *= 2;
    }
    let mut first = 0;
    let mut i = 0;
    while i < 64 {
        first |= 1 << i;
        i += size;
    }
    taint &= first;
    let mut step = 1;
    while step < size {
        taint |= taint << step;
        step *= 2;
    }
    taint
}

/// Shifts the taint of a number of `bytes` bytes right by `bits`; the bits that come in are clean.
pub(crate) const fn shift_right(taint: Taint, bits: usize, bytes: usize) -> Taint {
    let taint = taint & low(bytes);
    let whole = bits / 8;
    if whole >= 64 {
        return 0;
    }
    let moved = taint >> whole;
    if bits.is_multiple_of(8) { moved } else { moved | moved >> 1 }
}

/// Shifts the taint of a number of `bytes` bytes left by `bits`.
pub(crate) const fn shift_left(taint: Taint, bits: usize, bytes: usize) -> Taint {
    let whole = bits / 8;
    if whole >= 64 {
        return 0;
    }
    let moved = taint << whole;
    (if bits.is_multiple_of(8) { moved } else { moved | moved << 1 }) & low(bytes)
}

/// Repeats the first `size` bytes up to `bytes` bytes.
pub(crate) const fn repeat(taint: Taint, size: usize, bytes: usize) -> Taint {
    let element = taint & low(size);
    let mut all = 0;
    let mut at = 0;
    while at < bytes {
        all |= element << at;
        at += size;
    }
    all & low(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_reach_upwards() {
        assert_eq!(upward(0b0100, 8), 0b1111_1100);
        assert_eq!(upward(0, 8), 0);
        assert_eq!(upward(1 << 63, 64), 1 << 63);
    }

    #[test]
    fn an_element_is_tainted_as_a_whole() {
        assert_eq!(elements(0b0010_0000_0001, 4), 0b1111_0000_1111);
        assert_eq!(elements(1 << 63, 8), 0xff << 56);
        assert_eq!(elements(0b101, 1), 0b101);
        assert_eq!(elements(1 << 20, 16), 0xffff << 16);
    }

    #[test]
    fn shifts_touch_two_bytes_unless_they_are_whole() {
        assert_eq!(shift_right(0b1000_0000, 63, 8), 0b1);
        assert_eq!(shift_right(0b0000_0100, 4, 8), 0b0000_0110);
        assert_eq!(shift_right(0b0000_0100, 8, 8), 0b0000_0010);
        assert_eq!(shift_left(0b0000_0001, 63, 8), 0b1000_0000);
        assert_eq!(shift_left(0b0000_0001, 8, 8), 0b0000_0010);
        assert_eq!(shift_left(0b1000_0000, 8, 8), 0);
    }

    #[test]
    fn repeats_an_element() {
        assert_eq!(repeat(0b1, 4, 16), 0b0001_0001_0001_0001);
        assert_eq!(repeat(0xff, 8, 64), u64::MAX);
    }
}
