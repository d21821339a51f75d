//! Nothing: the size of a program without the library.

fn main() {}
