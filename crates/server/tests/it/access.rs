//! The token: who is let in, and where it must not appear.

use serde_json::Value;
use server::{Access, Token};

use crate::client::{Opened, code, open};
use crate::running::{Running, start_for};

/// A server with a token.
struct Locked {
    running: Running,
    token: String,
}

impl Locked {
    async fn start() -> Self {
        let token = Token::generate();
        let running = start_for(Access::with_token(&token)).await;
        Self { running, token: token.expose().to_owned() }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Opened {
        open(self.running.port, "GET", path, headers, None).await
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn cookie(&self) -> String {
        format!("masque_token={}", self.token)
    }
}

/// Everything that needs the token, one path of each part of the server.
const LOCKED: [&str; 9] = [
    "/",
    "/personas/mentor",
    "/assets/app.js",
    "/api/sessions",
    "/api/openapi.json",
    "/api/docs",
    "/api/nowhere",
    "/metrics",
    "/mcp",
];

#[tokio::test]
async fn nothing_is_served_without_the_token() {
    let server = Locked::start().await;
    let (shorter, longer) = (format!("Bearer {}", &server.token[1..]), format!("{}0", server.bearer()));
    let other = format!("Bearer {}", Token::generate().expose());
    let wrong = [
        None,
        Some(("authorization", other.as_str())),
        Some(("authorization", shorter.as_str())),
        Some(("authorization", longer.as_str())),
        Some(("authorization", "Basic bWFzcXVlOng=")),
        Some(("cookie", "masque_token=wrong")),
        Some(("cookie", "theme=dark")),
    ];
    for path in LOCKED {
        for sent in wrong {
            let answer = server.get(path, &Vec::from_iter(sent)).await;
            assert_eq!(answer.status, 401, "{path} {sent:?}");
            assert_eq!(answer.header("www-authenticate"), Some("bearer realm=\"masque\""), "{path}");
            let body = answer.text().await;
            assert!(!body.contains(&server.token) && !body.contains(other.as_str()), "{path}: {body}");
        }
    }
}

#[tokio::test]
async fn a_refusal_has_the_form_of_its_place() {
    let server = Locked::start().await;
    let answer = server.get("/api/sessions", &[]).await;
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    let problem = answer.json().await;
    assert_eq!((code(&problem), &problem["kind"]), ("unauthorized", &Value::from("denied")));
    assert_eq!(problem["remedies"][0]["action"], "send_token");
    let refusal = open(server.running.port, "POST", "/mcp", &[], Some("{}")).await.json().await;
    assert_eq!(refusal["jsonrpc"], "2.0");
    assert_eq!(refusal["error"]["data"]["error"]["code"], "unauthorized");
    let answer = server.get("/personas/mentor", &[("accept", "text/html")]).await;
    assert_eq!((answer.status, answer.header("content-type")), (401, Some("text/html; charset=utf-8")));
    let page = answer.text().await;
    assert!(page.contains("masque serve") && page.contains("href=\"/personas/mentor\""), "{page}");
    // A client that looks for OAuth after this finds none.
    assert_eq!(server.get("/.well-known/oauth-protected-resource/mcp", &[]).await.status, 404);
}

#[tokio::test]
async fn the_token_opens_everything() {
    let server = Locked::start().await;
    let (bearer, cookie) = (server.bearer(), server.cookie());
    for (name, value) in [("authorization", &bearer), ("cookie", &cookie)] {
        for path in ["/api/sessions", "/api/openapi.json", "/api/docs", "/metrics"] {
            assert_eq!(server.get(path, &[(name, value)]).await.status, 200, "{path}");
        }
        let unknown = server.get("/api/nowhere", &[(name, value)]).await;
        assert_eq!(unknown.status, 404);
        // Without a session; but past the token.
        assert!(![401, 403].contains(&server.get("/mcp", &[(name, value)]).await.status));
    }
}

#[tokio::test]
async fn a_first_visit_moves_the_token_into_a_cookie() {
    let server = Locked::start().await;
    let address = format!("/personas/mentor?tab=tests&token={}", server.token);
    let answer = server.get(&address, &[]).await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), Some("/personas/mentor?tab=tests"));
    let cookie = format!("{}; httponly; samesite=strict; path=/", server.cookie());
    assert_eq!(answer.header("set-cookie"), Some(cookie.as_str()));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert!(!answer.text().await.contains(&server.token));
    for wrong in ["/?token=wrong", "/?token=", &format!("/?token={}", &server.token[1..])] {
        let answer = server.get(wrong, &[("accept", "text/html")]).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None), "{wrong}");
    }
    // An address that would lead elsewhere leads nowhere.
    let answer = server.get(&format!("//evil.example/?token={}", server.token), &[]).await;
    assert_eq!(answer.header("location"), Some("/evil.example/"));
}

