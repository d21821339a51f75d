//! A prepared operation of a peer, and the check of its result.

/// A prepared operation: reads the first slice, writes the result into the second, and returns the
/// result's length.
pub type Call = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<usize, &'static str>>;

/// Maps a result to a value that must be equal for all subjects of a table: the result itself if
/// only one is correct, otherwise whether the result is valid. It may call the operation once more.
pub type ResultCheck = Box<dyn Fn(&mut Call, &[u8]) -> Vec<u64>>;
