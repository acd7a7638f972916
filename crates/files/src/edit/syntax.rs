//! The text of a file as statements with their places, enough to change one and leave every other byte
//! alone.

use std::borrow::Cow;
use std::ops::Range;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, RecursionGuard, parse_document};
use toml_parser::{ErrorSink, ParseError, Raw, Source, Span};

/// The maximum depth of lists and inline tables, the same as the reader's.
pub(crate) const DEPTH: u32 = 80;

#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) span: Range<usize>,
    pub(crate) text: String,
}

/// `[a.b]` or `[[a.b]]`.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) span: Range<usize>,
    pub(crate) keys: Vec<Key>,
    pub(crate) array: bool,
}

/// `a.b = value`, on a line of its own or in an inline table. It has at least one key.
#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub(crate) keys: Vec<Key>,
    pub(crate) value: Value,
}

impl Assign {
    pub(crate) fn start(&self) -> usize {
        self.keys.first().map_or(self.value.span.start, |key| key.span.start)
    }

    pub(crate) fn end(&self) -> usize {
        self.value.span.end
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Scalar,
    List(Vec<Value>),
    Table(Vec<Assign>),
}

#[derive(Debug, Clone)]
pub(crate) enum Statement {
    Header(Header),
    Assign(Assign),
}

/// The statements of a range of text, or `None` if it is not well formed. All places are offsets in the
/// whole text.
pub(crate) fn statements(text: &str, range: Range<usize>) -> Option<Vec<Statement>> {
    let base = range.start;
    let source = Source::new(text.get(range)?);
    let tokens = source.lex().into_vec();
    let mut events: Vec<Event> = Vec::with_capacity(tokens.len());
    let mut errors = Failed(false);
    parse_document(&tokens, &mut RecursionGuard::new(&mut events, DEPTH), &mut errors);
    if errors.0 {
        return None;
    }
    events.retain(|event| {
        !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
    });
    let mut walk = Walk { source, base, events: &events, next: 0 };
    let mut statements = Vec::new();
    while let Some(event) = walk.peek() {
        statements.push(match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => Statement::Header(walk.header()?),
            EventKind::SimpleKey => Statement::Assign(walk.assign()?),
            _ => return None,
        });
    }
    Some(statements)
}

/// Records that there was an error. The reader reports which.
pub(crate) struct Failed(pub(crate) bool);

impl ErrorSink for Failed {
    fn report_error(&mut self, _: ParseError) {
        self.0 = true;
    }
}

struct Walk<'e, 's> {
    source: Source<'s>,
    base: usize,
    events: &'e [Event],
    next: usize,
}

impl Walk<'_, '_> {
    fn peek(&self) -> Option<&Event> {
        self.events.get(self.next)
    }

    fn take(&mut self) -> Option<Event> {
        let event = *self.events.get(self.next)?;
        self.next += 1;
        Some(event)
    }

    fn take_if(&mut self, kind: EventKind) -> bool {
        let hit = self.peek().is_some_and(|event| event.kind() == kind);
        self.next += usize::from(hit);
        hit
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.base + span.start()..self.base + span.end()
    }

    fn keys(&mut self) -> Option<Vec<Key>> {
        let mut keys = Vec::new();
        loop {
            let event = self.take().filter(|event| event.kind() == EventKind::SimpleKey)?;
            let text = decode_key(self.source, event.span(), event.encoding())?;
            keys.push(Key { span: self.range(event.span()), text: text.into_owned() });
            if !self.take_if(EventKind::KeySep) {
                return Some(keys);
            }
        }
    }

    fn header(&mut self) -> Option<Header> {
        let open = self.take()?;
        let array = open.kind() == EventKind::ArrayTableOpen;
        let keys = self.keys()?;
        let close = self.take()?;
        let span = self.range(open.span()).start..self.range(close.span()).end;
        Some(Header { span, keys, array })
    }

    fn assign(&mut self) -> Option<Assign> {
        let keys = self.keys()?;
        self.take_if(EventKind::KeyValSep).then_some(())?;
        Some(Assign { keys, value: self.value()? })
    }

