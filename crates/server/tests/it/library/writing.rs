//! Writing: what is answered, what is kept, and where.

use serde_json::{Value, json};

use super::{each, get, put, tone};
use crate::client::{ask, code, open};
use crate::running::{start, start_with_project};

const CALM: &str = "/api/library/part/calm";

#[tokio::test]
async fn an_entity_is_made_read_changed_and_deleted() {
    let running = start().await;
    let port = running.port;
    let mut body = tone("Calm.");
    body["message"] = "we shouted too much".into();
    let made = open(port, "PUT", CALM, &[], Some(&body.to_string())).await;
    assert_eq!((made.status, made.header("location")), (201, Some("/api/library/part/calm?scope=shared")));
    let written = |revision: i64, action: &str| {
        let changed = action != "unchanged";
        json!({ "kind": "part", "name": "calm", "scope": "shared", "revision": revision, "action": action, "changed": changed })
    };
    assert_eq!(made.json().await, written(1, "created"));

    let mut read = get(&running, CALM).await;
    assert_eq!(
        (&read["name"], &read["summary"], &read["scope"], &read["revision"]),
        (&json!("calm"), &json!("Calm."), &json!("shared"), &json!(1))
    );
    // Sending back an unchanged entity changes nothing.
    let (status, same) = ask(port, "PUT", CALM, Some(&json!({ "entity": read }))).await;
    assert_eq!((status, same), (200, written(1, "unchanged")));
    read["summary"] = "Slow.".into();
    let change = json!({ "entity": read, "if_revision": 1, "message": "slower" });
    let (status, changed) = ask(port, "PUT", CALM, Some(&change)).await;
    assert_eq!((status, changed), (200, written(2, "changed")));
    assert_eq!(get(&running, &format!("{CALM}?revision=1")).await["summary"], "Calm.");

    // The second writer gets a conflict.
    read["summary"] = "Other.".into();
    let (status, problem) = ask(port, "PUT", CALM, Some(&json!({ "entity": read, "if_revision": 1 }))).await;
    assert_eq!((status, code(&problem)), (409, "stale_revision"), "{problem}");
    let (status, problem) = ask(port, "PUT", CALM, Some(&json!({ "entity": read, "if_revision": 0 }))).await;
    assert_eq!((status, code(&problem)), (409, "already_exists"), "{problem}");
    let (status, problem) = ask(port, "DELETE", &format!("{CALM}?if_revision=1"), None).await;
    assert_eq!((status, code(&problem)), (409, "stale_revision"), "{problem}");
    assert_eq!(get(&running, CALM).await["summary"], "Slow.");

    let path = format!("{CALM}?if_revision=2&message=never+used");
    let (status, deleted) = ask(port, "DELETE", &path, None).await;
    let gone =
        |deleted: bool| json!({ "kind": "part", "name": "calm", "scope": "shared", "deleted": deleted });
    assert_eq!((status, deleted), (200, gone(true)));
    let (status, again) = ask(port, "DELETE", CALM, None).await;
    assert_eq!((status, again), (200, gone(false)));
    let (status, problem) = ask(port, "GET", CALM, None).await;
    assert_eq!((status, code(&problem)), (404, "not_found"), "{problem}");
    let (status, _) = ask(port, "PUT", CALM, Some(&tone("Calm again."))).await;
    assert_eq!(status, 201, "what was deleted is made anew");
}

