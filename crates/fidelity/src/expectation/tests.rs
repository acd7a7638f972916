use persona::{BrokenRule, Entity as _, Invalid, TestInput};
use serde_json::{Value, json};

use super::{Check, expectations};

#[expect(clippy::needless_pass_by_value, reason = "callers pass a literal")]
fn input(expectations: Value) -> TestInput {
    serde_json::from_value(json!({ "name": "i", "content": "c", "expectations": expectations }))
        .expect("valid")
}

fn names(expected: Value) -> Vec<String> {
    expectations(&input(expected)).expect("valid").into_iter().map(|it| it.name).collect()
}

#[test]
fn a_text_is_a_proposition_for_a_judge() {
    let parsed = expectations(&input(json!(["It greets.", { "holds": "It greets." }]))).expect("valid");
    assert!(parsed.iter().all(|it| it.is_judged() && it.weight == 1.0 && it.must_show && !it.must));
    assert_eq!(names(json!(["It  greets.", "It greets."])), ["It greets.", "It greets. (2)"]);
}

#[test]
fn every_check_has_a_key_and_a_name() {
    let all = json!([
        "It greets.", { "consistent": true }, { "contains": ["a"] }, { "lacks": ["As an AI", "b"] },
        { "matches": "^a" }, { "words": { "max": 80 } }, { "sentences": { "min": 1, "max": 2 } },
        { "sentence_words": { "max": 20 } }, { "grade": { "min": 3.5 } },
        { "lexicon": ["measure"], "per_100": { "min": 0.5 } }, { "person": "first" }, { "question": true },
        { "format": { "headings": false, "lists": true } }, { "language": "de" }, { "json": {} },
        { "calls": ["read_file"] }, { "calls_not": ["write_file"] }, { "ends": "end_turn" },
        { "overlap": { "prompt": 0.2 } }, { "tokens": { "max": 100 } },
    ]);
    let parsed = expectations(&input(all.clone())).expect("valid");
    let keys: Vec<&str> = parsed.iter().map(|it| it.check.key()).collect();
    let fields: Vec<&str> = persona::ExpectationTable::checks().iter().map(|field| field.name).collect();
    assert_eq!(keys, fields);
    assert_eq!(
        names(all)[2..13],
        [
            "contains \"a\"",
            "lacks \"As an AI\", \"b\"",
            "matches ^a",
            "words at most 80",
            "sentences 1 to 2",
            "words in a sentence at most 20",
            "reading grade at least 3.5",
            "lexicon \"measure\"",
            "speaks in the first person",
            "asks something",
            "format no headings, lists",
        ]
    );
}

#[test]
fn common_keys_are_taken() {
    let parsed = expectations(&input(json!([{
        "holds": "Admits it.", "name": "honest", "on": 2, "weight": 2.5, "must": true, "must_show": false,
        "aspect": "boundary", "piece": "guardrail:honest", "examples": [{ "reply": "No.", "holds": false }],
    }])));
    let it = &parsed.expect("valid")[0];
    assert_eq!((it.name.as_str(), it.weight, it.must, it.must_show), ("honest", 2.5, true, false));
    assert_eq!((it.aspect.as_deref(), it.piece.as_deref()), (Some("boundary"), Some("guardrail:honest")));
    assert_eq!(it.on, persona::ReplyChoice::Number(2));
}

fn refused(expected: Value) -> Invalid {
    expectations(&input(expected)).expect_err("it is refused")
}

#[test]
fn patterns_and_schemas_that_cannot_be_read_are_refused() {
    let Invalid { field, rule } = refused(json!(["fine", { "matches": "(" }]));
    assert_eq!(field, "expectations[1].matches");
    assert!(matches!(rule, BrokenRule::NoPattern { .. }), "{rule:?}");
    // One that would take too much memory.
    assert!(matches!(refused(json!([{ "matches": "(a{1000}){1000}" }])).rule, BrokenRule::NoPattern { .. }));
    for schema in ["{", "{\"type\": 5}"] {
        let Invalid { field, rule } = refused(json!([{ "json": { "schema": schema } }]));
        assert_eq!(field, "expectations[0].json.schema");
        assert!(matches!(rule, BrokenRule::NoSchema { .. }), "{rule:?}");
    }
}

#[test]
fn a_table_has_exactly_one_check() {
    for (wrong, count) in [(json!({ "must": true }), 0), (json!({ "words": { "max": 1 }, "holds": "x" }), 2)]
    {
        let input = input(json!([wrong]));
        assert!(input.check().is_err());
        let BrokenRule::NotOneCheck { given } = expectations(&input).expect_err("it is refused").rule else {
            panic!()
        };
        assert_eq!(given.len(), count);
    }
}

#[test]
fn a_compiled_pattern_is_kept() {
    let parsed = expectations(&input(json!([{ "matches": "(?i)hello" }]))).expect("valid");
    let Check::Matches(pattern) = &parsed[0].check else { panic!("a pattern") };
    assert!(pattern.is_match("HELLO"));
}
