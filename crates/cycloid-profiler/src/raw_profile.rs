//! Samples as code addresses with the files that they belong to, and their text format.
//!
//! ```text
//! cycloid samples 1
//! title cycloid-hsm serve
//! process 1234
//! wall 10000123456
//! processor 2000123456
//! hertz 997
//! lost 0
//! handler 1234567
//! file 1000 9000 2000 123456:1700000000 /usr/bin/cycloid-hsm
//! file 9000 a000 0 - [vdso]
//! stack 12 1010 1abc 2def
//! end
//! ```
//!
//! The first line names the format and its version. All lines above `file` occur once, in this
//! order. Any number of `file` lines and then of `stack` lines follow. The line `end` is the last
//! one, so a text that was cut off is recognised. Each line ends in a line feed, and single spaces
//! separate its fields.
//!
//! - `title`: the name of the profile, 1 to 200 characters without control characters.
//! - `process`: the process id.
//! - `wall`: the wall-clock time of the recording, in nanoseconds.
//! - `processor`: the processor time of all threads, in nanoseconds.
//! - `hertz`: the requested samples per second of processor time.
//! - `lost`: the number of samples dropped because the buffer was full.
//! - `handler`: the processor time spent on sampling, in nanoseconds.
//! - `file`: the first address; the address after the last one; the position in the file of the
//!   first address; the size in bytes, a colon, and the time of the last change in seconds since
//!   1970, or `-` if these are unknown; the path, of at most 12288 bytes without control characters.
//!   There are at most 65536 such lines.
//! - `stack`: the number of samples, at least 1; 1 to 192 addresses, the innermost first.
//!
//! Addresses and positions are hexadecimal, with lower-case digits and no prefix; other numbers are
//! decimal. No number has leading zeros or exceeds 64 bits (`process` and `hertz`: 32 bits). The
//! ranges of files ascend and do not overlap. An address outside all of them is valid: its file is
//! not known. A text has at most 64 MiB.

use std::fmt::{self, Display, Formatter, Write};
use std::time::Duration;

use crate::mapped_files::{Identity, MappedFile};
use crate::sampler::DEPTH;

/// The first line of the format, which names its version.
pub const FIRST_LINE: &str = "cycloid samples 1";

/// The longest text, in bytes. The samples of a full buffer fit.
pub const TEXT_LIMIT: usize = 64 << 20;

/// The longest title, in characters.
pub(crate) const TITLE_LIMIT: usize = 200;

/// The largest number of mapped files.
const FILE_LIMIT: usize = 65_536;

/// The longest path, in bytes: three times the system's limit, because each invalid byte of a path
/// is replaced by a character of three bytes.
const PATH_LIMIT: usize = 3 * 4096;

/// The samples of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawProfile {
    /// The title.
    pub title: String,
    /// The process id.
    pub process: u32,
    /// The wall-clock time of the recording.
    pub wall: Duration,
    /// The processor time of all threads during the recording.
    pub processor: Duration,
    /// The requested samples per second of processor time.
    pub hertz: u32,
    /// The number of samples dropped because the buffer was full.
    pub lost: u64,
    /// The processor time spent on sampling.
    pub handler: Duration,
    /// The files with the sampled code, by ascending address.
    pub files: Vec<MappedFile>,
    /// Distinct stacks, the most frequent first.
    pub stacks: Vec<RawStack>,
}

/// A stack and the number of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawStack {
    /// Code addresses, the innermost first.
    pub addresses: Vec<u64>,
    /// The number of samples.
    pub samples: u64,
}

/// A violation of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line, counted from 1.
    pub line: usize,
    /// The expected content.
    pub expected: &'static str,
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected {}", self.line, self.expected)
    }
}

impl std::error::Error for Malformed {}

/// Writes the text format.
impl Display for RawProfile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}\ntitle {}\nprocess {}", self.title, self.process)?;
        let [wall, processor, handler] =
            [self.wall, self.processor, self.handler].map(|time| time.as_nanos());
        writeln!(f, "wall {wall}\nprocessor {processor}\nhertz {}", self.hertz)?;
        writeln!(f, "lost {}\nhandler {handler}", self.lost)?;
        for MappedFile { start, end, offset, identity, path } in &self.files {
            write!(f, "file {start:x} {end:x} {offset:x} ")?;
            match identity {
                Some(Identity { bytes, modified }) => write!(f, "{bytes}:{modified}")?,
                None => f.write_char('-')?,
            }
            writeln!(f, " {path}")?;
        }
        for RawStack { addresses, samples } in &self.stacks {
            write!(f, "stack {samples}")?;
            addresses.iter().try_for_each(|address| write!(f, " {address:x}"))?;
            f.write_char('\n')?;
        }
        f.write_str("end\n")
    }
}

impl RawProfile {
    /// Returns whether `text` claims to be in this format, of any version.
    pub fn claims_format(text: &str) -> bool {
        text.starts_with("cycloid samples ")
    }

