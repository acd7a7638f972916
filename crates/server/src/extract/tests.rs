use operations::schema;
use serde_json::json;

use super::*;

fn queried(uri: &str, operation: &str) -> Result<Value, String> {
    let operation = operations::find(operation).expect(operation);
    let known = schema::fields(&schema::input(operation.input));
    let fields = query(&uri.parse().expect("an address"), &known);
    let in_path = [("name", "guide".to_owned())];
    fields.map(Value::Object).map_err(|wrong| wrong.problem(operation, &in_path).detail().to_owned())
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
    for (uri, told) in [
        ("/x?if_revision=many", r#"if_revision: "many" is not a whole number"#),
        ("/x?if_revision=1.5", r#"if_revision: "1.5" is not a whole number"#),
        ("/x?if_revision=", r#"if_revision: "" is not a whole number"#),
        ("/x?force=yes", r#"force: "yes" is neither true nor false"#),
        ("/x?force=true&force=true", r#""force" is given twice; give it once"#),
    ] {
        assert_eq!(queried(uri, "delete_entity").expect_err("wrong"), told);
    }
    let overrides = queried("/x?overrides=tone", "get_agent_persona").expect_err("an object");
    assert_eq!(
        overrides,
        "overrides does not fit into an address; send it in the body of POST /api/personas/guide/load"
    );
}

#[test]
fn the_path_may_be_repeated_and_not_contradicted() {
    let path = || vec![("kind", "part".to_owned()), ("name", "calm".to_owned())];
    let merged = |given: Value| {
        let merged = with_path(given.as_object().expect("an object").clone(), path());
        merged.map(Value::Object).map_err(|problem| problem.detail().to_owned())
    };
    let both = json!({ "kind": "part", "name": "calm" });
    assert_eq!(merged(json!({})), Ok(both.clone()));
    assert_eq!(merged(both.clone()), Ok(both));
    assert_eq!(
        merged(json!({ "kind": "skill" })).expect_err("another kind"),
        r#"kind is "part" in the path and "skill" in the request; leave kind out"#
    );
    assert_eq!(
        merged(json!({ "name": 7 })).expect_err("another name"),
        r#"name is "calm" in the path and 7 in the request; leave name out"#
    );
}
