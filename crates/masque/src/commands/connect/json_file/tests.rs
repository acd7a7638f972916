use super::{merge, remove};
use crate::commands::connect::entry::JsonForm;

fn form(args: &[String]) -> JsonForm<'_> {
    JsonForm {
        transport: Some("stdio"),
        command: Some("/bin/masque"),
        args: Some(args),
        url: None,
        authorization: None,
    }
}

fn merged(old: &str) -> String {
    let args = ["mcp".to_owned()];
    let once = merge(old, "mcpServers", &form(&args)).expect("it can be merged");
    let twice = merge(&once, "mcpServers", &form(&args)).expect("it can be merged again");
    assert_eq!(once, twice, "a second run changes nothing");
    once
}

const ENTRY: &str = r#"{
      "type": "stdio",
      "command": "/bin/masque",
      "args": ["mcp"]
    }"#;

#[test]
fn a_new_file() {
    let expected = format!("{{\n  \"mcpServers\": {{\n    \"masque\": {ENTRY}\n  }}\n}}\n");
    assert_eq!(merged(""), expected);
    assert_eq!(merged(" \n"), expected);
    assert_eq!(merged("{}\n"), expected);
}

#[test]
fn everything_else_keeps_its_bytes() {
    let old = "{\n  \"z\": [1,2,  3],\n  \"mcpServers\": {\n    \"other\": {\"command\":\"x\", \"n\": 1.50}\n  },\n  \"a\":   \"\\u00e9\"\n}";
    let expected = old.replace("1.50}", &format!("1.50}},\n    \"masque\": {ENTRY}"));
    assert_eq!(merged(old), expected);
}

#[test]
fn a_file_without_servers() {
    let old = "{\n\t\"theme\": \"dark\"\n}\n";
    let new = merged(old);
    assert!(
        new.starts_with("{\n\t\"theme\": \"dark\",\n\t\"mcpServers\": {\n\t\t\"masque\": {\n\t\t\t\"type\""),
        "{new}"
    );
    assert!(new.ends_with("\n\t\t}\n\t}\n}\n"), "{new}");
}

#[test]
fn files_on_one_line_and_from_windows() {
    let new = merged(r#"{"mcpServers": {"other": {}}, "x": 1}"#);
    assert!(new.starts_with("{\"mcpServers\": {\n    \"other\": {},\n    \"masque\": {\n"), "{new}");
    assert!(new.ends_with("\n    }\n  }, \"x\": 1}"), "{new}");
    let new = merged("{\r\n  \"mcpServers\": {}\r\n}\r\n");
    assert!(!new.replace("\r\n", "").contains('\n'), "{new:?}");
}

#[test]
fn an_entry_of_ours_is_brought_up_to_date_and_keeps_what_the_user_added() {
    let old = r#"{
  "mcpServers": {
    "masque": {
      "url": "http://old",
      "disabled": true,
      "env": { "KEY": "value", "MASQUE_DB": "postgres://me:x@old/d" }
    },
    "other": {}
  }
}"#;
    let new = merged(old);
    let value: serde_json::Value = serde_json::from_str(&new).expect("JSON");
    let entry = &value["mcpServers"]["masque"];
    assert_eq!(entry["env"], serde_json::json!({ "KEY": "value" }));
    assert_eq!((entry["disabled"].as_bool(), entry.get("url")), (Some(true), None));
    assert!(new.ends_with("\n    },\n    \"other\": {}\n  }\n}"), "{new}");
    let own = old.replace("me:x@", "me@");
    let kept: serde_json::Value = serde_json::from_str(&merged(&own)).expect("JSON");
    assert_eq!(kept["mcpServers"]["masque"]["env"]["MASQUE_DB"], "postgres://me@old/d");
}

#[test]
fn comments_and_trailing_commas_stay() {
    let old = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {}, // theirs\n  },\n}\n";
    let expected = old.replace(
        "// theirs\n",
        "// theirs\n    \"masque\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/masque\",\n      \"args\": [\"mcp\"],\n    },\n",
    );
    assert_eq!(merged(old), expected);
    let old =
        "{\"mcpServers\": {\"masque\": {\n  /* why */ \"disabled\": true, // for now\n  \"url\": \"x\"}}}";
    let new = merged(old);
    assert!(new.contains("/* why */ \"disabled\": true, // for now\n"), "{new}");
    assert!(!new.contains("url"), "{new}");
}