    fn value(&mut self) -> Option<Value> {
        let open = self.take()?;
        let start = self.range(open.span()).start;
        match open.kind() {
            EventKind::Scalar => Some(Value { span: self.range(open.span()), shape: Shape::Scalar }),
            EventKind::ArrayOpen => {
                let mut values = Vec::new();
                while self.peek()?.kind() != EventKind::ArrayClose {
                    values.push(self.value()?);
                    self.take_if(EventKind::ValueSep);
                }
                let end = self.take()?;
                Some(Value { span: start..self.range(end.span()).end, shape: Shape::List(values) })
            }
            EventKind::InlineTableOpen => {
                let mut assigns = Vec::new();
                while self.peek()?.kind() != EventKind::InlineTableClose {
                    assigns.push(self.assign()?);
                    self.take_if(EventKind::ValueSep);
                }
                let end = self.take()?;
                Some(Value { span: start..self.range(end.span()).end, shape: Shape::Table(assigns) })
            }
            _ => None,
        }
    }
}

/// The text of a key, unescaped.
pub(crate) fn decode_key<'s>(
    source: Source<'s>,
    span: Span,
    encoding: Option<Encoding>,
) -> Option<Cow<'s, str>> {
    let raw = source.input().get(span.start()..span.end())?;
    let mut decoded = Cow::Borrowed("");
    let mut failed = Failed(false);
    Raw::new_unchecked(raw, encoding, span).decode_key(&mut decoded, &mut failed);
    (!failed.0).then_some(decoded)
}

/// The text of a string value, unescaped. `None` if it is not a string.
pub(crate) fn decode_string(raw: &str) -> Option<String> {
    let encoding = match raw.as_bytes() {
        [b'"', b'"', b'"', ..] => Encoding::MlBasicString,
        [b'\'', b'\'', b'\'', ..] => Encoding::MlLiteralString,
        [b'"', ..] => Encoding::BasicString,
        [b'\'', ..] => Encoding::LiteralString,
        _ => return None,
    };
    let mut decoded = Cow::Borrowed("");
    let mut failed = Failed(false);
    let span = Span::new_unchecked(0, raw.len());
    let _ = Raw::new_unchecked(raw, Some(encoding), span).decode_scalar(&mut decoded, &mut failed);
    (!failed.0).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_know_their_places() {
        let text =
            "x = 1\n[personas.\"a b\"] # note\ntags = [\"x\", { y.z = 2 }] # tail\n[[arcs.q.stages]]\n";
        let statements = statements(text, 6..text.len()).expect("well formed");
        let Statement::Header(header) = &statements[0] else { panic!("a header comes first") };
        assert_eq!(&text[header.span.clone()], "[personas.\"a b\"]");
        assert_eq!(header.keys[1].text, "a b");
        let Statement::Assign(assign) = &statements[1] else { panic!("then a field") };
        assert_eq!(&text[assign.start()..assign.end()], "tags = [\"x\", { y.z = 2 }]");
        let Shape::List(values) = &assign.value.shape else { panic!("it is a list") };
        assert_eq!(&text[values[1].span.clone()], "{ y.z = 2 }");
        let Statement::Header(header) = &statements[2] else { panic!("then a header") };
        assert!(header.array && header.keys.len() == 3);
    }

    #[test]
    fn malformed_text_has_no_statements() {
        for text in ["[a", "a = [1", "a = {b = 1", "a = 1 b = 2"] {
            assert!(statements(text, 0..text.len()).is_none(), "{text}");
        }
        let deep = format!("a = {}", "[".repeat(10_000));
        assert!(statements(&deep, 0..deep.len()).is_none());
    }

    #[test]
    fn strings_are_decoded_whatever_their_quotes() {
        for (raw, text) in
            [(r#""a\nb""#, "a\nb"), ("'a\\n'", "a\\n"), ("\"\"\"\nx\"y\"\"\"", "x\"y"), ("'''\nx'''", "x")]
        {
            assert_eq!(decode_string(raw).as_deref(), Some(text));
        }
        assert_eq!(decode_string("12"), None);
    }
}