#[tokio::test]
async fn the_history_says_who_and_why_and_leads_back() {
    let running = start().await;
    let port = running.port;
    for (summary, message) in [("Calm.", "first"), ("Slow.", "slower")] {
        let mut body = tone(summary);
        body["message"] = message.into();
        put(&running, CALM, &body).await;
    }
    let history = get(&running, &format!("{CALM}/history")).await;
    assert_eq!((&history["kind"], &history["scope"]), (&json!("part"), &json!("shared")));
    let revisions = &history["items"];
    assert_eq!(each(revisions, "revision"), [2, 1]);
    assert_eq!(each(revisions, "message"), ["slower", "first"]);
    assert_eq!(each(revisions, "author"), ["tester", "tester"]);
    assert_eq!(each(revisions, "front"), ["http", "http"]);
    assert_eq!(each(revisions, "action"), ["update", "create"]);
    let newest = get(&running, &format!("{CALM}/history?limit=1")).await;
    assert_eq!(each(&newest["items"], "revision"), [2]);

    for query in ["", "?from=1", "?from=1&to=2"] {
        let diff = get(&running, &format!("{CALM}/diff{query}")).await;
        assert_eq!(
            diff["fields"],
            json!([{ "field": "summary", "from": "Calm.", "to": "Slow." }]),
            "{query}"
        );
        assert_eq!((&diff["from"]["revision"], &diff["to"]["revision"]), (&json!(1), &json!(2)), "{query}");
        assert!(diff["to"]["toml"].as_str().is_some_and(|toml| toml.contains("summary = \"Slow.\"")));
        assert_eq!(diff["scope"], "shared");
    }

    let back = json!({ "revision": 1, "message": "it was better" });
    let (status, written) = ask(port, "POST", &format!("{CALM}/rollback"), Some(&back)).await;
    assert_eq!((status, &written["revision"], &written["scope"]), (200, &json!(3), &json!("shared")));
    assert_eq!(get(&running, CALM).await["summary"], "Calm.");
    let newest = &get(&running, &format!("{CALM}/history?limit=1")).await["items"][0];
    assert_eq!((&newest["message"], &newest["author"]), (&json!("it was better"), &json!("tester")));

    // Not if the revision is outdated.
    for (base, expected) in [(2, 409), (3, 200)] {
        let back = json!({ "revision": 1, "if_revision": base });
        let (status, answer) = ask(port, "POST", &format!("{CALM}/rollback"), Some(&back)).await;
        assert_eq!(status, expected, "{answer}");
        assert!(status == 200 || code(&answer) == "stale_revision", "{answer}");
    }

    // Also from the dead, and by a tag.
    let name = persona::Name::parse("calm").expect("a name");
    let author = app::Author::new("somebody", "test");
    let number = app::RevisionRef::parse("2");
    let tagged = running.library.tag(&author, persona::Kind::Part, &name, None, Some(&number), "good");
    tagged.await.expect("tagged");
    ask(port, "DELETE", CALM, None).await;
    let (status, written) =
        ask(port, "POST", &format!("{CALM}/rollback"), Some(&json!({ "revision": "good" }))).await;
    assert_eq!((status, &written["changed"]), (200, &json!(true)), "{written}");
    assert_eq!(get(&running, CALM).await["summary"], "Slow.");
    assert_eq!(get(&running, &format!("{CALM}?revision=good")).await["revision"], 2, "it has its tag again");
}

#[tokio::test]
async fn null_is_as_if_it_were_not_there() {
    let running = start().await;
    let mut body = tone("Calm.");
    for field in ["name", "kind", "scope", "message", "if_revision"] {
        body[field] = Value::Null;
    }
    assert_eq!(put(&running, CALM, &body).await["scope"], "shared");
    put(&running, CALM, &tone("Slow.")).await;
    let back = json!({ "revision": 1, "with_pieces": null, "message": null, "scope": null });
    let (status, written) = ask(running.port, "POST", &format!("{CALM}/rollback"), Some(&back)).await;
    assert_eq!((status, &written["revision"]), (200, &json!(3)), "{written}");
    let load = json!({ "detail": null, "types": null, "overrides": null, "limit": null });
    let (status, mentor) = ask(running.port, "POST", "/api/personas/mentor/load", Some(&load)).await;
    assert_eq!((status, &mentor["name"]), (200, &json!("mentor")), "{mentor}");
}

#[tokio::test]
async fn parts_may_be_bare_names_as_in_a_file() {
    let running = start().await;
    put(&running, CALM, &tone("Calm.")).await;
    put(&running, "/api/library/part/loud", &tone("Loud.")).await;
    put(&running, "/api/library/persona/guide", &json!({ "entity": { "parts": ["loud", "calm"] } })).await;
    let guide = get(&running, "/api/library/persona/guide").await;
    let part = |name: &str, order: i32| json!({ "name": name, "order": order, "priority": 0 });
    assert_eq!(guide["parts"], json!([part("loud", 0), part("calm", 1)]));
}

#[tokio::test]
async fn lists_are_cut_by_scope_tags_words_and_pages() {
    let running = start().await;
    for (name, tags) in [("one", json!(["a"])), ("two", json!(["a", "b,c"])), ("three", json!([]))] {
        let body = json!({ "entity": { "description": format!("Number {name}."), "tags": tags } });
        put(&running, &format!("/api/library/skill/{name}"), &body).await;
    }
    let names = async |query: &str| {
        let page = get(&running, &format!("/api/library/skill?{query}")).await;
        let names = each(&page["items"], "name").into_iter().cloned().collect::<Vec<Value>>();
        (names, page["next_cursor"].clone())
    };
    assert_eq!(names("scope=shared").await.0, ["one", "three", "two"]);
    assert_eq!(names("tags=a").await.0, ["one", "two"]);
    assert_eq!(names("tags=a&tags=b%2Cc").await.0, ["two"]);
    assert_eq!(names("query=number+three&scope=shared").await.0, ["three"]);
    let (first, cursor) = names("scope=shared&limit=2").await;
    assert_eq!(first, ["one", "three"]);
    let cursor = cursor.as_str().expect("there is more").replace(':', "%3A");
    assert_eq!(
        names(&format!("scope=shared&limit=2&cursor={cursor}")).await,
        (vec!["two".into()], Value::Null)
    );
    let builtins = get(&running, "/api/library/tool_preset").await;
    assert!(each(&builtins["items"], "name").contains(&&json!("read_only")), "{builtins}");
    assert!(each(&builtins["items"], "scope").iter().all(|scope| **scope == json!("builtin")));
}

