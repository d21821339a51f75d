//! Parses the addresses of inner packets for routing.

use std::net::IpAddr;

/// Returns source and destination of an IP packet, or `None` for other packets.
pub(super) fn addresses(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    fn pair<const N: usize>(addresses: &[u8]) -> Option<(IpAddr, IpAddr)>
    where
        IpAddr: From<[u8; N]>,
    {
        let (source, rest) = addresses.split_first_chunk::<N>()?;
        Some((IpAddr::from(*source), IpAddr::from(*rest.first_chunk::<N>()?)))
    }
    match packet.first()? >> 4 {
        4 => pair::<4>(packet.get(12..20)?),
        6 => pair::<16>(packet.get(8..40)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_whole_headers_only() {
        let mut v4 = vec![0x45; 20];
        v4[12..].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(addresses(&v4), Some(([10, 0, 0, 1].into(), [10, 0, 0, 2].into())));
        let mut v6 = vec![0x60; 40];
        v6[8..24].fill(1);
        v6[24..].fill(2);
        assert_eq!(addresses(&v6), Some(([1; 16].into(), [2; 16].into())));
        for short in [&v4[..19], &v6[..39], &[], &[0x50; 60]] {
            assert_eq!(addresses(short), None);
        }
    }
}
