use http::Request;

use super::*;

const SECRET: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn access() -> Access {
    Access::with_token(&Token::parse(SECRET).expect("a token"))
}

/// The caller of a GET with these headers.
fn caller(headers: &[(&str, &str)]) -> Result<Caller, AccessError> {
    by_method("GET", headers)
}

fn by_method(method: &str, headers: &[(&str, &str)]) -> Result<Caller, AccessError> {
    let mut request = Request::builder().method(method).header("host", "127.0.0.1:4747");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).expect("a request").into_parts();
    access().caller(&parts.method, &parts.headers)
}

#[test]
fn a_token_has_256_bits_and_no_other_has_them() {
    let (one, other) = (Token::generate(), Token::generate());
    assert_eq!(one.expose().len(), 64);
    assert_ne!(one, other);
    assert_eq!(Token::parse(one.expose()), Some(one.clone()));
    assert_eq!(
        format!("{one:?} {:?}", Access::with_token(&one)),
        "Token(hidden) Access { is_open: false, .. }"
    );
}

#[test]
fn a_token_of_the_users_own_is_long_and_plain() {
    assert!(Token::parse("a.b_c-d~0123456789abcdef0123456789").is_some());
    for wrong in
        ["", "short", &"x".repeat(31), &"x".repeat(257), &format!("{SECRET} "), &format!("{SECRET};")]
    {
        assert!(Token::parse(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn an_open_server_lets_everyone_in() {
    let (parts, ()) = Request::new(()).into_parts();
    assert_eq!(Access::open().caller(&parts.method, &parts.headers), Ok(Caller::Anyone));
    assert_eq!(Access::default().caller(&parts.method, &parts.headers), Ok(Caller::Anyone));
}

#[test]
fn the_header_has_the_token() {
    for value in [format!("Bearer {SECRET}"), format!("bearer {SECRET}"), format!("BEARER  {SECRET} ")] {
        assert_eq!(caller(&[("authorization", &value)]), Ok(Caller::Owner), "{value}");
    }
    assert_eq!(caller(&[]), Err(AccessError::NoToken));
    for value in ["Bearer", "Basic YTpi", SECRET, ""] {
        assert_eq!(caller(&[("authorization", value)]), Err(AccessError::NoToken), "{value}");
    }
    let (shorter, longer) = (&SECRET[1..], format!("{SECRET}0"));
    for wrong in ["x", shorter, &longer, &SECRET.to_uppercase(), &"f".repeat(64)] {
        let value = format!("Bearer {wrong}");
        assert_eq!(caller(&[("authorization", &value)]), Err(AccessError::WrongToken), "{value}");
    }
}

#[test]
fn one_header_decides() {
    let (right, cookie) = (format!("Bearer {SECRET}"), format!("masque_token={SECRET}"));
    let twice = [("authorization", right.as_str()), ("authorization", right.as_str())];
    assert_eq!(caller(&twice), Err(AccessError::NoToken));
    let wrong = [("authorization", "Bearer wrong"), ("cookie", cookie.as_str())];
    assert_eq!(caller(&wrong), Err(AccessError::WrongToken));
}

#[test]
fn a_cookie_has_the_token() {
    for value in [
        format!("masque_token={SECRET}"),
        format!("theme=dark; masque_token={SECRET}; x=y"),
        format!("masque_token=old; masque_token={SECRET}"),
    ] {
        assert_eq!(caller(&[("cookie", &value)]), Ok(Caller::Owner), "{value}");
    }
    let (other, wrong) = (format!("other_masque_token={SECRET}"), format!("masque_token={}", &SECRET[1..]));
    assert_eq!(caller(&[("cookie", &other)]), Err(AccessError::NoToken));
    assert_eq!(caller(&[("cookie", &wrong)]), Err(AccessError::WrongToken));
}

#[test]
fn a_cookie_counts_for_our_own_page_alone() {
    let cookie = format!("masque_token={SECRET}");
    let sent = |method: &str, more: &[(&str, &str)]| {
        by_method(method, &[&[("cookie", cookie.as_str())], more].concat())
    };
    let own = ("origin", "http://127.0.0.1:4747");
    for allowed in [&[own][..], &[("sec-fetch-site", "same-origin"), own], &[("sec-fetch-site", "none")]] {
        assert_eq!(sent("POST", allowed), Ok(Caller::Owner), "{allowed:?}");
    }
    for foreign in [
        &[("origin", "http://127.0.0.1:5000")][..],
        &[("origin", "http://localhost:4747")],
        &[("origin", "https://127.0.0.1:4747")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[own, ("origin", "http://127.0.0.1:5000")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "cross-site"), own],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "navigate")],
    ] {
        assert_eq!(sent("POST", foreign), Err(AccessError::ForeignPage), "{foreign:?}");
    }
    // A link leads here; a request for data in the background does not.
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    assert_eq!(sent("GET", &link), Ok(Caller::Owner));
    let fetch = [("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")];
    assert_eq!(sent("GET", &fetch), Err(AccessError::ForeignPage));
}

#[test]
fn a_header_needs_no_page() {
    let right = format!("Bearer {SECRET}");
    let sent = [("authorization", right.as_str()), ("origin", "http://localhost:3000")];
    assert_eq!(by_method("POST", &sent), Ok(Caller::Owner));
}
