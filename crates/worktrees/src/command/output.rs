//! The end of a command's output, and the counts of tests in all of it.

use std::collections::VecDeque;

use super::TestCounts;
use super::counts::Counting;
use crate::limits;

#[derive(Debug, Default)]
pub(super) struct Output {
    tail: VecDeque<u8>,
    total: u64,
    /// The line that has not ended yet.
    line: Vec<u8>,
    counting: Counting,
}

impl Output {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        for byte in bytes {
            match byte {
                b'\n' => self.end_line(),
                byte if self.line.len() < limits::LINE_BYTES => self.line.push(*byte),
                _ => {}
            }
        }
        // Of more than the tail holds, only the end counts.
        let kept = &bytes[bytes.len().saturating_sub(limits::TAIL_BYTES)..];
        let over = (self.tail.len() + kept.len()).saturating_sub(limits::TAIL_BYTES);
        self.tail.drain(..over);
        self.tail.extend(kept);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.counting.line(&String::from_utf8_lossy(&line));
    }

    /// The tail, the bytes before it, and the counts.
    pub(super) fn finish(mut self) -> (String, u64, Option<TestCounts>) {
        self.end_line();
        let left_out = self.total - self.tail.len() as u64;
        let bytes = self.tail.make_contiguous();
        let cut = match left_out {
            0 => 0,
            // A character that the cut went through is left out too.
            _ => bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count(),
        };
        let text = String::from_utf8_lossy(&bytes[cut..]).into_owned();
        (text, left_out + cut as u64, self.counting.finish())
    }
}
