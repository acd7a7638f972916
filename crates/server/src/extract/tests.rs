use app::Subject;
use operations::schema;
use serde_json::json;

use super::*;

fn queried(uri: &str, operation: &str) -> Result<Value, RequestError> {
    let operation = operations::find(operation).expect(operation);
    let known = schema::fields(&schema::input(operation.input));
    let fields = query(&uri.parse().expect("an address"), &known);
    let in_path = [("name", "guide".to_owned())];
    fields.map(Value::Object).map_err(|wrong| with_request(wrong, operation, &in_path))
}

#[test]
fn a_query_is_read_by_the_schema() {
    let listed = queried("/x?limit=7&tags=a%2Cb&tags=c&query=two+words&cursor=12", "list_library");
    assert_eq!(listed, Ok(json!({ "limit": 7, "tags": ["a,b", "c"], "query": "two words", "cursor": "12" })));
    let deleted = queried("/x?force=true&if_revision=3", "delete_entity");
    assert_eq!(deleted, Ok(json!({ "force": true, "if_revision": 3 })));
    let loaded = queried("/x?types=tone&types=goal&revision=12", "get_agent_persona");
    assert_eq!(loaded, Ok(json!({ "types": ["tone", "goal"], "revision": "12" })));
    assert_eq!(queried("/x", "list_library"), Ok(json!({})));
}

#[test]
fn a_value_of_the_wrong_type_is_named() {
    let invalid = |name: &str, given: &str, expected| RequestError::InvalidValue {
        name: name.to_owned(),
        given: given.to_owned(),
        expected,
    };
    for (uri, error) in [
        ("/x?if_revision=many", invalid("if_revision", "many", "a whole number")),
        ("/x?if_revision=1.5", invalid("if_revision", "1.5", "a whole number")),
        ("/x?if_revision=", invalid("if_revision", "", "a whole number")),
        ("/x?force=yes", invalid("force", "yes", "true or false")),
        ("/x?force=true&force=true", RequestError::NamedTwice { name: "force".to_owned() }),
    ] {
        assert_eq!(queried(uri, "delete_entity"), Err(error), "{uri}");
    }
    let request = Some("POST /api/personas/guide/load".to_owned());
    assert_eq!(
        queried("/x?overrides=tone", "get_agent_persona"),
        Err(RequestError::ObjectInQuery { name: "overrides".to_owned(), request })
    );
}

#[test]
fn the_path_may_be_repeated_and_not_contradicted() {
    let path = || vec![("kind", "part".to_owned()), ("name", "calm".to_owned())];
    let merged = |given: Value| {
        let merged = with_path(given.as_object().expect("an object").clone(), path());
        merged.map(Value::Object).map_err(|problem| Box::new(problem.report().clone()))
    };
    let both = json!({ "kind": "part", "name": "calm" });
    assert_eq!(merged(json!({})), Ok(both.clone()));
    assert_eq!(merged(both.clone()), Ok(both));
    for (given, field) in [(json!({ "kind": "skill" }), "kind"), (json!({ "name": 7 }), "name")] {
        let report = merged(given).expect_err("a contradiction");
        assert_eq!((report.code, report.subject), (Code::ConflictingFields, Subject::field(field)));
    }
}
