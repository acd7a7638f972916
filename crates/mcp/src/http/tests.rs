use super::*;

#[test]
fn the_address_chooses_the_tools() {
    let chosen = |uri: &'static str| chosen_tools(&Uri::from_static(uri));
    assert!(chosen("/mcp").expect("nothing to choose").is_none());
    assert!(chosen("/mcp?x=1").expect("nothing to choose").is_none());
    let load = chosen("/mcp?x=1&tools=load").expect("a set").expect("a choice");
    assert_eq!(load.names().count(), 9);
    let two = chosen("/mcp?tools=compile_persona%2Cget_agent_part").expect("two").expect("a choice");
    assert_eq!(two.names().count(), 2);
    let refused = chosen("/mcp?tools=laod").expect_err("misspelt").into_response();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert!(chosen("/mcp?tools=").is_err());
}

#[tokio::test]
async fn a_body_must_be_json_and_short() {
    let read_as = |content_type: &'static str, bytes: usize| async move {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        let body = Body::from(vec![b' '; bytes]);
        read_body(&headers, body, BODY_BYTES, BODY_TIMEOUT).await
    };
    assert!(read_as("application/json", 10).await.is_ok());
    assert!(read_as("application/json; charset=utf-8", 10).await.is_ok());
    for other in ["text/plain", "application/jsonx", "application/x-www-form-urlencoded", ""] {
        assert_eq!(read_as(other, 10).await, Err(BodyError::MediaType), "{other}");
    }
    assert_eq!(
        read_as("application/json", BODY_BYTES + 1).await,
        Err(BodyError::TooLarge { most: BODY_BYTES })
    );
}
