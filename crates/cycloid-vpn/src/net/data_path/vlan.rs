//! VLANs of a server whose tunnel carries Ethernet (`vlan-tagging`): each peer is in one VLAN and
//! knows no tags, and the device carries the frames of all of them.
//!
//! Source: IEEE 802.1Q, clause 9.6 (the tag); openvpn(8), `--vlan-tagging`, `--vlan-accept` and
//! `--vlan-pvid`; frames of OpenVPN 2.6.14.

use super::ethernet::{SERVICE_VLAN, TAG, VLAN};

/// The number of a VLAN, 1 to 4094; 0 without VLANs.
pub type VlanId = u16;

/// Bytes of the two addresses before a tag.
const ADDRESSES: usize = 12;

/// The bits of a tag's control information that are the VLAN's number.
const ID_BITS: u16 = 0x0fff;

/// Which frames the device carries, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlans {
    /// Frames with the number of a VLAN in their tag.
    pub tagged: bool,
    /// Frames without one, which are those of the VLAN `native`.
    pub untagged: bool,
    /// The VLAN of frames without a number.
    pub native: VlanId,
}

/// How a frame leaves by the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    AsItIs,
    Tagged(VlanId),
    Dropped,
}

/// Returns the control information of a frame's tag, if it has one.
fn control(frame: &[u8]) -> Option<u16> {
    let tag = frame.get(ADDRESSES..ADDRESSES + TAG)?;
    (tag[..2] == VLAN.to_be_bytes()).then(|| u16::from_be_bytes([tag[2], tag[3]]))
}

/// Returns whether a frame has a tag that may select a VLAN: any but a single one that has only a
/// priority. Behind such a one, Linux takes the VLAN from the next tag.
pub(super) fn is_tagged(frame: &[u8]) -> bool {
    let kind = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let is_tag = |kind| matches!(kind, Some(VLAN | SERVICE_VLAN));
    match kind(ADDRESSES) {
        Some(VLAN) => number(frame) != 0 || is_tag(kind(ADDRESSES + TAG)),
        first => is_tag(first),
    }
}

/// Returns the VLAN in a frame's tag; 0 without a tag, and in one that has only a priority.
fn number(frame: &[u8]) -> VlanId {
    control(frame).unwrap_or(0) & ID_BITS
}

impl Vlans {
    /// Returns the VLAN of a frame from the device, and the frame as peers get it: without the
    /// number of a VLAN. Returns `None` if the device does not carry such frames.
    pub(super) fn admit<'a>(&self, frame: &'a mut [u8]) -> Option<(VlanId, &'a mut [u8])> {
        match number(frame) {
            0 => self.untagged.then_some((self.native, frame)),
            vlan if self.tagged => {
                frame.copy_within(..ADDRESSES, TAG);
                Some((vlan, &mut frame[TAG..]))
            }
            _ => None,
        }
    }

    /// Returns how a frame of a peer in this VLAN leaves by the device.
    pub(super) fn exit(&self, vlan: VlanId) -> Exit {
        match (vlan == self.native && self.untagged, self.tagged) {
            (true, _) => Exit::AsItIs,
            (false, true) => Exit::Tagged(vlan),
            (false, false) => Exit::Dropped,
        }
    }
}

