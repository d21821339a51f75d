//! Decodes EVEX-encoded VPMADD52LUQ and VPMADD52HUQ, with all their operands.
//!
//! EVEX.{128,256,512}.66.0F38.W1 B4 /r and B5 /r: prefix 62, three bytes of payload, opcode, ModRM,
//! SIB, displacement (Intel's manual, volume 2, section 2.7).

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// The length in bytes.
    pub(crate) length: usize,
    /// True for VPMADD52HUQ, false for VPMADD52LUQ.
    pub(crate) high: bool,
    /// 2, 4 or 8.
    pub(crate) lanes: usize,
    pub(crate) destination: usize,
    pub(crate) first_source: usize,
    pub(crate) second_source: Operand,
    /// Whether one word in memory is used for all lanes.
    pub(crate) broadcast: bool,
    /// The number of the mask register; 0 for none.
    pub(crate) mask: usize,
    /// Whether masked-out lanes become zero.
    pub(crate) zeroing: bool,
}

/// The operand named by ModRM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Register(usize),
    Memory(Address),
}

/// base + index·2^shift + displacement, with general registers by their number in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) base: Base,
    pub(crate) index: Option<usize>,
    pub(crate) shift: u8,
    pub(crate) displacement: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    None,
    Register(usize),
    /// The address of the next instruction.
    NextInstruction,
}

/// Reads consecutive bytes.
struct Reader {
    start: *const u8,
    length: usize,
}

impl Reader {
    /// Reads a byte.
    ///
    /// # Safety
    /// The byte must be readable.
    unsafe fn byte(&mut self) -> u8 {
        // SAFETY: the caller's promise.
        let byte = unsafe { self.start.add(self.length).read() };
        self.length += 1;
        byte
    }

    /// Reads a little-endian signed number of `bytes` bytes.
    ///
    /// # Safety
    /// The bytes must be readable.
    unsafe fn signed(&mut self, bytes: u32) -> i64 {
        let mut value = 0;
        for i in 0..bytes {
            // SAFETY: the caller's promise.
            value |= u64::from(unsafe { self.byte() }) << (8 * i);
        }
        let unused = 64 - 8 * bytes;
        (value << unused).cast_signed() >> unused
    }
}

/// Decodes the instruction at `start`, or returns `None` if it is another one.
///
/// # Safety
/// All bytes up to and including the first one that does not belong to such an instruction must be
/// readable.
pub(crate) unsafe fn decode(start: *const u8) -> Option<Instruction> {
    let mut reader = Reader { start, length: 0 };
    // SAFETY: here and below, a byte is read only after all bytes before it have matched such an
    // instruction.
    if unsafe { reader.byte() } != 0x62 {
        return None;
    }
    // SAFETY: as above; every instruction that begins with 62 has the payload.
    let payload: [u8; 3] = std::array::from_fn(|_| unsafe { reader.byte() });
    // Register extension bits are stored inverted.
    let inverted = |byte: u8, bit: u32| usize::from(!byte >> bit & 1);
    let [p0, p1, p2] = payload;
    let map_0f38 = p0 & 0b1111 == 0b0010;
    let wide_with_66 = p1 & 0b1000_0111 == 0b1000_0101;
    if !(map_0f38 && wide_with_66) {
        return None;
    }
    // SAFETY: as above.
    let opcode = unsafe { reader.byte() };
    if !matches!(opcode, 0xb4 | 0xb5) {
        return None;
    }
    let lanes = match p2 >> 5 & 0b11 {
        0b00 => 2,
        0b01 => 4,
        0b10 => 8,
        _ => return None,
    };
    let broadcast = p2 >> 4 & 1 == 1;
    let zeroing = p2 >> 7 == 1;
    let mask = usize::from(p2 & 0b111);
    // SAFETY: as above.
    let modrm = unsafe { reader.byte() };
    let (mode, reg, rm) = (modrm >> 6, usize::from(modrm >> 3 & 7), usize::from(modrm & 7));
    let (r, x, b, r_high) = (inverted(p0, 7), inverted(p0, 6), inverted(p0, 5), inverted(p0, 4));
    let second_source = if mode == 0b11 {
        if broadcast {
            return None;
        }
        Operand::Register(rm | b << 3 | x << 4)
    } else {
        let scale = if broadcast { 8 } else { lanes as i64 * 8 };
        // SAFETY: as above.
        Operand::Memory(unsafe { address(&mut reader, mode, rm, b, x, scale) })
    };
    if zeroing && mask == 0 {
        return None;
    }
    Some(Instruction {
        length: reader.length,
        high: opcode == 0xb5,
        lanes,
        destination: reg | r << 3 | r_high << 4,
        first_source: usize::from(!p1 >> 3 & 0b1111) | inverted(p2, 3) << 4,
        second_source,
        broadcast,
        mask,
        zeroing,
    })
}

/// Decodes the rest of a memory operand; `b` and `x` extend the numbers of base and index.
///
/// # Safety
/// As for [`decode`].
unsafe fn address(
    reader: &mut Reader,
    mode: u8,
    rm: usize,
    b: usize,
    x: usize,
    displacement_scale: i64,
) -> Address {
    let mut address = Address { base: Base::None, index: None, shift: 0, displacement: 0 };
    let mut base = rm;
    if rm == 0b100 {
        // SAFETY: the caller's promise.
        let sib = unsafe { reader.byte() };
        let index = usize::from(sib >> 3 & 7) | x << 3;
        // Number 4, the stack pointer, means no index.
        address.index = (index != 4).then_some(index);
        address.shift = sib >> 6;
        base = usize::from(sib & 7);
    }
    if mode == 0 && base == 0b101 {
        address.base = if rm == 0b100 { Base::None } else { Base::NextInstruction };
        // SAFETY: the caller's promise.
        address.displacement = unsafe { reader.signed(4) };
        return address;
    }
    address.base = Base::Register(base | b << 3);
    // SAFETY: the caller's promise.
    address.displacement = unsafe {
        match mode {
            0b01 => reader.signed(1) * displacement_scale,
            0b10 => reader.signed(4),
            _ => 0,
        }
    };
    address
}
