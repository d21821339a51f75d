//! A recording of the whole process, from its beginning to its end.

use std::collections::HashMap;
use std::process;
use std::time::{Duration, Instant};

use crate::mapped_files::{MappedFile, mapped_files};
use crate::raw_profile::{RawProfile, RawStack, TITLE_LIMIT};
use crate::sampler::{Sampler, Samples};
use crate::{Error, clock};

/// A recording that starts when this is created.
pub struct Recording {
    sampler: Sampler,
    hertz: u32,
    start: Instant,
    processor: Duration,
    files: Vec<MappedFile>,
}

/// Returns the processor time of this process.
fn processor() -> Duration {
    clock::of_process(process::id()).unwrap_or_default()
}

impl Recording {
    /// Starts sampling all threads, with this number of samples per second of processor time.
    ///
    /// # Errors
    /// [`Error::Busy`] and [`Error::Unsupported`].
    pub fn begin(hertz: u32) -> Result<Self, Error> {
        let sampler = Sampler::new(hertz)?;
        let files = mapped_files();
        let recording =
            Self { sampler, hertz, start: Instant::now(), processor: processor(), files };
        recording.sampler.on(Duration::ZERO);
        Ok(recording)
    }

    /// Ends sampling and returns the profile under `title`, which has 1 to 200 characters; more are
    /// cut off.
    ///
    /// The addresses in the profile are relative to an artificial layout, in which the files follow
    /// each other. So the profile does not reveal where the system has placed the code of a running
    /// process.
    pub fn end(self, title: &str) -> RawProfile {
        let Samples { stacks, lost, spent } = self.sampler.finish();
        let processor = processor().saturating_sub(self.processor);
        let wall = self.start.elapsed();
        // A process that has lost access to /proc still knows its files from the beginning.
        let mut files = mapped_files();
        if files.is_empty() {
            files = self.files;
        }
        let stacks = hide_layout(&mut files, stacks);
        let title = title.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        RawProfile {
            title: title.take(TITLE_LIMIT).collect(),
            process: process::id(),
            wall,
            processor,
            hertz: self.hertz,
            lost,
            handler: spent,
            files,
            stacks,
        }
    }
}

/// Moves the files to an artificial layout, one after the other, and the addresses of the stacks
/// with them. Addresses outside the files become 0.
fn hide_layout(files: &mut [MappedFile], stacks: HashMap<Vec<usize>, u64>) -> Vec<RawStack> {
    const FIRST: u64 = 0x1000;
    let starts: Vec<u64> = files
        .iter()
        .scan(FIRST, |next, file| {
            let start = *next;
            *next += file.end - file.start;
            Some(start)
        })
        .collect();
    let moved = |address: usize| {
        let address = address as u64;
        let at = files.partition_point(|file| file.end <= address);
        match files.get(at).filter(|file| file.contains(address)) {
            Some(file) => starts[at] + (address - file.start),
            None => 0,
        }
    };
    // Stacks that differ only in addresses outside the files are now equal.
    let mut together = HashMap::<Vec<u64>, u64>::new();
    for (addresses, samples) in stacks {
        let addresses = addresses.into_iter().map(moved).collect();
        *together.entry(addresses).or_default() += samples;
    }
    for (file, start) in files.iter_mut().zip(starts) {
        (file.start, file.end) = (start, start + (file.end - file.start));
    }
    let mut stacks: Vec<_> =
        together.into_iter().map(|(addresses, samples)| RawStack { addresses, samples }).collect();
    stacks.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.addresses.cmp(&b.addresses)));
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_artificial_layout_keeps_files_and_positions() {
        let file = |start, end, offset| MappedFile {
            start,
            end,
            offset,
            identity: None,
            path: "/lib/x".into(),
        };
        let mut files = [file(0x7f00_0000, 0x7f00_2000, 0x1000), file(0x7fff_0000, 0x7fff_1000, 0)];
        let stacks = HashMap::from([
            (vec![0x7f00_0010, 0x7fff_0fff], 2),
            (vec![0x7f00_1fff, 0x7f00_2000], 3),
            (vec![0x7f00_1fff, 0x1234], 4),
        ]);
        let hidden = hide_layout(&mut files, stacks);
        assert_eq!(files, [file(0x1000, 0x3000, 0x1000), file(0x3000, 0x4000, 0)]);
        let stack =
            |addresses: [u64; 2], samples| RawStack { addresses: addresses.into(), samples };
        assert_eq!(hidden, [stack([0x2fff, 0], 7), stack([0x1010, 0x3fff], 2)]);
    }
}
