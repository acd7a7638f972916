use serde_json::{Value, json};

use super::*;
use crate::inputs::parse;
use crate::{AsReport as _, Code, Report};

fn decided(body: &Value) -> std::result::Result<(bool, Option<String>, bool), Box<Report>> {
    let mut fields = body.as_object().expect("an object").clone();
    fields.insert("id".to_owned(), json!(Uuid::nil()));
    fields.insert("call_id".to_owned(), json!("toolu_1"));
    let input: DecideCall = parse(&fields).map_err(|error| Box::new(error.report()))?;
    let decision = input.decision().map_err(|error| Box::new(error.report()))?;
    Ok((decision.approved, decision.reason, decision.remember))
}

#[test]
fn every_spelling_of_a_decision_is_accepted() {
    for (body, approved) in [
        (json!({ "decision": "approve" }), true),
        (json!({ "decision": "reject" }), false),
        (json!({ "approve": true }), true),
        (json!({ "approve": false }), false),
        (json!({ "reject": true }), false),
        (json!({ "reject": false }), true),
    ] {
        assert_eq!(decided(&body), Ok((approved, None, false)), "{body}");
    }
    let whole = json!({ "decision": "reject", "reason": "not there", "remember": true });
    assert_eq!(decided(&whole), Ok((false, Some("not there".to_owned()), true)));
}

#[test]
fn a_decision_is_given_once() {
    for (body, code, field) in [
        (json!({}), Code::MissingField, "decision"),
        (json!({ "reason": "because" }), Code::MissingField, "decision"),
        (json!({ "decision": "approve", "reject": true }), Code::ConflictingFields, "decision"),
        (json!({ "approve": true, "reject": false }), Code::ConflictingFields, "decision"),
        (json!({ "decision": "maybe" }), Code::UnknownWord, "decision"),
        (json!({ "aprove": true }), Code::UnknownField, "aprove"),
    ] {
        let refused = decided(&body).expect_err("no decision");
        assert_eq!((refused.code, refused.subject.field.as_deref()), (code, Some(field)), "{body}");
    }
}

#[test]
fn null_and_absent_models_differ() {
    let parsed =
        |body: Value| parse::<UpdateSession>(body.as_object().expect("an object")).expect("an input");
    let id = Uuid::nil();
    assert_eq!(parsed(json!({ "id": id })).model, None);
    assert_eq!(parsed(json!({ "id": id, "model": null })).model, Some(None));
    assert!(matches!(parsed(json!({ "id": id, "model": "a/b" })).model, Some(Some(_))));
}
