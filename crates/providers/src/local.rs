//! Models on this machine.

use futures_util::future::join;
use reqwest::{Client, Url};
use serde_json::Value;

use crate::client;

/// Names of the local servers.
pub(crate) const OLLAMA: &str = "ollama";
pub(crate) const LLAMACPP: &str = "llamacpp";

const OLLAMA_URL: &str = "http://127.0.0.1:11434";
const LLAMACPP_URL: &str = "http://127.0.0.1:8080";

/// The address of Ollama: `OLLAMA_HOST` is a host, a port, both, or a URL, as Ollama itself reads it.
pub(crate) fn ollama_url(host: Option<&str>) -> Option<Url> {
    let Some(host) = host.map(str::trim).filter(|host| !host.is_empty()) else {
        return OLLAMA_URL.parse().ok();
    };
    let (with_scheme, text) = match host.split_once("://") {
        Some(_) => (true, host.to_owned()),
        None if host.starts_with(':') => (false, format!("http://127.0.0.1{host}")),
        None => (false, format!("http://{host}")),
    };
    let mut url: Url = text.parse().ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    // A URL hides its default port 80, so the text decides.
    if !with_scheme && url.port().is_none() && !host.ends_with(":80") {
        url.set_port(Some(11434)).ok()?;
    }
    // The address of all interfaces is one to listen on, not one to call.
    if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    Some(url)
}

pub(crate) fn llamacpp_url() -> Option<Url> {
    LLAMACPP_URL.parse().ok()
}

/// Probes both at the same time. Returns those that answer, with the addresses of their models.
pub(crate) async fn find(ollama: Option<Url>, llamacpp: Option<Url>) -> Vec<(&'static str, Url)> {
    let Some(client) = client::probe() else { return Vec::new() };
    let (ollama, llamacpp) = join(
        async {
            let url = ollama?;
            is_ollama(&client, &url).await.then(|| (OLLAMA, below(&url, &["v1"])))
        },
        async {
            let url = llamacpp?;
            is_llamacpp(&client, &url).await.then(|| (LLAMACPP, below(&url, &["v1"])))
        },
    )
    .await;
    [ollama, llamacpp].into_iter().flatten().collect()
}

async fn is_ollama(client: &Client, url: &Url) -> bool {
    match get(client, url, &["api", "tags"]).await {
        Some((_, body)) => body.get("models").is_some_and(Value::is_array),
        None => false,
    }
}

/// Anything may listen on port 8080: only a server that identifies itself as llama.cpp counts.
async fn is_llamacpp(client: &Client, url: &Url) -> bool {
    let Some((server, body)) = get(client, url, &["v1", "models"]).await else { return false };
    let owner = body.pointer("/data/0/owned_by").and_then(Value::as_str);
    server.contains("llama.cpp") || owner == Some("llamacpp")
}

fn below(url: &Url, path: &[&str]) -> Url {
    let mut url = url.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// The `server` header and the JSON of a successful short answer.
async fn get(client: &Client, url: &Url, path: &[&str]) -> Option<(String, Value)> {
    let mut response = client.get(below(url, path)).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let server = response.headers().get("server").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let server = server.to_ascii_lowercase();
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > crate::limits::MODELS_BYTES {
            return None;
        }
    }
    Some((server, serde_json::from_slice(&body).ok()?))
}

#[cfg(test)]
mod tests {
    use super::ollama_url;

    #[test]
    fn ollama_host() {
        for (host, url) in [
            (None, Some("http://127.0.0.1:11434/")),
            (Some(""), Some("http://127.0.0.1:11434/")),
            (Some("0.0.0.0"), Some("http://127.0.0.1:11434/")),
            (Some("[::]:1"), Some("http://127.0.0.1:1/")),
            (Some("192.0.2.7"), Some("http://192.0.2.7:11434/")),
            (Some("192.0.2.7:1234"), Some("http://192.0.2.7:1234/")),
            (Some("box:80"), Some("http://box/")),
            (Some(":1234"), Some("http://127.0.0.1:1234/")),
            (Some("https://box.example.org"), Some("https://box.example.org/")),
            (Some("http://box.example.org:99/ollama"), Some("http://box.example.org:99/ollama")),
            (Some("ftp://box"), None),
            (Some("a b"), None),
        ] {
            assert_eq!(ollama_url(host).map(String::from).as_deref(), url, "{host:?}");
        }
    }
}
