//! Malformed inner packets and headers of a TUN device: splitting returns the original data,
//! joining loses nothing, and neither reads or writes out of bounds.
#![no_main]

use cycloid_fuzz::Input;
use cycloid_vpn::net::offload::{Joiner, VirtioHeader, clamp_mss, split};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let header: [u8; VirtioHeader::LENGTH] = std::array::from_fn(|_| input.byte());
    let largest = u16::from_le_bytes([input.byte(), input.byte()]);
    let (tcp, udp) = (input.byte() & 1 != 0, input.byte() & 1 != 0);
    let size = input.up_to(255).max(1);
    let packet = bytes.get(VirtioHeader::LENGTH + 5..).unwrap_or(&[]);

    let mut clamped = packet.to_vec();
    clamp_mss(&mut clamped, largest);
    assert_eq!(clamped.len(), packet.len());

    let mut whole = packet.to_vec();
    let mut batch = Vec::new();
    let mut ranges = Vec::new();
    if let Ok(mut segments) = split(&VirtioHeader::from_bytes(header), &mut whole) {
        let mut left = segments.remaining();
        while let Some(segment) = segments.next() {
            left -= 1;
            assert!(segment.len() <= packet.len());
            ranges.push(batch.len()..batch.len() + segment.len());
            batch.extend_from_slice(segment);
        }
        assert_eq!(left, 0);
    }
    join(&mut batch.clone(), &ranges, tcp, udp);

    // The same bytes cut into packets of one size.
    let starts = (0..packet.len()).step_by(size);
    let ranges: Vec<_> = starts.map(|start| start..(start + size).min(packet.len())).collect();
    join(&mut packet.to_vec(), &ranges, tcp, udp);
});

fn join(buffer: &mut [u8], ranges: &[std::ops::Range<usize>], tcp: bool, udp: bool) {
    let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    let mut joiner = Joiner::new(tcp, udp);
    for range in ranges {
        joiner.push(buffer, range.clone());
    }
    let (mut writes, mut written) = (0, 0);
    joiner.flush(buffer, |slices| {
        assert_eq!(slices[0].len(), VirtioHeader::LENGTH);
        writes += 1;
        written += slices[1..].iter().map(|slice| slice.len()).sum::<usize>();
    });
    // A joined packet loses its headers, and nothing else.
    assert!(writes <= ranges.len() && written <= total);
    assert!(writes == ranges.len() || written < total);
    assert_eq!(writes == 0, ranges.is_empty());
}
