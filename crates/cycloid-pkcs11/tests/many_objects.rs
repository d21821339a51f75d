//! Searches that find more objects than the module asks for at once.

#[macro_use]
mod common;
mod real;
mod support;

use std::collections::BTreeSet;
use std::ptr::null_mut as n;

use common::daemon::Mood;
use common::{TestBed, attribute};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::{Store, Unlocking};
use real::RealBed;

/// The maximum number of objects that the module asks for at once.
const PAGE: usize = 4096;

/// Calls C_FindObjects for at most `$most` objects.
macro_rules! next {
    ($bed:expr, $session:expr, $most:expr) => {{
        let (mut some, mut count) = (vec![0; $most], 9);
        let most = $most as CK_ULONG;
        must!($bed, C_FindObjects($session, some.as_mut_ptr(), most, &raw mut count));
        some.truncate(usize::try_from(count).unwrap());
        some
    }};
}

/// Objects of several pages, of a real daemon. `daemon/objects.rs` has a test with more than one
/// message can name.
#[test]
fn objects_of_several_pages_are_found() {
    const COUNT: usize = 2 * PAGE + 1000;
    let bed = RealBed::logged_in();
    let session = bed.open();
    // They are written to the daemon's database as another daemon would.
    let url = format!("sqlite:{}", bed.daemon.path("keys.db").display());
    let store = Store::open(&url).unwrap();
    store.unlock(&Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }).unwrap();
    let mut data = Template::new();
    data.set_number(cka::CLASS, cko::DATA.into());
    data.set_bool(cka::TOKEN, true);
    data.set_bool(cka::DESTROYABLE, true);
    data.set(cka::LABEL, *b"many");
    store
        .write(|write| (0..COUNT).try_for_each(|_| write.insert((&data, None)).map(drop)))
        .unwrap();
    let label = *b"many";
    let mut wanted = [attribute(cka::LABEL, &label)];
    // The daemon looks for the changes of others twice a second.
    let all = loop {
        must!(bed, C_FindObjectsInit(session, wanted.as_mut_ptr(), 1));
        let all = next!(bed, session, COUNT + 1);
        must!(bed, C_FindObjectsFinal(session));
        if all.len() == COUNT {
            break all;
        }
    };
    assert_eq!(BTreeSet::from_iter(&all).len(), COUNT);
    // Without a template too, in pieces of another length. What is destroyed meanwhile is missing
    // at most; nothing else is, and nothing comes twice.
    must!(bed, C_FindObjectsInit(session, n(), 0));
    let mut found = next!(bed, session, 7);
    let (early, late) = (all[3], all[COUNT - 3]);
    must!(bed, C_DestroyObject(session, early));
    must!(bed, C_DestroyObject(session, late));
    loop {
        let some = next!(bed, session, 1000);
        if some.is_empty() {
            break;
        }
        found.extend(some);
    }
    let expected: Vec<_> = all.into_iter().filter(|object| *object != late).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_search_keeps_one_page_at_a_time() {
    let (bed, session) = TestBed::logged_in();
    let first = bed.daemon.objects();
    bed.daemon.fill(2 * PAGE);
    let count = first + 2 * PAGE;
    must!(bed, C_FindObjectsInit(session, n(), 0));
    assert_eq!(bed.daemon.asked("Find"), 1);
    assert_eq!(next!(bed, session, PAGE - 1).len(), PAGE - 1);
    assert_eq!(bed.daemon.asked("Find"), 1, "the rest of the page is one object");
    // One call of C_FindObjects loads several pages.
    assert_eq!(next!(bed, session, count).len(), count - (PAGE - 1));
    assert_eq!(bed.daemon.asked("Find"), 3);
    assert_eq!(next!(bed, session, 9).len(), 0);
    assert_eq!(bed.daemon.asked("Find"), 3, "the last page says that it is the last");
}

#[test]
fn a_page_that_fails_loses_no_object() {
    let (bed, session) = TestBed::logged_in();
    bed.daemon.fill(PAGE);
    must!(bed, C_FindObjectsInit(session, n(), 0));
    bed.daemon.set_mood(Mood::Wrong);
    let mut found = next!(bed, session, 2 * PAGE);
    assert_eq!(found.len(), PAGE, "those of the first page");
    let (mut object, mut count) = (0, 9);
    let code = call!(bed, C_FindObjects(session, &raw mut object, 1, &raw mut count));
    assert_eq!(code, CKR_DEVICE_ERROR, "an error is not the end");
    bed.daemon.set_mood(Mood::Sound);
    found.extend(next!(bed, session, 2 * PAGE));
    assert_eq!(BTreeSet::from_iter(&found).len(), bed.daemon.objects());
    assert_eq!(found.len(), bed.daemon.objects());
}

/// A daemon that never ends a search, or turns back in it, is not believed.
#[test]
fn a_search_advances_or_ends() {
    let (bed, session) = TestBed::logged_in();
    bed.daemon.fill(PAGE);
    must!(bed, C_FindObjectsInit(session, n(), 0));
    assert_eq!(next!(bed, session, PAGE).len(), PAGE);
    bed.daemon.set_mood(Mood::Repeats);
    let (mut object, mut count) = (0, 9);
    let code = call!(bed, C_FindObjects(session, &raw mut object, 1, &raw mut count));
    assert_eq!(code, CKR_DEVICE_ERROR);
}
