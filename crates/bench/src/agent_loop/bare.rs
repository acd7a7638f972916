//! The baseline: the same HTTP client, a loop over lines, and nothing kept.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures::StreamExt as _;
use serde_json::Value;

use super::client::obey;

/// Does the exchange with the requests of a file: the first call, the file that the tool reads, the
/// second call.
pub(crate) async fn bare(url: &str, requests: &str) -> Result<()> {
    let requests: Vec<String> = serde_json::from_str(&std::fs::read_to_string(requests)?)?;
    let [first, second]: [String; 2] =
        requests.try_into().map_err(|_| anyhow::anyhow!("two requests are needed"))?;
    let notes = tempfile::NamedTempFile::new()?;
    std::fs::write(notes.path(), "the answer is 42\n")?;
    // reqwest needs a TLS provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tcp_nodelay(true).no_proxy().build()?;
    let url = format!("{}/v1/chat/completions", url.trim_end_matches('/'));
    let shared = Arc::new((client, url, first, second, notes));
    let nothing = || std::future::ready(Ok(()));
    obey(nothing, move |()| {
        let shared = Arc::clone(&shared);
        async move {
            let (client, url, first, second, notes) = &*shared;
            let (first_token, called) = exchange(client, url, first).await?;
            ensure!(called, "the model calls a tool");
            ensure!(!tokio::fs::read_to_string(notes.path()).await?.is_empty());
            let (_, called) = exchange(client, url, second).await?;
            ensure!(!called, "the model ends its turn");
            Ok(first_token)
        }
    })
    .await
}

/// One call. Returns the time of its first text, and true if it calls a tool.
async fn exchange(client: &reqwest::Client, url: &str, body: &str) -> Result<(Instant, bool)> {
    let request = client.post(url).header("content-type", "application/json").body(body.to_owned());
    let response = request.send().await?.error_for_status()?;
    let mut chunks = response.bytes_stream();
    let (mut buffer, mut text, mut first, mut called) = (Vec::new(), String::new(), None, false);
    while let Some(chunk) = chunks.next().await {
        buffer.extend_from_slice(&chunk?);
        while let Some(end) = buffer.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = buffer.drain(..end + 2).collect();
            let data = event.strip_prefix(b"data: ").unwrap_or_default();
            let Ok(data) = serde_json::from_slice::<Value>(data) else { continue };
            let delta = &data["choices"][0]["delta"];
            if let Some(piece) = delta["content"].as_str().filter(|piece| !piece.is_empty()) {
                first.get_or_insert_with(Instant::now);
                text.push_str(piece);
            }
            called |= delta["tool_calls"].is_array();
        }
    }
    ensure!(!text.is_empty(), "the model says something");
    Ok((first.context("a first token")?, called))
}
