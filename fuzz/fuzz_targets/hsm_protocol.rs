//! A stream of frames from an arbitrary client: frames end at their stated length, and a parsed
//! message survives encoding and parsing.
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
    // Encoding is the shortest, and drops fields of later releases. Reading also accepts arrays of
    // indefinite length, whose first and last bytes are shorter than a header for 256 elements.
    let most = message.len() + message.len() / 256;
    if let Ok(request) = Request::read(message) {
        let written = write(|to| request.write(to));
        assert!(written.len() <= most);
        assert_eq!(Request::read(&written), Ok(request));
    }
    if let Ok(response) = Response::read(message) {
        let written = write(|to| response.write(to));
        assert!(written.len() <= most);
        assert_eq!(Response::read(&written), Ok(response));
    }
}

fn write(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut written = Vec::new();
    write(&mut written);
    written
}
