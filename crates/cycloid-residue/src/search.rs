//! Searches the writable memory of another process.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::needles::{Needles, windows};
use crate::protocol::Extent;
use crate::stop::PATTERN;

/// A secret that was found.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) region: String,
}

/// A snapshot of a region of memory.
pub(crate) struct Region {
    name: String,
    start: u64,
    bytes: Vec<u8>,
}

/// Reads all memory that the process can write.
pub(crate) fn memory(process: u32) -> std::io::Result<Vec<Region>> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let mut regions = Vec::new();
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let Some((start, end)) = range.split_once('-') else { continue };
        if !access.starts_with("rw") {
            continue;
        }
        let address = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        let (start, end) = (address(start), address(end));
        let mut bytes = vec![0; (end - start) as usize];
        memory.read_exact_at(&mut bytes, start)?;
        let name = fields.nth(3).unwrap_or("anonymous").to_owned();
        regions.push(Region { name, start, bytes });
    }
    Ok(regions)
}

/// Returns each place with eight bytes of a secret, except in excluded ranges.
pub(crate) fn search(regions: &[Region], needles: &Needles, excluded: &[Extent]) -> Vec<Found> {
    const PAGE: usize = 4096;
    let sieve = needles.sieve();
    let mut found = Vec::new();
    for region in regions {
        for start in (0..region.bytes.len()).step_by(PAGE) {
            // Includes the bytes that overlap into the next page.
            let page = &region.bytes[start..(start + PAGE + 7).min(region.bytes.len())];
            if page.iter().all(|byte| *byte == 0) {
                continue;
            }
            for (i, window) in windows(page).enumerate() {
                if !sieve.passes(window) {
                    continue;
                }
                let Some(name) = needles.name(window) else { continue };
                let address = region.start + (start + i) as u64;
                if excluded.iter().any(|part| (part.start..part.end).contains(&address)) {
                    continue;
                }
                found.push(Found { name: name.into(), address, region: region.name.clone() });
            }
        }
    }
    found
}

/// Returns the number of bytes of stack below `pointer` that are no longer painted.
pub(crate) fn touched(regions: &[Region], pointer: u64, painted: usize) -> usize {
    let holds = |region: &&Region| {
        (region.start..region.start + region.bytes.len() as u64).contains(&pointer)
    };
    let Some(region) = regions.iter().find(holds) else { return 0 };
    let end = (pointer - region.start) as usize;
    let pattern = PATTERN.to_le_bytes();
    // The paint ends slightly higher relative to this pointer, because a frame above did the
    // painting.
    let words = region.bytes[end - painted + 4096..end].chunks_exact(8);
    let untouched = words.clone().take_while(|word| **word == pattern).count();
    (words.count() - untouched) * 8
}
