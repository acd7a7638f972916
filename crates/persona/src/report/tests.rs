use super::*;
use crate::Kind;

#[test]
fn codes_are_distinct_snake_case_words() {
    let mut words: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    for word in &words {
        assert!(word.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{word}");
    }
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), Code::ALL.len());
}

#[test]
fn a_sentence_has_the_message_and_the_remedies() {
    let word = |remedy: &Remedy| Some(remedy.to_string());
    let plain = Report::new(Code::NotFound, r#"no part is named "tonne""#);
    assert_eq!(plain.sentence(word), r#"no part is named "tonne""#);
    let listed = plain.clone().with_remedy(Remedy::ListKind { kind: Kind::Part, part_type: None });
    assert_eq!(listed.sentence(word), r#"no part is named "tonne"; list the parts"#);
    assert_eq!(listed.sentence(|_| None), r#"no part is named "tonne""#);
    let near = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        plain.clone().with_candidates(names).with_remedy(Remedy::DidYouMean).sentence(word)
    };
    assert_eq!(near(&["tone"]), r#"no part is named "tonne"; did you mean "tone"?"#);
    assert_eq!(near(&["a", "b", "c"]), r#"no part is named "tonne"; did you mean "a", "b" or "c"?"#);
    assert_eq!(near(&[]), r#"no part is named "tonne""#);
    let two =
        Report::new(Code::InUse, "it is used").with_remedy(Remedy::UnlinkFirst).with_remedy(Remedy::UseForce);
    assert_eq!(two.sentence(word), "it is used; unlink it first, or repeat with force");
    let excerpt =
        Report::new(Code::FileHasErrors, "p.toml:1:1: wrong\n  1 | x").with_remedy(Remedy::FixEntry);
    assert_eq!(excerpt.sentence(word), "p.toml:1:1: wrong; fix the entry\n  1 | x");
}

#[test]
fn a_report_leaves_out_unknown_fields() {
    let report = Report::new(Code::NotFound, "none")
        .about(Subject::entity(Kind::Part, "tonne"))
        .with_remedy(Remedy::ListKind { kind: Kind::Part, part_type: None });
    let json = serde_json::to_value(&report).expect("a report is JSON");
    assert_eq!(
        json,
        serde_json::json!({
            "code": "not_found",
            "kind": "missing",
            "message": "none",
            "subject": { "kind": "part", "name": "tonne" },
            "remedies": [{ "action": "list_kind", "kind": "part" }],
        })
    );
}
