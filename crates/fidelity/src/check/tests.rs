use persona::{TestInput, TokenCounter};
use serde_json::{Value, json};

use super::{Exchange, Transcript, Verdict, check};
use crate::expectations;

/// Counts a token for each word.
struct Blanks;

impl TokenCounter for Blanks {
    fn tokenizer(&self) -> &str {
        "blanks"
    }

    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

fn exchange(reply: &str) -> Exchange {
    Exchange {
        user: "?".to_owned(),
        reply: reply.to_owned(),
        calls: Vec::new(),
        end: "end_turn".to_owned(),
        model: None,
    }
}

fn verdict_of(expected: &Value, exchanges: &[Exchange], prompt: &str) -> Verdict {
    let input: TestInput =
        serde_json::from_value(json!({ "name": "i", "expectations": [expected] })).expect("valid");
    let expectation = expectations(&input).expect("valid").remove(0);
    check(&expectation, Transcript { prompt, exchanges }, &Blanks).expect("valid").verdict
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
#[track_caller]
fn held(expected: Value, reply: &str) {
    assert_eq!(verdict_of(&expected, &[exchange(reply)], ""), Verdict::Held, "{expected}: {reply}");
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
#[track_caller]
fn broken(expected: Value, reply: &str) {
    assert_eq!(verdict_of(&expected, &[exchange(reply)], ""), Verdict::Broken, "{expected}: {reply}");
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
#[track_caller]
fn not_shown(expected: Value, reply: &str) {
    assert_eq!(verdict_of(&expected, &[exchange(reply)], ""), Verdict::NotShown, "{expected}: {reply}");
}

#[test]
fn texts() {
    held(json!({ "contains": ["Hello  there", "you"] }), "well, HELLO\nthere, you");
    broken(json!({ "contains": ["hello", "missing"] }), "hello");
    held(json!({ "lacks": ["As an AI"] }), "As a person, I say no.");
    broken(json!({ "lacks": ["don't"] }), "I don’t know");
    held(json!({ "matches": "^\\d+$" }), "42");
    broken(json!({ "matches": "^\\d+$" }), "x42");
}

#[test]
fn counts() {
    held(json!({ "words": { "max": 3 } }), "one two three");
    broken(json!({ "words": { "max": 2 } }), "one two three");
    broken(json!({ "words": { "min": 1 } }), "");
    held(json!({ "sentences": { "min": 2, "max": 2 } }), "One. Two.");
    held(json!({ "sentence_words": { "max": 3 } }), "One two. One two three four.");
    broken(json!({ "sentence_words": { "max": 2 } }), "One two. One two three four.");
    not_shown(json!({ "sentence_words": { "max": 2 } }), "");
    held(json!({ "tokens": { "max": 2 } }), "one two");
    broken(json!({ "tokens": { "max": 1 } }), "one two");
}

#[test]
fn reading_grades() {
    let easy = "The cat sat on the mat. The dog ran to the park. It was a hot day.";
    let hard = "Notwithstanding considerable methodological heterogeneity, contemporary epidemiological investigations \
                consistently demonstrate statistically significant associations.";
    held(json!({ "grade": { "max": 3 } }), easy);
    broken(json!({ "grade": { "max": 10 } }), hard);
    not_shown(json!({ "grade": { "max": 10 } }), "");
}

#[test]
fn lexicons() {
    held(json!({ "lexicon": ["measure", "profile"] }), "First we Measure it.");
    broken(json!({ "lexicon": ["measure"] }), "We measured it.");
    held(json!({ "lexicon": ["measur*"] }), "We measured it.");
    held(json!({ "lexicon": ["hot path"] }), "Find the hot path first.");
    held(json!({ "lexicon": ["one"], "per_100": { "min": 20, "max": 30 } }), "one two three four");
    broken(json!({ "lexicon": ["one"], "per_100": { "max": 20 } }), "one two three four");
    held(json!({ "lexicon": ["never"], "per_100": { "max": 0 } }), "fine words");
}

#[test]
fn voices() {
    held(json!({ "person": "first" }), "I think you should.");
    held(json!({ "person": "second" }), "Check your code.");
    held(json!({ "person": "third" }), "The parser reads it.");
    broken(json!({ "person": "third" }), "We read it.");
    held(json!({ "question": true }), "Hm. What is slow?");
    held(json!({ "question": true }), "**What is slow?**");
    broken(json!({ "question": false }), "Really? Yes.");
    held(json!({ "question": false }), "No.\n```\na ? b : c\n```");
}

#[test]
fn formats() {
    held(
        json!({ "format": { "headings": false, "lists": false, "code": false, "emoji": false } }),
        "Plain - text # x.",
    );
    broken(json!({ "format": { "headings": false } }), "## Title\ntext");
    broken(json!({ "format": { "lists": false } }), "Do:\n- this");
    broken(json!({ "format": { "lists": false } }), "1. this");
    held(json!({ "format": { "code": true } }), "```rust\nfn x() {}\n```");
    held(json!({ "format": { "headings": false } }), "```\n# a comment\n```");
    broken(json!({ "format": { "emoji": false } }), "Great 🎉");
    broken(json!({ "format": { "lists": true } }), "none");
}

#[test]
fn languages() {
    for (language, text) in [
        ("en", "What is it that you want to do with the file?"),
        ("de", "Ich weiß nicht, was das ist, und wir sehen es mit der Zeit."),
        ("fr", "Je ne sais pas ce que vous voulez dans les documents."),
        ("es", "El problema es que los datos no están, pero para una solución con tiempo."),
        ("it", "Non è il problema che sono qui, ma anche questo."),
        ("pt", "Você não tem uma resposta, mas isso também são dados com mais detalhes."),
        ("nl", "Ik weet niet wat het is, maar dat is ook van een ander."),
        ("sv", "Jag vet inte vad det är, och du har ett problem."),
        ("da", "Jeg ved ikke hvad det er, og du har et problem af den slags."),
        ("pl", "Nie wiem, czy to jest dobre, ale co się stało?"),
        ("tr", "Bu bir sorun değil, çok daha iyi bir yol var ve ben bilmiyorum."),
        ("ru", "Это не так, что вы думаете, и мы не знаем."),
        ("uk", "Це не те, що ви думаєте, і ми не знаємо, як це є."),
        ("el", "Δεν ξέρω τι είναι αυτό."),
        ("he", "אני לא יודע"),
        ("ar", "لا أعرف ما هذا"),
        ("hi", "मुझे नहीं पता"),
        ("th", "ฉันไม่รู้"),
        ("ko", "저는 모릅니다"),
        ("ja", "これは何ですか"),
        ("zh", "我不知道这是什么"),
    ] {
        held(json!({ "language": language }), text);
        let other = if language == "en" { "de" } else { "en" };
        broken(json!({ "language": other }), text);
    }
    not_shown(json!({ "language": "en" }), "OK.");
    not_shown(json!({ "language": "en" }), "");
}

#[test]
fn json_answers() {
    held(json!({ "json": {} }), "{\"a\": 1}");
    held(json!({ "json": {} }), "```json\n[1]\n```");
    broken(json!({ "json": {} }), "Here it is: {}");
    let schema = r#"{ "type": "object", "required": ["a"] }"#;
    held(json!({ "json": { "schema": schema } }), "{\"a\": 1}");
    broken(json!({ "json": { "schema": schema } }), "{\"b\": 1}");
}

#[test]
fn tools_and_ends() {
    let exchanges =
        [Exchange { calls: vec!["read_file".to_owned()], end: "refusal".to_owned(), ..exchange("x") }];
    let verdict = |expected| verdict_of(&expected, &exchanges, "");
    assert_eq!(verdict(json!({ "calls": ["read_file"] })), Verdict::Held);
    assert_eq!(verdict(json!({ "calls": ["read_file", "search"] })), Verdict::Broken);
    assert_eq!(verdict(json!({ "calls_not": ["write_file"] })), Verdict::Held);
    assert_eq!(verdict(json!({ "calls_not": ["read_file"] })), Verdict::Broken);
    assert_eq!(verdict(json!({ "ends": "refusal" })), Verdict::Held);
    assert_eq!(verdict(json!({ "ends": "end_turn" })), Verdict::Broken);
}

#[test]
fn repetition() {
    let prompt = "You are a calm mentor who asks before you answer.";
    let said = "I like to look at the numbers before I say anything.";
    let exchanges = [exchange(said), exchange("Well. I like to look at the numbers before I say anything.")];
    let verdict = |expected, exchanges: &[Exchange]| verdict_of(&expected, exchanges, prompt);
    assert_eq!(verdict(json!({ "overlap": { "earlier": 0.5 } }), &exchanges), Verdict::Broken);
    assert_eq!(verdict(json!({ "overlap": { "prompt": 0.5 } }), &exchanges), Verdict::Held);
    assert_eq!(verdict(json!({ "overlap": { "prompt": 0.5 } }), &[exchange(prompt)]), Verdict::Broken);
    assert_eq!(verdict(json!({ "overlap": { "earlier": 0.5 } }), &[exchange(said)]), Verdict::Held);
    assert_eq!(verdict(json!({ "overlap": { "prompt": 0.0 } }), &[exchange("No.")]), Verdict::NotShown);
}

#[test]
fn replies_are_chosen() {
    let exchanges = [exchange("bad"), exchange("good")];
    let verdict = |on: Value| verdict_of(&json!({ "lacks": ["bad"], "on": on }), &exchanges, "");
    assert_eq!(verdict(json!("last")), Verdict::Held);
    assert_eq!(verdict(json!("every")), Verdict::Broken);
    assert_eq!(verdict(json!(1)), Verdict::Broken);
    assert_eq!(verdict(json!(2)), Verdict::Held);
    assert_eq!(verdict(json!(3)), Verdict::NotShown);
}

#[test]
fn a_long_reply_is_cut_between_characters() {
    held(json!({ "words": { "min": 1 } }), &"é".repeat(crate::limits::REPLY_BYTES));
}

/// The table of checks in docs/testing.md: an expectation, a reply that it holds for, one that breaks it.
#[test]
fn the_examples_of_the_documentation_are_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/testing.md");
    let text = std::fs::read_to_string(path).expect("valid");
    let (_, rest) = text.split_once("<!-- begin checks -->").expect("valid");
    let (table, _) = rest.split_once("<!-- end checks -->").expect("valid");
    let mut keys = std::collections::BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `{")) {
        let cells: Vec<String> = row
            .trim_matches('|')
            .split(" | ")
            .map(|cell| cell.trim().trim_matches('`').replace("\\|", "|"))
            .collect();
        let [expectation, holds, breaks, ..] = cells.as_slice() else { panic!("{row}") };
        let document: toml::Table = toml::from_str(&format!("it = {expectation}")).expect(row);
        let value = serde_json::to_value(&document["it"]).expect("valid");
        keys.extend(value.as_object().expect("valid").keys().next().cloned());
        let with = |reply: &str| reply.replace("\\n", "\n");
        held(value.clone(), &with(holds));
        broken(value, &with(breaks));
    }
    let of_replies = ["holds", "consistent", "calls", "calls_not", "ends", "overlap"];
    let checks = persona::ExpectationTable::checks().iter().map(|field| field.name.to_owned());
    let expected: std::collections::BTreeSet<String> =
        checks.filter(|name| !of_replies.contains(&name.as_str())).collect();
    assert_eq!(keys, expected);
}
