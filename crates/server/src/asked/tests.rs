use app::inputs::{DeleteEntity, ListLibrary};
use serde_json::json;

use super::*;

fn fields(uri: &str) -> Result<Value, String> {
    let fields = query(&uri.parse().expect("an address"));
    fields.map(Value::Object).map_err(|problem| problem.detail().to_owned())
}

#[test]
fn text_in_an_address_is_what_its_name_means() {
    let said = fields("/x?limit=7&force=true&tags=a%2Cb&tags=c&query=two+words&cursor=12");
    let meant = json!({
        "limit": 7, "force": true, "tags": ["a,b", "c"], "query": "two words", "cursor": "12"
    });
    assert_eq!(said, Ok(meant));
    assert_eq!(fields("/x"), Ok(json!({})));
}

#[test]
fn text_that_means_nothing_is_told() {
    for (uri, told) in [
        ("/x?limit=many", r#"limit: "many" is no whole number, 0 or more"#),
        ("/x?limit=-1", r#"limit: "-1" is no whole number, 0 or more"#),
        ("/x?if_revision=1.5", r#"if_revision: "1.5" is no whole number, 0 or more"#),
        ("/x?limit=", r#"limit: "" is no whole number, 0 or more"#),
        ("/x?force=yes", r#"force: "yes" is neither true nor false"#),
        ("/x?limit=1&limit=2", r#""limit" stands twice in the address; once is enough"#),
    ] {
        assert_eq!(fields(uri).expect_err("meaningless"), told);
    }
}

fn deletion(said: &Value) -> Result<DeleteEntity, String> {
    let said = said.as_object().expect("an object").clone();
    with_path(said, &[("kind", "part"), ("name", "calm")]).map_err(|problem| problem.detail().to_owned())
}

#[test]
fn the_path_may_be_repeated_and_not_contradicted() {
    for said in [json!({}), json!({ "kind": "part", "name": "calm" })] {
        assert_eq!(deletion(&said).expect("the same").name.as_str(), "calm");
    }
    for (said, told) in [
        (
            json!({ "kind": "skill" }),
            r#"the path says that kind is "part", and the request says "skill"; leave kind out"#,
        ),
        (
            json!({ "name": 7 }),
            r#"the path says that name is "calm", and the request says 7; leave name out"#,
        ),
        (json!({ "forced": true }), r#"unknown field "forced"; did you mean "force"?"#),
    ] {
        assert_eq!(deletion(&said).expect_err("another"), told);
    }
}

#[test]
fn an_address_becomes_an_input() {
    let said = query(&"/x?tags=a&limit=2".parse().expect("an address")).expect("a query");
    let input: ListLibrary = with_path(said, &[("kind", "part")]).expect("an input");
    assert_eq!((input.tags, input.limit), (Some(vec!["a".to_owned()]), Some(2)));
}
