//! A stream of frames from an arbitrary client: frames end at their stated length, and a parsed
//! message encodes to its original bytes.
#![no_main]

use cycloid_hsm::rpc::{Request, Response, frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stream: &[u8]| {
    let mut rest = stream;
    while let Ok(Some(frame)) = frame::read(rest) {
        check(frame.message);
        assert!(frame.length <= rest.len());
        rest = &rest[frame.length..];
    }
    check(stream);
});

fn check(message: &[u8]) {
    if let Ok(request) = Request::read(message) {
        let mut written = Vec::new();
        request.write(&mut written);
        // Attributes are sorted; nothing is added or lost.
        assert_eq!(written.len(), message.len());
        assert_eq!(Request::read(&written), Ok(request));
    }
    if let Ok(response) = Response::read(message) {
        let mut written = Vec::new();
        response.write(&mut written);
        assert_eq!(written, message);
    }
}
