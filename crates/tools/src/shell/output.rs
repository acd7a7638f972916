//! The beginning and the end of a command's output.

use std::collections::VecDeque;

use crate::limits;

#[derive(Debug, Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Output {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = limits::OUTPUT_HEAD_BYTES - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        // Of more than the tail holds, only the end counts.
        let rest = &rest[rest.len().saturating_sub(limits::OUTPUT_TAIL_BYTES)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(limits::OUTPUT_TAIL_BYTES);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// All bytes that came, kept or not.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn into_text(mut self) -> String {
        let left_out = self.total - self.head.len() as u64 - self.tail.len() as u64;
        if left_out == 0 {
            self.head.extend(self.tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        // Characters that the cut went through are left out too.
        let tail = self.tail.make_contiguous();
        let start = tail.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
        let head = match std::str::from_utf8(&self.head) {
            Err(error) if error.error_len().is_none() => &self.head[..error.valid_up_to()],
            _ => &self.head[..],
        };
        format!(
            "{}\n[{left_out} of {} bytes are left out here]\n{}",
            String::from_utf8_lossy(head),
            self.total,
            String::from_utf8_lossy(&tail[start..])
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Output;
    use crate::limits::{OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES};

    fn text(pieces: &[&[u8]]) -> String {
        let mut output = Output::default();
        for piece in pieces {
            output.push(piece);
        }
        output.into_text()
    }

    #[test]
    fn output_that_fits_is_whole() {
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[b"gr\xc3", b"\xbc\xc3\x9fe"]), "grüße");
        let full = vec![b'x'; OUTPUT_HEAD_BYTES + OUTPUT_TAIL_BYTES];
        assert_eq!(text(&[&full]).len(), full.len());
    }

    #[test]
    fn of_more_the_beginning_and_the_end_are_kept() {
        let text = text(&[b"first", &vec![b'x'; 1_000_000], b"last"]);
        assert!(text.starts_with("firstxx") && text.ends_with("xxlast"), "{}", text.len());
        let left_out = 1_000_009 - OUTPUT_HEAD_BYTES - OUTPUT_TAIL_BYTES;
        assert!(text.contains(&format!("\n[{left_out} of 1000009 bytes are left out here]\n")));
    }

    #[test]
    fn no_character_is_cut_in_two() {
        for shift in 0..3 {
            let text = text(&[&b"abc"[..shift], "€".repeat(50_000).as_bytes()]);
            assert!(!text.contains('\u{FFFD}'));
        }
    }
}