/// Gives a frame the number of a VLAN. `room` is the frame with [`TAG`] bytes before it that may
/// change. Returns the place where the frame begins now. A tag with a priority keeps it.
pub(super) fn set_number(room: &mut [u8], vlan: VlanId) -> usize {
    if let Some(control) = control(&room[TAG..]) {
        let control = control & !ID_BITS | vlan;
        room[TAG + ADDRESSES + 2..][..2].copy_from_slice(&control.to_be_bytes());
        return TAG;
    }
    room.copy_within(TAG..TAG + ADDRESSES, 0);
    room[ADDRESSES..][..2].copy_from_slice(&VLAN.to_be_bytes());
    room[ADDRESSES + 2..][..2].copy_from_slice(&vlan.to_be_bytes());
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Vlans = Vlans { tagged: true, untagged: true, native: 7 };
    const TAGGED: Vlans = Vlans { untagged: false, ..ALL };
    const UNTAGGED: Vlans = Vlans { tagged: false, ..ALL };

    fn frame(rest: &[u8]) -> Vec<u8> {
        [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], rest].concat()
    }

    #[test]
    fn frames_of_the_device_are_admitted_by_their_tags() {
        let plain = frame(&[8, 0, 1, 2, 3]);
        let prio = frame(&[0x81, 0, 0x60, 0, 8, 0, 1, 2, 3]);
        let tagged = frame(&[0x81, 0, 0, 5, 8, 0, 1, 2, 3]);
        let native = frame(&[0x81, 0, 0, 7, 8, 0, 1, 2, 3]);
        let both = frame(&[0x81, 0, 0x60, 5, 8, 0, 1, 2, 3]);
        for (vlans, given, expected) in [
            (ALL, &plain, Some((7, &plain))),
            (UNTAGGED, &plain, Some((7, &plain))),
            (TAGGED, &plain, None),
            (ALL, &prio, Some((7, &prio))),
            (UNTAGGED, &prio, Some((7, &prio))),
            (TAGGED, &prio, None),
            (ALL, &tagged, Some((5, &plain))),
            (TAGGED, &tagged, Some((5, &plain))),
            (UNTAGGED, &tagged, None),
            (ALL, &native, Some((7, &plain))),
            (TAGGED, &native, Some((7, &plain))),
            (ALL, &both, Some((5, &plain))),
            (TAGGED, &both, Some((5, &plain))),
        ] {
            let mut own = given.clone();
            let admitted = vlans.admit(&mut own).map(|(vlan, frame)| (vlan, frame.to_vec()));
            let expected = expected.map(|(vlan, frame)| (vlan, frame.clone()));
            assert_eq!(admitted, expected, "{vlans:?} {given:x?}");
        }
    }

    #[test]
    fn frames_of_peers_leave_with_the_tag_of_their_vlan() {
        use Exit::{AsItIs, Dropped, Tagged};
        for (vlans, own, other) in
            [(ALL, AsItIs, Tagged(5)), (TAGGED, Tagged(7), Tagged(5)), (UNTAGGED, AsItIs, Dropped)]
        {
            assert_eq!((vlans.exit(7), vlans.exit(5)), (own, other), "{vlans:?}");
        }
        let set = |frame: &[u8]| {
            let mut room = [&[0xee; TAG][..], frame].concat();
            let start = set_number(&mut room, 5);
            room.split_off(start)
        };
        let plain = frame(&[8, 0, 1, 2, 3]);
        assert_eq!(set(&plain), frame(&[0x81, 0, 0, 5, 8, 0, 1, 2, 3]));
        let prio = frame(&[0x81, 0, 0x60, 0, 8, 0]);
        assert_eq!(set(&prio), frame(&[0x81, 0, 0x60, 5, 8, 0]));
    }

    #[test]
    fn any_tag_but_a_single_one_without_a_number_is_one_of_a_vlan() {
        const PRIO: &[u8] = &[0x81, 0, 0x60, 0];
        const FIVE: &[u8] = &[0x81, 0, 0, 5];
        const SERVICE: &[u8] = &[0x88, 0xa8, 0, 0];
        for (tags, tagged) in [
            (&[][..], false),
            (&[PRIO], false),
            (&[FIVE], true),
            (&[PRIO, FIVE], true),
            (&[PRIO, PRIO], true),
            (&[PRIO, SERVICE], true),
            (&[SERVICE], true),
            (&[SERVICE, FIVE], true),
        ] {
            let frame = frame(&[&tags.concat()[..], &[8, 0, 1]].concat());
            assert_eq!(is_tagged(&frame), tagged, "{tags:x?}");
            for cut in 0..frame.len() {
                is_tagged(&frame[..cut]);
            }
        }
    }

    proptest! {
        /// A frame that leaves with a tag comes back as it was, without its priority.
        #[test]
        fn tags_come_off_as_they_went_on(
            rest in prop::collection::vec(any::<u8>(), 2..40),
            priority in 0_u8..8,
            vlan in 1_u16..=4094,
        ) {
            let bare = frame(&rest);
            prop_assume!(control(&bare).is_none());
            let mut given = bare.clone();
            if priority > 0 {
                given.splice(12..12, [0x81, 0, priority << 5, 0]);
            }
            let mut room = [&[0; TAG][..], &given].concat();
            let start = set_number(&mut room, vlan);
            prop_assert_eq!(number(&room[start..]), vlan);
            let (found, back) = TAGGED.admit(&mut room[start..]).unwrap();
            prop_assert_eq!((found, &*back), (vlan, &bare[..]));
        }

        #[test]
        fn arbitrary_frames_cause_no_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 14..40),
            control in any::<u16>(),
        ) {
            if bytes.len() >= 16 {
                bytes[12..14].copy_from_slice(&VLAN.to_be_bytes());
                bytes[14..16].copy_from_slice(&control.to_be_bytes());
            }
            let mut room = [&[0; TAG][..], &bytes].concat();
            set_number(&mut room, 9);
            ALL.admit(&mut bytes);
        }
    }
}
