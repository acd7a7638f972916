use super::*;

#[test]
fn every_request_is_documented() {
    let html = body();
    for operation in operations::all() {
        for route in operation.http.routes() {
            let line = format!("<code>{} {}</code>", route.method.as_str(), route.path());
            assert!(html.contains(&line), "{line}");
        }
    }
    assert!(!html.contains("<script"), "a page without scripts");
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "ids are unique");
    for target in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&target), "#{target} leads nowhere");
    }
}

#[test]
fn examples_can_be_pasted() {
    let example = |name: &str| {
        let operation = operations::find(name).expect("an operation");
        let known = schema::fields(&schema::input(operation.input));
        let route = operation.http.routes().next().expect("a route");
        example::of(operation, route, &known)
    };
    let token = "-H \"authorization: Bearer $MASQUE_TOKEN\"";
    assert_eq!(example("list_sessions"), format!("curl -s \"$MASQUE/api/sessions\" {token}"));
    assert_eq!(
        example("create_session"),
        format!(
            "curl -s \"$MASQUE/api/sessions\" {token} \\\n  -H 'content-type: application/json' -d '{{\"persona\": \"PERSONA\"}}'"
        )
    );
    assert_eq!(example("cancel_run"), format!("curl -s -X POST \"$MASQUE/api/sessions/ID/cancel\" {token}"));
    assert_eq!(
        example("delete_entity"),
        format!("curl -s -X DELETE \"$MASQUE/api/library/KIND/NAME\" {token}")
    );
    assert_eq!(example("search_library"), format!("curl -s \"$MASQUE/api/search?query=QUERY\" {token}"));
    assert!(example("send_message").starts_with("curl -s -N \"$MASQUE/api/sessions/ID/messages\""));
}