#[tokio::test]
async fn a_write_goes_into_the_file_of_its_scope() {
    let text = "# Ours, by hand.\n[parts.calm] # the first\npart_type = \"tone\"\nsummary = \"Calm.\"\n";
    let running = start_with_project(text).await;
    let port = running.port;
    let file = || std::fs::read_to_string(running.project_file()).expect("a file");
    let read = get(&running, CALM).await;
    assert_eq!((&read["scope"], &read["summary"]), (&json!("project"), &json!("Calm.")));
    // A change goes where the name is found, and leaves the rest of the file alone.
    let changed = put(&running, CALM, &tone("Slow.")).await;
    assert_eq!((&changed["scope"], &changed["changed"]), (&json!("project"), &json!(true)));
    assert_eq!(file(), text.replace("Calm.", "Slow."));
    // A new entity is shared unless a scope is named.
    let path = "/api/library/skill/look";
    let skill = |content: &str| json!({ "entity": { "content": content } });
    assert_eq!(put(&running, path, &skill("Look.")).await["scope"], "shared");
    assert!(!file().contains("look"), "{}", file());
    let mut named = skill("Look here.");
    named["scope"] = "project".into();
    named["message"] = "for this project".into();
    let made = open(port, "PUT", path, &[], Some(&named.to_string())).await;
    assert_eq!((made.status, made.header("location")), (201, Some("/api/library/skill/look?scope=project")));
    assert!(file().starts_with("# Ours, by hand.\n[parts.calm] # the first\n"), "{}", file());
    assert!(file().contains("[skills.look]\ncontent = \"Look here.\"\n"), "{}", file());
    assert_eq!(get(&running, path).await["content"], "Look here.");
    assert_eq!(get(&running, &format!("{path}?scope=shared")).await["content"], "Look.");
    let history = get(&running, &format!("{path}/history")).await;
    assert_eq!(
        (&history["scope"], &history["items"][0]["message"], &history["items"][0]["author"]),
        (&json!("project"), &json!("for this project"), &json!("tester"))
    );
    let (status, problem) = ask(port, "GET", &format!("{CALM}?scope=shared"), None).await;
    assert_eq!((status, code(&problem)), (404, "in_other_scope"), "{problem}");
    let (_, deleted) = ask(port, "DELETE", &format!("{path}?scope=project"), None).await;
    assert_eq!((&deleted["scope"], &deleted["in_force"]), (&json!("project"), &json!("shared")));
    assert!(!file().contains("look"), "{}", file());
}

#[tokio::test]
async fn a_builtin_is_copied_where_it_is_changed() {
    let running = start().await;
    let mut mentor = get(&running, "/api/library/persona/mentor").await;
    assert_eq!(mentor["scope"], "builtin");
    mentor["display_name"] = "Mine".into();
    let (status, written) =
        ask(running.port, "PUT", "/api/library/persona/mentor", Some(&json!({ "entity": mentor }))).await;
    assert_eq!((status, &written["scope"], &written["revision"]), (201, &json!("shared"), &json!(1)));
    assert!(!written["copied"].as_array().expect("its pieces").is_empty(), "{written}");
}

#[tokio::test]
async fn subscribers_get_an_event_for_a_write() {
    let running = start().await;
    let mut events = open(running.port, "GET", "/api/events", &[], None).await;
    events.until("problems").await;
    put(&running, CALM, &tone("Calm.")).await;
    let change = |listed: bool| json!({ "kind": "part", "name": "calm", "listed": listed });
    let heard = events.until("change").await;
    assert_eq!(heard.last().map(|event| &event.data), Some(&change(true)));
    put(&running, CALM, &tone("Slow.")).await;
    let heard = events.until("change").await;
    assert_eq!(heard.last().map(|event| &event.data), Some(&change(false)));
}
