use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use agent::ToolCall;
use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Redirect;
use axum::routing::get;
use futures::FutureExt;
use reqwest::Url;
use serde_json::{Value, json};

use super::network::{Lookup, Network, Public, Refused, is_public};
use super::{FetchSettings, fetch, fetch_from, html, is_host};
use crate::{Invocation, Outcome, Registered, limits};

/// A network whose names are given, and in which one port of loopback counts as public.
#[derive(Debug)]
struct Given {
    names: BTreeMap<&'static str, Vec<IpAddr>>,
    public_port: u16,
}

impl Network for Given {
    fn lookup(&self, host: String) -> Lookup {
        let found = self.names.get(host.as_str()).cloned().unwrap_or_default();
        async move { Ok(found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect()) }.boxed()
    }

    fn permits(&self, address: SocketAddr) -> Result<(), Refused> {
        // Only an address in the URL has a known port; 127.0.0.2 is the page's own name.
        let is_ours = address.ip().to_string() == "127.0.0.2" || address.port() == self.public_port;
        if is_ours { Ok(()) } else { Public.permits(address) }
    }
}

async fn serve(router: Router) -> u16 {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

fn tool(port: u16, allow_hosts: &[&str]) -> Registered {
    let names = [
        ("page.test", vec!["127.0.0.2"]),
        ("inner.test", vec!["127.0.0.1"]),
        ("rebound.test", vec!["127.0.0.2", "10.0.0.1"]),
        ("metadata.test", vec!["169.254.169.254"]),
    ];
    let names =
        names.map(|(name, ips)| (name, ips.iter().map(|ip| ip.parse().expect("an address")).collect()));
    let settings = FetchSettings {
        enabled: true,
        allow_hosts: allow_hosts.iter().map(|host| (*host).to_owned()).collect(),
    };
    let network = Given { names: names.into(), public_port: port };
    fetch_from(&settings, Arc::new(network)).pop().expect("enabled")
}

fn invocation(input: serde_json::Map<String, Value>) -> Invocation {
    Invocation { call: ToolCall { input, ..ToolCall::default() }, ..Invocation::default() }
}

async fn get_url(tool: &Registered, url: &str) -> Outcome {
    let input = json!({ "url": url }).as_object().cloned().expect("an object");
    tool.call(invocation(input)).await
}

fn router() -> Router {
    let typed = |kind: &'static str, body: Vec<u8>| {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(kind));
        get(move || async move { (headers, body) })
    };
    Router::new()
        .route("/", typed("text/html; charset=utf-8", b"<title>Hi</title><p>one <b>two</b>".to_vec()))
        .route("/large", typed("text/plain", vec![b'x'; 3 * 1024 * 1024]))
        .route("/image", typed("image/png", vec![1, 2, 3]))
        .route("/liar", typed("text/plain", vec![b'a', 0, b'b']))
        .route("/latin", typed("text/plain; charset=ISO-8859-1", vec![b'g', 0xfc, b't']))
        .route("/gone", get(|| async { (StatusCode::NOT_FOUND, "no such page") }))
        .route("/hop", get(|| async { Redirect::temporary("/") }))
        .route("/loop", get(|| async { Redirect::temporary("/loop") }))
        .route("/inwards", get(|| async { Redirect::temporary("http://inner.test/") }))
        .route("/literal", get(|| async { Redirect::temporary("http://127.0.0.1:1/") }))
        .route("/mapped", get(|| async { Redirect::temporary("http://[::ffff:10.0.0.1]/") }))
        .route("/file", get(|| async { Redirect::temporary("file:///etc/passwd") }))
        .route("/slow", get(|| async { tokio::time::sleep(limits::FETCH_TIME * 2).await }))
}

#[test]
fn it_is_off_unless_configured_and_never_read_only() {
    assert!(fetch(&FetchSettings::default()).is_empty());
    let tools = fetch(&FetchSettings { enabled: true, allow_hosts: Vec::new() });
    assert!(!tools[0].tool.annotations.read_only_hint);
    assert!(tools[0].tool.annotations.open_world_hint);
}

#[tokio::test]
async fn a_page_is_fetched_as_text() {
    let port = serve(router()).await;
    let tool = tool(port, &[]);
    let answer = get_url(&tool, &format!("http://page.test:{port}/hop#part")).await;
    assert_eq!(
        answer,
        Outcome::text(format!("[http://page.test:{port}/, written by others]\n# Hi\n\none two"))
    );
    let answer = get_url(&tool, &format!("http://page.test:{port}/latin")).await;
    assert!(answer.text.ends_with("güt"), "{}", answer.text);
}

