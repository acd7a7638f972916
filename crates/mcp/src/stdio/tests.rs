use std::time::Duration;

use app::OpenOptions;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};
use tokio::time::timeout;

use super::*;

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"promptsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

async fn library() -> (Library, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = directory.path().join("masque.db").display().to_string();
    (Library::open(OpenOptions::database(database)).await.expect("a library"), directory)
}

#[tokio::test]
async fn the_end_of_input_ends_the_server_at_once() {
    let (library, _directory) = library().await;
    let (mut client, input) = duplex(64 * 1024);
    let (output, answers) = duplex(64 * 1024);
    let server = tokio::spawn(serve_pipes(library, McpOptions::default(), input, output));
    client.write_all(format!("{LISTEN}\n").as_bytes()).await.expect("a request");
    let mut answers = BufReader::new(answers).lines();
    let acknowledged = answers.next_line().await.expect("a line").expect("an answer");
    assert!(acknowledged.contains("acknowledged"), "{acknowledged}");
    drop(client);
    let last = answers.next_line().await.expect("a line").expect("a last word");
    assert!(last.contains(r#""id":1"#), "{last}");
    let ended = timeout(Duration::from_secs(30), server).await.expect("an end in time");
    ended.expect("a task").expect("an end");
}

#[tokio::test]
async fn a_client_that_leaves_without_a_word_did_nothing_wrong() {
    let (library, _directory) = library().await;
    let served = serve_pipes(library, McpOptions::default(), tokio::io::empty(), tokio::io::sink()).await;
    assert!(served.is_ok());
}
