//! Ids of traces and spans, and the `traceparent` of W3C Trace Context.

/// Bytes of a `traceparent` of version 00.
const LENGTH: usize = 55;

/// The id of a trace. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraceId([u8; 16]);

/// The id of a span. Never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpanId([u8; 8]);

impl TraceId {
    pub(crate) fn new() -> Self {
        Self(non_zero())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl SpanId {
    pub(crate) fn new() -> Self {
        Self(non_zero())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Random bytes that are not all zero.
fn non_zero<const N: usize>() -> [u8; N] {
    loop {
        let bytes: [u8; N] = std::array::from_fn(|_| rand::random());
        if bytes != [0; N] {
            return bytes;
        }
    }
}

/// The place of a span in its trace: what its children inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    /// False: neither the span nor its children are sent.
    pub(crate) is_sampled: bool,
}

impl Place {
    /// Parses the `traceparent` of a caller. `None` if it is invalid: the trace then begins here.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() < LENGTH || bytes[2] != b'-' || bytes[35] != b'-' || bytes[52] != b'-' {
            return None;
        }
        let [version] = hex(&bytes[..2])?;
        // Later versions may only add fields. 255 is not a version.
        let is_whole = match version {
            0 => bytes.len() == LENGTH,
            255 => false,
            _ => bytes.len() == LENGTH || bytes[LENGTH] == b'-',
        };
        let trace = hex(&bytes[3..35]).filter(|id| *id != [0; 16])?;
        let span = hex(&bytes[36..52]).filter(|id| *id != [0; 8])?;
        let [flags] = hex(&bytes[53..55])?;
        is_whole.then_some(Self { trace: TraceId(trace), span: SpanId(span), is_sampled: flags & 1 == 1 })
    }
}

/// Bytes from twice as many lower-case hexadecimal digits.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn a_callers_place_is_read() {
        for (text, is_sampled) in [
            (format!("00-{TRACE}-00f067aa0ba902b7-01"), true),
            (format!("00-{TRACE}-00f067aa0ba902b7-00"), false),
            (format!("00-{TRACE}-00f067aa0ba902b7-03"), true),
            (format!("cc-{TRACE}-00f067aa0ba902b7-01"), true),
            (format!("cc-{TRACE}-00f067aa0ba902b7-01-later"), true),
        ] {
            let place = Place::parse(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(place.is_sampled, is_sampled, "{text}");
            assert_eq!((place.trace.0[0], place.trace.0[15]), (0x4b, 0x36));
            assert_eq!(place.span.0, [0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        }
    }

    #[test]
    fn an_invalid_place_is_none() {
        for text in [
            String::new(),
            "00".to_owned(),
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01.more"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-00f067aa0ba902b7-0g"),
            format!("00_{TRACE}-00f067aa0ba902b7-01"),
            "é".repeat(40),
        ] {
            assert_eq!(Place::parse(&text), None, "{text}");
        }
    }

    #[test]
    fn new_ids_differ() {
        assert_ne!(TraceId::new(), TraceId::new());
        assert_ne!(SpanId::new(), SpanId::new());
    }
}