#[tokio::test]
async fn binary_failed_and_long_pages_are_reported() {
    let port = serve(router()).await;
    let tool = tool(port, &[]);
    for (path, expected) in [
        ("/image", "image/png, 3 bytes"),
        ("/liar", "text"),
        ("/gone", "404 Not Found"),
        ("/loop", "5 redirects"),
        ("/file", "http and https"),
    ] {
        let answer = get_url(&tool, &format!("http://page.test:{port}{path}")).await;
        assert!(answer.is_error && answer.text.contains(expected), "{path}: {}", answer.text);
    }
    let input = json!({ "url": format!("http://page.test:{port}/large"), "max_bytes": 100 });
    let answer = tool.call(invocation(input.as_object().cloned().expect("an object"))).await;
    assert!(
        answer.text.ends_with("bytes were read]") && answer.text.contains("x\n[") && !answer.is_error,
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn nothing_but_public_addresses_is_reached() {
    let port = serve(router()).await;
    let tool = tool(port, &[]);
    for url in [
        "http://127.0.0.1/",
        "http://localhost.:1@127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://inner.test/",
        "http://metadata.test/",
        "http://rebound.test/",
        &format!("http://page.test:{port}/inwards"),
        &format!("http://page.test:{port}/literal"),
        &format!("http://page.test:{port}/mapped"),
    ] {
        let answer = get_url(&tool, url).await;
        let refused = answer.text.contains("is not a public address") || answer.text.contains("a user name");
        assert!(answer.is_error && refused, "{url}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_real_network_refuses_loopback_by_name_and_by_number() {
    let port = serve(router()).await;
    let tool = fetch(&FetchSettings { enabled: true, allow_hosts: Vec::new() }).pop().expect("enabled");
    for url in [format!("http://localhost:{port}/"), format!("http://127.0.0.1:{port}/")] {
        let answer = get_url(&tool, &url).await;
        assert!(answer.is_error && answer.text.contains("is not a public address"), "{url}: {}", answer.text);
    }
}

#[tokio::test]
async fn only_hosts_that_are_allowed_are_asked() {
    let port = serve(router()).await;
    let tool = tool(port, &["other.test", "*.page.test"]);
    let answer = get_url(&tool, &format!("http://page.test:{port}/")).await;
    assert!(answer.text.contains("not among the hosts"), "{}", answer.text);
    for (pattern, host, expected) in [
        ("docs.rs", "DOCS.rs", true),
        ("docs.rs", "evil-docs.rs", false),
        ("*.docs.rs", "a.docs.rs", true),
        ("*.docs.rs", "docs.rs", false),
        ("*.docs.rs", "evildocs.rs", false),
        ("*.docs.rs", ".docs.rs", false),
    ] {
        assert_eq!(is_host(pattern, host), expected, "{pattern} {host}");
    }
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once() {
    let port = serve(router()).await;
    let tool = tool(port, &[]);
    let input = json!({ "url": format!("http://page.test:{port}/slow") });
    let call = invocation(input.as_object().cloned().expect("an object"));
    let cancelled = call.cancelled.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        cancelled.cancel();
    });
    let answer =
        tokio::time::timeout(std::time::Duration::from_secs(1), tool.call(call)).await.expect("in time");
    assert_eq!(answer, Outcome::refused(agent::Refusal::Cancelled, "cancelled"));
}

#[test]
fn which_addresses_are_public() {
    for address in
        ["8.8.8.8", "100.63.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"]
    {
        assert!(is_public(address.parse().expect(address)), "{address}");
    }
    for address in [
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "127.9.9.9",
        "169.254.169.254",
        "100.64.0.1",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "192.0.0.8",
        "198.18.0.1",
        "192.0.2.1",
        "::",
        "::1",
        "::127.0.0.1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2001::1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "::ffff:169.254.169.254",
        "fec0::1",
        "100::1",
    ] {
        assert!(!is_public(address.parse().expect(address)), "{address}");
    }
}

fn text(html: &str) -> String {
    html::to_text(html, &Url::parse("https://a.test/b/c").expect("an address"))
}

#[test]
fn html_as_text() {
    for (html, expected) in [
        ("plain  text\n here", "plain text here"),
        ("<p>a<p>b<br>c", "a\n\nb\nc"),
        ("<ul><li>x</li><li>y &amp; z</li></ul>", "- x\n- y & z"),
        ("<h2>T</h2>u", "## T\n\nu"),
        ("<a href=\"../d?x=1&amp;y=2\">link</a>.", "link (https://a.test/d?x=1&y=2)."),
        ("<a href='#top'>up</a> <a href=\"javascript:x\">js</a>", "up js"),
        ("a<script>if (1 < 2) { '</p>' }</script>b<style>x</STYLE>c", "abc"),
        ("<pre>  x\n    y</pre>z", "x\n    y\n\nz"),
        ("1 < 2 &lt; 3 &unknown; &#65;&#x42;", "1 < 2 < 3 &unknown; AB"),
        ("<!-- <p>no</p> -->yes<!DOCTYPE html>", "yes"),
        ("<img alt='a cat' src=x><b title=\"a > b\">bold</b>", "[a cat]bold"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 | 2 | \n3 |"),
        ("a<b", "a"),
        ("", ""),
    ] {
        let found: Vec<String> = text(html).lines().map(|line| line.trim_end().to_owned()).collect();
        let wanted: Vec<&str> = expected.lines().map(str::trim_end).collect();
        assert_eq!(found, wanted, "{html}");
    }
}

#[test]
fn a_hostile_page_gives_no_more_text_than_its_length() {
    for page in [
        "<div>".repeat(400_000),
        "<a href=\"".repeat(200_000),
        "&".repeat(1_000_000),
        "</".repeat(500_000),
        format!("<script>{}", "</scrip>".repeat(200_000)),
        "<!--".repeat(400_000),
        "<b = = = ".repeat(100_000),
        format!("<a {}>", "=".repeat(1_000_000)),
        "<br>x".repeat(300_000),
    ] {
        let shown = text(&page).len();
        assert!(shown <= page.len(), "{shown} bytes of {}", &page[..20]);
    }
}
