//! Decodes server-sent events from bytes in any pieces, with limits.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

#[cfg(test)]
mod tests;

/// One event. Events without data are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// From the `event:` line; empty without one.
    pub(crate) name: &'a str,
    pub(crate) data: &'a str,
}

/// An event or a line is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    /// Bytes that are not lines yet; those before `read` are consumed.
    buffer: Vec<u8>,
    read: usize,
    /// Bytes of the current line that are known to hold no line end.
    scanned: usize,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Nothing was read yet: a byte order mark may come.
    at_start: bool,
    name: String,
    /// The position of the event's data in the buffer. It is usually one line.
    line: Option<Range<usize>>,
    /// Otherwise, the data so far.
    data: String,
    has_data: bool,
    /// The event in `name` and `data` was handed out.
    handed_out: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Decoder {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            read: 0,
            scanned: 0,
            after_cr: false,
            at_start: true,
            name: String::new(),
            line: None,
            data: String::new(),
            has_data: false,
            handed_out: false,
        }
    }

    /// Takes more bytes. All events of the bytes before them should have been read.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.read > 0 {
            self.lift_line();
            self.buffer.drain(..self.read);
            self.read = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole event, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<SseEvent<'_>>, TooLong> {
        self.clear_handed_out();
        while let Some((start, end)) = self.next_line()? {
            if start == end {
                if self.dispatch() {
                    return Ok(Some(self.event()));
                }
            } else {
                self.take_line(start, end)?;
            }
        }
        Ok(None)
    }

    /// The rest of a body that ends without the blank line after an event.
    pub(crate) fn rest(&mut self) -> Result<Option<SseEvent<'_>>, TooLong> {
        self.clear_handed_out();
        let (start, end) = (self.read, self.buffer.len());
        self.read = end;
        self.scanned = 0;
        if start < end {
            self.take_line(start, end)?;
        }
        Ok(if self.dispatch() { Some(self.event()) } else { None })
    }

    /// The next line without its end, as a place in the buffer.
    fn next_line(&mut self) -> Result<Option<(usize, usize)>, TooLong> {
        if self.after_cr && self.read < self.buffer.len() {
            if self.buffer[self.read] == b'\n' {
                self.read += 1;
            }
            self.after_cr = false;
        }
        if self.at_start {
            let rest = &self.buffer[self.read..];
            if rest.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(rest) {
                return Ok(None);
            }
            if rest.starts_with(BYTE_ORDER_MARK) {
                self.read += BYTE_ORDER_MARK.len();
            }
            self.at_start = false;
        }
        let from = self.read + self.scanned;
        let Some(length) = memchr2(b'\n', b'\r', &self.buffer[from..]) else {
            self.scanned = self.buffer.len() - self.read;
            return if self.scanned > self.limit { Err(TooLong) } else { Ok(None) };
        };
        let (start, end) = (self.read, from + length);
        if end - start > self.limit {
            return Err(TooLong);
        }
        self.after_cr = self.buffer[end] == b'\r';
        self.read = end + 1;
        self.scanned = 0;
        Ok(Some((start, end)))
    }

    fn take_line(&mut self, start: usize, end: usize) -> Result<(), TooLong> {
        let line = &self.buffer[start..end];
        let colon = memchr(b':', line).unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if !self.has_data => {
                self.has_data = true;
                self.line = Some(end - value.len()..end);
            }
            b"data" => {
                let length = value.len();
                self.lift_line();
                if self.data.len() + length > self.limit {
                    return Err(TooLong);
                }
                self.data.push('\n');
                self.data.push_str(&text(&self.buffer[end - length..end]));
            }
            b"event" => {
                self.name.clear();
                self.name.push_str(&text(value));
            }
            // Comments, `id`, `retry` and unknown fields.
            _ => {}
        }
        Ok(())
    }

    /// Ends an event. Returns true if it has data.
    fn dispatch(&mut self) -> bool {
        self.handed_out = true;
        if !self.has_data {
            self.clear_handed_out();
            return false;
        }
        if self.line_text().is_none() {
            self.lift_line();
        }
        true
    }

    fn event(&self) -> SseEvent<'_> {
        SseEvent { name: &self.name, data: self.line_text().unwrap_or(&self.data) }
    }

    /// The single line of data, if it can be borrowed.
    fn line_text(&self) -> Option<&str> {
        self.line.clone().and_then(|line| str::from_utf8(&self.buffer[line]).ok())
    }

    /// Takes the line out of the buffer: it changes, or the line is not all of the data.
    fn lift_line(&mut self) {
        if let Some(line) = self.line.take() {
            self.data.push_str(&text(&self.buffer[line]));
        }
    }

    fn clear_handed_out(&mut self) {
        if self.handed_out {
            self.name.clear();
            self.line = None;
            self.data.clear();
            self.has_data = false;
            self.handed_out = false;
        }
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
