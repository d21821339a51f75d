//! `enable-dco` on a machine without the kernel's family, and where the configuration does not fit.

use std::path::Path;

use crate::test_bed::{Settings, TestBed, Who};

const WHY_NOT: &str = "enable-dco: this program moves the packets itself: ";

#[test]
fn without_the_kernels_data_channel_one_line_says_why() {
    let bed = TestBed::new();
    let lines = |lines: &str| Settings { both: lines.into(), ..Settings::default() };
    for (lines, why) in [
        (lines("enable-dco\nuser nobody"), "the kernel takes keys from privileged users only"),
        (lines("enable-dco"), "the kernel does not have the family ovpn"),
    ] {
        let mut gate = bed.start(Who::Cycloid, true, &lines);
        let mut alice = bed.start(Who::Cycloid, false, &lines);
        assert!(gate.text().contains(&format!("{WHY_NOT}this end is a server")), "{}", gate.text());
        // A kernel with the family would be used.
        if !Path::new("/sys/module/ovpn").exists() {
            assert!(alice.text().contains(&format!("{WHY_NOT}{why}")), "{}", alice.text());
            assert_eq!(alice.count(WHY_NOT), 1);
        }
        bed.assert_reaches(why, [&mut gate, &mut alice]);
    }
    let both = lines("enable-dco\ndisable-dco");
    let gate = bed.start(Who::Cycloid, true, &both);
    let alice = bed.start(Who::Cycloid, false, &both);
    assert_eq!((gate.count("enable-dco:"), alice.count("enable-dco:")), (0, 0));
}
