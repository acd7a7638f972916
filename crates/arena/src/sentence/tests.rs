use super::*;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let ends = sentence_ends(text);
    let found: Vec<&str> = sentences(text, &ends).collect();
    assert_eq!(found, expected, "{text:?}");
    assert_eq!(ends.last().copied().unwrap_or(0), text.trim_end().len());
}

#[test]
fn sentences_end_at_their_marks() {
    check("One. Two! Three? Four", &["One.", "Two!", "Three?", "Four"]);
    check("One.", &["One."]);
    check("", &[]);
    check("   ", &[]);
    check("Really?! Yes… \"No.\" (So.) End.  ", &["Really?!", "Yes…", "\"No.\"", "(So.)", "End."]);
    check("你好。我是王小明！真的？", &["你好。", "我是王小明！", "真的？"]);
    check("A line\nAnother line", &["A line", "Another line"]);
    check("One.\n\nTwo.", &["One.", "Two."]);
}

#[test]
fn a_full_stop_is_not_always_an_end() {
    check("It costs 3.50 at masque.dev today. Yes.", &["It costs 3.50 at masque.dev today.", "Yes."]);
    check("Dr. Curie met Mr. Ramsay. They ate.", &["Dr. Curie met Mr. Ramsay.", "They ate."]);
    check("J. S. Bach wrote it. So did I. Well.", &["J. S. Bach wrote it.", "So did I.", "Well."]);
    check("Use a list, e.g. this one. Done.", &["Use a list, e.g. this one.", "Done."]);
    check("1. Wash it. 2. Cook it.", &["1. Wash it.", "2. Cook it."]);
    check("It is 1999. We sing.", &["It is 1999.", "We sing."]);
}

#[test]
fn a_long_speech_keeps_its_end() {
    let ends = sentence_ends(&"Go. ".repeat(1_000));
    assert_eq!((ends.len(), ends.last().copied()), (limits::SENTENCE_ENDS, Some(3_999)));
}

#[test]
fn a_prefix_becomes_a_sentence_end() {
    let text = "One two. Three four. Five.";
    assert_eq!(end_of_prefix(text, "One"), Some(1));
    assert_eq!(end_of_prefix(text, "One two."), Some(1));
    assert_eq!(end_of_prefix(text, "One two. "), Some(1));
    assert_eq!(end_of_prefix(text, "One two. Th"), Some(2));
    assert_eq!(end_of_prefix(text, text), Some(3));
    assert_eq!(end_of_prefix(text, "Two"), None);
    assert_eq!(end_of_prefix(text, ""), None);
}
