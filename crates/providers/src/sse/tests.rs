use proptest::prelude::*;

use super::{Decoder, SseEvent, TooLong};

type Pairs = Vec<(String, String)>;

fn pair(event: SseEvent<'_>) -> (String, String) {
    (event.name.to_owned(), event.data.to_owned())
}

/// The events of a body that comes in these pieces; the last one may lack its blank line.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Result<Pairs, TooLong> {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next()? {
            events.push(pair(event));
        }
    }
    if let Some(event) = decoder.rest()? {
        events.push(pair(event));
    }
    Ok(events)
}

fn check(body: &str, expected: &[(&str, &str)]) {
    let expected: Pairs = expected.iter().map(|(name, data)| ((*name).into(), (*data).into())).collect();
    assert_eq!(decode([body.as_bytes()], 1_000).as_ref(), Ok(&expected), "in one piece: {body:?}");
    assert_eq!(decode(body.as_bytes().chunks(1), 1_000), Ok(expected), "byte by byte: {body:?}");
}

#[test]
fn bodies() {
    check("", &[]);
    check("data: a\n\n", &[("", "a")]);
    check("data:a\n\ndata:  b\n\n", &[("", "a"), ("", " b")]);
    check("event: one\ndata: a\n\ndata: b\n\n", &[("one", "a"), ("", "b")]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
    check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    check("data: a\ndata: b\r\ndata: c\r\n\n", &[("", "a\nb\nc")]);
    check("data\n\n", &[("", "")]);
    check("data:\ndata:\n\n", &[("", "\n")]);
    check(": a comment\n\n:\n\ndata: a\n:b\n\n", &[("", "a")]);
    check("event: lonely\n\ndata: a\n\n", &[("", "a")]);
    check("id: 1\nretry: 5\nunknown: x\ndata: a\n\n", &[("", "a")]);
    check("\u{feff}data: a\n\n", &[("", "a")]);
    check("data: \u{feff}ü€😀\n\n", &[("", "\u{feff}ü€😀")]);
    check("\n\n\ndata: a\n\n\n\n", &[("", "a")]);
}

#[test]
fn an_unterminated_last_event_counts() {
    check("data: a", &[("", "a")]);
    check("event: e\ndata: a\n", &[("e", "a")]);
    check("data: a\r", &[("", "a")]);
    check("event: e", &[]);
    check("\u{feff}", &[]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let events = decode([b"data: a\xFFb\n\n".as_slice()], 100);
    assert_eq!(events, Ok(vec![(String::new(), "a\u{fffd}b".to_owned())]));
}

#[test]
fn lines_and_events_have_a_limit() {
    let line = format!("data: {}\n\n", "x".repeat(200));
    assert_eq!(decode([line.as_bytes()], 100), Err(TooLong));
    assert_eq!(decode(line.as_bytes().chunks(7), 100), Err(TooLong));
    let lines = format!("{}\n", "data: 123456789\n".repeat(20));
    assert_eq!(decode([lines.as_bytes()], 100), Err(TooLong));
    let comment = format!(":{}", "x".repeat(200));
    assert_eq!(decode(comment.as_bytes().chunks(7), 100), Err(TooLong));
    let many = "data: 123456789\n\n".repeat(200);
    assert_eq!(decode([many.as_bytes()], 100).map(|events| events.len()), Ok(200));
}

fn body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("data: ".to_owned()),
        Just("event: ".to_owned()),
        Just(":".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        "[a-zäß€😀 :]{0,8}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(body in body(), cuts in proptest::collection::vec(0usize..400, 0..12)) {
        let bytes = body.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&bytes[start..cut]);
            start = cut;
        }
        pieces.push(&bytes[start..]);
        prop_assert_eq!(decode(pieces, 1_000_000), decode([bytes], 1_000_000));
    }

    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1usize..20) {
        prop_assert_eq!(decode(bytes.chunks(size), 1_000), decode([bytes.as_slice()], 1_000));
    }
}