    /// Parses the text format.
    ///
    /// # Errors
    /// If the text violates the format, is longer than [`TEXT_LIMIT`], or the numbers of samples
    /// add up to more than 64 bits.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        if text.len() > TEXT_LIMIT {
            return Err(Malformed { line: 1, expected: "at most 64 MiB of text" });
        }
        let mut lines = Lines { rest: text, number: 0 };
        lines.next("the first line `cycloid samples 1`", |line| {
            (line == FIRST_LINE).then_some(())
        })?;
        let title = lines.field("title", "`title` with 1 to 200 characters", |title| {
            printable(title, 4 * TITLE_LIMIT).filter(|title| title.chars().count() <= TITLE_LIMIT)
        })?;
        let process = lines.field("process", "`process` and a process id", short)?;
        let wall = lines.field("wall", "`wall` and nanoseconds", time)?;
        let processor = lines.field("processor", "`processor` and nanoseconds", time)?;
        let hertz = lines.field("hertz", "`hertz` and a rate", short)?;
        let lost = lines.field("lost", "`lost` and a number", decimal)?;
        let handler = lines.field("handler", "`handler` and nanoseconds", time)?;

        let mut files: Vec<MappedFile> = Vec::new();
        while lines.starts_with("file ") {
            let above = files.last().map_or(0, |file| file.end);
            let room = files.len() < FILE_LIMIT;
            files.push(lines.field(
                "file",
                "`file` with ascending addresses, and a path",
                |line| mapped_file(line).filter(|file| room && file.start >= above),
            )?);
        }
        let mut stacks: Vec<RawStack> = Vec::new();
        let mut all = lost;
        while lines.starts_with("stack ") {
            stacks.push(lines.field(
                "stack",
                "`stack`, samples and 1 to 192 addresses",
                |line| {
                    let stack = raw_stack(line)?;
                    all = all.checked_add(stack.samples)?;
                    Some(stack)
                },
            )?);
        }
        lines.next("`file`, `stack` or `end`", |line| (line == "end").then_some(()))?;
        if !lines.rest.is_empty() {
            let line = lines.number + 1;
            return Err(Malformed { line, expected: "nothing after `end`" });
        }
        Ok(Self { title, process, wall, processor, hertz, lost, handler, files, stacks })
    }
}

/// The lines that have not been parsed yet.
struct Lines<'a> {
    rest: &'a str,
    /// The number of parsed lines.
    number: usize,
}

impl<'a> Lines<'a> {
    fn starts_with(&self, prefix: &str) -> bool {
        self.rest.starts_with(prefix)
    }

    /// Parses the next line.
    fn next<T>(
        &mut self,
        expected: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, Malformed> {
        self.number += 1;
        let malformed = Malformed { line: self.number, expected };
        let (line, rest) = self.rest.split_once('\n').ok_or(malformed)?;
        self.rest = rest;
        parse(line).ok_or(malformed)
    }

    /// Parses what follows the name in the next line.
    fn field<T>(
        &mut self,
        name: &str,
        expected: &'static str,
        parse: impl FnOnce(&'a str) -> Option<T>,
    ) -> Result<T, Malformed> {
        self.next(expected, |line| parse(line.strip_prefix(name)?.strip_prefix(' ')?))
    }
}

/// Accepts text that is not empty, has at most `limit` bytes and no control characters.
fn printable(text: &str, limit: usize) -> Option<String> {
    let valid = (1..=limit).contains(&text.len()) && !text.contains(char::is_control);
    valid.then(|| text.to_owned())
}

/// Parses digits without a sign and without leading zeros.
fn digits(text: &str, radix: u32) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    let lower = !text.contains(|c: char| c.is_ascii_uppercase());
    u64::from_str_radix(text, radix).ok().filter(|_| canonical && lower)
}

fn decimal(text: &str) -> Option<u64> {
    digits(text, 10)
}

fn short(text: &str) -> Option<u32> {
    decimal(text)?.try_into().ok()
}

fn time(text: &str) -> Option<Duration> {
    decimal(text).map(Duration::from_nanos)
}

fn hexadecimal(text: &str) -> Option<u64> {
    digits(text, 16)
}

fn mapped_file(line: &str) -> Option<MappedFile> {
    let mut fields = line.splitn(5, ' ');
    let mut number = || fields.next().and_then(hexadecimal);
    let (start, end, offset) = (number()?, number()?, number()?);
    let identity = match fields.next()? {
        "-" => None,
        identity => {
            let (bytes, modified) = identity.split_once(':')?;
            Some(Identity { bytes: decimal(bytes)?, modified: decimal(modified)? })
        }
    };
    let path = printable(fields.next()?, PATH_LIMIT)?;
    let file = MappedFile { start, end, offset, identity, path };
    // Positions in the file are 64-bit numbers, too.
    (start < end && offset.checked_add(end - start).is_some()).then_some(file)
}

fn raw_stack(line: &str) -> Option<RawStack> {
    let (samples, addresses) = line.split_once(' ')?;
    let samples = decimal(samples).filter(|samples| *samples > 0)?;
    let addresses: Vec<u64> =
        addresses.split(' ').take(DEPTH + 1).map(hexadecimal).collect::<Option<_>>()?;
    (addresses.len() <= DEPTH).then_some(RawStack { addresses, samples })
}

#[cfg(test)]
mod tests;
