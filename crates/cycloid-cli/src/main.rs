//! The program `cycloid`.

fn main() {}
