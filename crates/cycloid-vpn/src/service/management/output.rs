//! The bounded output queue of a management connection.

use std::collections::VecDeque;
use std::io::{self, Write};

/// Above this many queued bytes, no command is read and optional lines are dropped.
const HIGH_WATER: usize = 256 * 1024;
/// Above this many queued bytes, the connection is closed.
const MAX_QUEUED: usize = 8 * 1024 * 1024;

/// A queue of bytes.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: VecDeque<u8>,
    left_out: u64,
    overflowed: bool,
}

impl Output {
    /// Queues lines that must be delivered in full.
    pub(super) fn lines(&mut self, lines: &str) {
        if self.bytes.len() + lines.len() > MAX_QUEUED {
            self.overflowed = true;
            return;
        }
        for line in lines.lines() {
            self.bytes.extend(line.bytes().filter(|byte| *byte != b'\r'));
            self.bytes.extend(b"\r\n");
        }
    }

    /// Queues a text verbatim.
    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend(text.bytes());
    }

    /// Queues a line that may be dropped.
    pub(super) fn optional_line(&mut self, line: &str) {
        if self.is_high() {
            self.left_out += 1;
            return;
        }
        if self.left_out > 0 {
            let left_out = std::mem::take(&mut self.left_out);
            self.lines(&format!(">INFO:{left_out} messages were dropped"));
        }
        self.lines(line);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn is_high(&self) -> bool {
        self.bytes.len() > HIGH_WATER
    }

    pub(super) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Sends queued bytes. Returns whether the connection accepted any.
    pub(super) fn send(&mut self, to: &mut impl Write) -> io::Result<bool> {
        let mut any = false;
        while !self.bytes.is_empty() {
            match to.write(self.bytes.as_slices().0) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => {
                    self.bytes.drain(..sent);
                    any = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(any)
    }
}

/// A bounded history of lines.
#[derive(Debug)]
pub(super) struct History {
    lines: VecDeque<String>,
    most: usize,
}

impl History {
    pub(super) fn new(most: usize) -> Self {
        Self { lines: VecDeque::new(), most }
    }

    pub(super) fn push(&mut self, line: String) {
        if self.lines.len() >= self.most {
            self.lines.pop_front();
        }
        if self.most > 0 {
            self.lines.push_back(line);
        }
    }

    /// Returns the last `count` lines and `END`.
    pub(super) fn text(&self, count: usize) -> String {
        let first = self.lines.len().saturating_sub(count);
        let lines = self.lines.iter().skip(first);
        lines.flat_map(|line| [line, "\n"]).chain(["END\n"]).collect()
    }
}