#[tokio::test]
async fn a_token_in_the_address_of_the_api_is_refused() {
    let server = Locked::start().await;
    let bearer = server.bearer();
    for path in ["/api/sessions", "/mcp", "/metrics"] {
        let address = format!("{path}?token={}", server.token);
        let answer = server.get(&address, &[]).await;
        assert_eq!(
            (answer.status, answer.header("location"), answer.header("set-cookie")),
            (401, None, None)
        );
        assert!(!answer.text().await.contains(&server.token), "{path}");
        let answer = server.get(&address, &[("authorization", &bearer)]).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(!answer.text().await.contains(&server.token), "{path}");
    }
}

#[tokio::test]
async fn a_cookie_does_not_count_for_pages_of_others() {
    let server = Locked::start().await;
    let cookie = server.cookie();
    let body = Some(r#"{"persona": "mentor"}"#);
    let port = server.running.port;
    for (headers, status, expected) in [
        (&[("origin", "http://evil.example")][..], 403, "foreign_origin"),
        (&[("origin", "http://localhost:1")], 403, "foreign_origin"),
        (&[("origin", "null")], 403, "foreign_origin"),
        (&[("sec-fetch-site", "same-site")], 403, "foreign_origin"),
        (&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], 403, "foreign_origin"),
    ] {
        let headers = [&[("cookie", cookie.as_str())], headers].concat();
        let answer = open(port, "POST", "/api/sessions", &headers, body).await;
        assert_eq!(answer.status, status, "{headers:?}");
        assert_eq!(code(&answer.json().await), expected, "{headers:?}");
    }
    let own =
        [("cookie", cookie.as_str()), ("origin", "http://localhost"), ("sec-fetch-site", "same-origin")];
    assert_eq!(open(port, "POST", "/api/sessions", &own, body).await.status, 201);
}

#[tokio::test]
async fn health_is_open_and_says_nothing() {
    let server = Locked::start().await;
    let health = server.get("/healthz", &[]).await.json().await;
    assert_eq!(health, serde_json::json!({ "name": "masque", "status": "ok" }));
    let ready = server.get("/readyz", &[]).await;
    assert_eq!((ready.status, ready.json().await), (200, serde_json::json!({ "status": "ready" })));
    let bearer = server.bearer();
    let health = server.get("/healthz", &[("authorization", &bearer)]).await.json().await;
    assert!(health["version"].is_string() && health["files"].is_array(), "{health}");
    server.running.library.close().await;
    let health = server.get("/healthz", &[]).await;
    assert_eq!(health.status, 503);
    assert_eq!(health.json().await, serde_json::json!({ "name": "masque", "status": "unavailable" }));
    let ready = server.get("/readyz", &[]).await;
    assert_eq!((ready.status, ready.json().await), (503, serde_json::json!({ "status": "unavailable" })));
}

#[tokio::test]
async fn no_answer_can_be_framed_or_sniffed() {
    let server = Locked::start().await;
    let bearer = server.bearer();
    let paths = [&LOCKED[..], &["/healthz", "/readyz", "/.well-known/x", "/?token=wrong"]].concat();
    for path in paths {
        for headers in [&[][..], &[("authorization", bearer.as_str())], &[("host", "evil.example")]] {
            let answer = server.get(path, headers).await;
            let policy = answer.header("content-security-policy").expect("a policy");
            assert!(
                policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
                "{path}: {policy}"
            );
            assert!(policy.starts_with("default-src 'self';"), "{path}: {policy}");
            for (name, value) in [
                ("x-frame-options", "deny"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_has_the_id_of_its_request() {
    let server = Locked::start().await;
    let own = server.get("/healthz", &[("x-request-id", "trace-1")]).await;
    assert_eq!(own.header("x-request-id"), Some("trace-1"));
    for path in ["/healthz", "/api/sessions", "/mcp", "/"] {
        for wrong in ["", "a b", &"x".repeat(129)] {
            let answer = server.get(path, &[("x-request-id", wrong)]).await;
            let id = answer.header("x-request-id").expect("an id");
            assert!(id.len() == 36 && id != wrong, "{path}: {id}");
        }
    }
}
