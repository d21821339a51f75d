//! Functions at positions of a program file, from its debug information and its symbols.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use cycloid_profiler::Identity;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};

/// The largest program file that is read, in bytes.
const FILE_LIMIT: u64 = 4 << 30;

/// A function at a position.
pub(super) struct Frame {
    /// Its symbol, which may be mangled.
    pub(super) symbol: String,
    /// The source file of the code.
    pub(super) source: Option<String>,
}

/// Reads a program file if it is in the given state.
pub(super) fn read(path: &Path, identity: Identity) -> Option<Vec<u8>> {
    let unchanged = |metadata| Identity::of(&metadata) == Some(identity);
    // Opening anything but a file, such as a pipe, could block.
    if identity.bytes > FILE_LIMIT || !path.metadata().is_ok_and(unchanged) {
        return None;
    }
    let file = File::open(path).ok()?;
    file.metadata().ok().filter(|metadata| Identity::of(metadata) == Some(identity))?;
    let mut data = Vec::new();
    file.take(identity.bytes).read_to_end(&mut data).ok()?;
    Some(data)
}

/// Calls `found` for each address with the functions at its position in the file: the innermost
/// inlined function first. Without debug information for the position, its symbol is the only one.
pub(super) fn resolve(
    data: &[u8],
    positions: impl Iterator<Item = (u64, u64)>,
    found: &mut dyn FnMut(u64, Vec<Frame>),
) {
    let Ok(file) = object::File::parse(data) else { return };
    let context = context(&file);
    let symbols = Symbols::new(&file);
    for (address, position) in positions {
        // The address as the file counts it: programs are loaded elsewhere.
        let Some(virtual_address) = virtual_address(&file, position) else { continue };
        let mut frames =
            context.as_ref().map_or_else(Vec::new, |c| frames(c, &symbols, virtual_address));
        if frames.is_empty() {
            let symbol = symbols.at(virtual_address);
            frames.extend(symbol.map(|symbol| Frame { symbol: symbol.into(), source: None }));
        }
        found(address, frames);
    }
}

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

fn context<'a>(file: &object::File<'a>) -> Option<Context<Slice<'a>>> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: SectionId| {
        let section = file.section_by_name(id.name());
        // Compressed sections count as missing.
        let data = match section.and_then(|section| section.uncompressed_data().ok()) {
            Some(Cow::Borrowed(data)) => data,
            Some(Cow::Owned(_)) | None => &[],
        };
        Ok::<_, addr2line::gimli::Error>(Slice::new(data, endian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// Translates a position in the file to a virtual address, by the program headers.
fn virtual_address(file: &object::File<'_>, position: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (start, bytes) = segment.file_range();
        let within = position.checked_sub(start).filter(|within| *within < bytes)?;
        segment.address().checked_add(within)
    })
}

/// Returns the functions at an address, from debug information.
fn frames(context: &Context<Slice<'_>>, symbols: &Symbols<'_>, address: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    let Ok(mut iterator) = context.find_frames(address).skip_all_loads() else { return frames };
    while let Ok(Some(frame)) = iterator.next() {
        let named = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        let symbol = named.or_else(|| symbols.at(address).map(Cow::Borrowed));
        let source = frame.location.and_then(|location| location.file).map(String::from);
        frames.extend(symbol.map(|symbol| Frame { symbol: symbol.into_owned(), source }));
    }
    frames
}

/// The functions in a file's symbol tables, by address.
struct Symbols<'a> {
    /// First address, number of bytes, and name.
    functions: Vec<(u64, u64, &'a str)>,
}

impl<'a> Symbols<'a> {
    fn new(file: &object::File<'a>) -> Self {
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let mut functions: Vec<_> = symbols
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
            .collect();
        functions.sort_unstable();
        Self { functions }
    }

    /// Returns the function that contains the address.
    fn at(&self, address: u64) -> Option<&'a str> {
        let place = self.functions.partition_point(|(start, ..)| *start <= address);
        let (start, bytes, name) = self.functions.get(place.checked_sub(1)?)?;
        (address - start < *bytes).then_some(*name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_gives_no_functions() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let file = object::File::parse(&*program).unwrap();
        let (position, _) = file.segments().find(|s| s.file_range().0 > 0).unwrap().file_range();
        let count = |data: &[u8]| {
            let mut count = 0;
            resolve(data, [(1, position)].into_iter(), &mut |_, _| count += 1);
            count
        };
        assert_eq!(count(&program), 1);
        assert_eq!(count(&program[..100]), 0);
        assert_eq!(count(b"#!/bin/sh"), 0);
        let mut damaged = program[..program.len().min(1 << 20)].to_vec();
        damaged[64..].fill(0xff);
        assert_eq!(count(&damaged), 0);
    }

    #[test]
    fn only_an_unchanged_ordinary_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "content").unwrap();
        let identity = Identity::of(&path.metadata().unwrap()).unwrap();
        assert_eq!(read(&path, identity), Some(b"content".into()));
        assert_eq!(read(&path, Identity { bytes: 6, ..identity }), None);
        assert_eq!(read(&path, Identity { modified: 1, ..identity }), None);
        assert_eq!(read(Path::new("/dev/zero"), identity), None);
        assert_eq!(read(directory.path(), identity), None);
    }
}