#[test]
fn an_entry_that_is_not_an_object_is_replaced() {
    let new = merged("{\n  \"mcpServers\": {\n    \"masque\": null\n  }\n}\n");
    assert_eq!(new, format!("{{\n  \"mcpServers\": {{\n    \"masque\": {ENTRY}\n  }}\n}}\n"));
}

#[test]
fn an_unparsable_file_is_an_error() {
    let args = ["mcp".to_owned()];
    let refused = |old| merge(old, "mcpServers", &form(&args)).expect_err("refused");
    assert!(refused("{\n  mine: 1\n}").contains("line 2 column 3"));
    assert!(refused("{\"mcpServers\": {\"masque\": 1, \"masque\": 2}}").contains("more than once"));
    assert!(refused("[1]").contains("object"));
    assert!(refused("{\"mcpServers\": []}").contains("mcpServers"));
    assert!(
        refused("{\"mcpServers\": {\"a\": 1}, \"mcpServers\": {\"masque\": 2}, \"mcpServers\": 3}")
            .contains("not an object")
    );
}

#[test]
fn an_entry_of_ours_is_removed_and_nothing_else() {
    for old in [
        "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {}, // theirs\n  },\n}\n",
        "{\n  \"z\": [1,2,  3],\n  \"mcpServers\": {\n    \"other\": {\"command\":\"x\", \"n\": 1.50} // why\n  },\n  \"a\":   \"\\u00e9\"\n}",
        "{\r\n  \"mcpServers\": {}\r\n}\r\n",
        "{\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t} /* end */\n}",
    ] {
        assert_eq!(remove(&merged(old), "mcpServers").expect("valid").expect("connected"), old);
    }
    let cut = |old: &str, new: &str| {
        assert_eq!(remove(old, "s").expect("valid").as_deref(), Some(new), "{old}");
    };
    cut(r#"{"s": {"masque": {}, "other": 1}}"#, r#"{"s": { "other": 1}}"#);
    cut(r#"{"s": {"other": 1, "masque": {"a": [1, 2]}}}"#, r#"{"s": {"other": 1}}"#);
    cut(r#"{"s": {"masque": null}}"#, r#"{"s": {}}"#);
    cut(
        "{\"s\": {\n  // a, b\n  \"masque\": {},\n  // c\n  \"other\": 1\n}}",
        "{\"s\": {\n  // a, b\n  // c\n  \"other\": 1\n}}",
    );
    cut(
        "{\"s\": {\n  \"a\": 1, // one,\n  // two\n  \"masque\": {}\n}}",
        "{\"s\": {\n  \"a\": 1 // one,\n  // two\n}}",
    );
    cut("{\"s\": {\n  // only a note\n  \"masque\": {}\n}}", "{\"s\": {\n  // only a note\n}}");
    for none in ["", "{}", r#"{"s": {"other": 1}}"#, r#"{"s": 1}"#] {
        assert_eq!(remove(none, "s").expect("valid"), None, "{none}");
    }
    assert!(remove("{", "s").is_err());
    assert!(remove(r#"{"s": {"masque": 1, "masque": 2}}"#, "s").is_err());
}

#[test]
fn the_token_joins_the_users_headers() {
    let form = |token: Option<&str>| JsonForm {
        transport: None,
        command: None,
        args: None,
        url: Some("http://127.0.0.1:4747/mcp"),
        authorization: token.map(str::to_owned),
    };
    let headers = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        value["mcpServers"]["masque"]["headers"].clone()
    };
    let fresh = merge("", "mcpServers", &form(Some("Bearer one"))).expect("it can be merged");
    assert_eq!(headers(&fresh), serde_json::json!({ "Authorization": "Bearer one" }));
    let own = r#"{"mcpServers": {"masque": {"url": "x", "headers": {"authorization": "Bearer old", "X-Team": "blue"}}}}"#;
    let merged = merge(own, "mcpServers", &form(Some("Bearer two"))).expect("it can be merged");
    assert_eq!(headers(&merged), serde_json::json!({ "Authorization": "Bearer two", "X-Team": "blue" }));
    let elsewhere = merge(own, "mcpServers", &form(None)).expect("it can be merged");
    assert_eq!(headers(&elsewhere)["X-Team"], "blue");
    let args = ["mcp".to_owned()];
    let program = merge(&merged, "mcpServers", &self::form(&args)).expect("it can be merged");
    assert_eq!(headers(&program), serde_json::Value::Null);
}
