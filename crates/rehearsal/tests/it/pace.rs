//! The pace of answers. `serve::player` tests the schedule itself.

use std::time::{Duration, Instant};

use rehearsal::{Protocol, Rehearsal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{ask, asking, path, rehearse};

/// Sends a request. Returns its connection.
async fn requested(rehearsal: &Rehearsal, protocol: Protocol) -> TcpStream {
    let body = asking(protocol, "x", true).to_string();
    let mut stream = TcpStream::connect(rehearsal.address()).await.expect("a connection");
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        path(protocol, true),
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    stream
}

#[tokio::test]
async fn no_stream_is_faster_than_its_pace() {
    let rehearsal =
        rehearse("pace_ms = 40\nfirst_token_ms = 80\n[[reply]]\ntext = 'one two three four five'\n").await;
    for protocol in Protocol::ALL {
        let started = Instant::now();
        let mut stream = requested(&rehearsal, protocol).await;
        stream.read_to_end(&mut Vec::new()).await.expect("an answer");
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(80 + 4 * 40), "{protocol}: {took:?}");
    }
}

#[tokio::test]
async fn a_whole_answer_is_not_faster_than_its_stream() {
    let rehearsal =
        rehearse("tokens_per_second = 50\n[[reply]]\ntext = 'one two three four five six'\n").await;
    let started = Instant::now();
    ask(&rehearsal, Protocol::OpenaiChat, "x", false).await;
    assert!(started.elapsed() >= Duration::from_millis(100), "{:?}", started.elapsed());
}

#[tokio::test]
async fn streams_do_not_wait_for_each_other() {
    let rehearsal = rehearse("[[reply]]\nfault = { stall_ms = 60000, after = 1 }\n").await;
    let mut streams = Vec::new();
    for _ in 0..200 {
        let mut stream = requested(&rehearsal, Protocol::Anthropic).await;
        assert!(stream.read(&mut [0; 1024]).await.expect("the head") > 0);
        streams.push(stream);
    }
    assert_eq!(rehearsal.open_streams(), 200);
}

#[tokio::test]
async fn stopping_frees_the_port_and_ends_the_streams() {
    let rehearsal = rehearse("[[reply]]\nfault = { stall_ms = 60000, after = 1 }\n").await;
    let address = rehearsal.address();
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let body = asking(Protocol::Anthropic, "x", true).to_string();
    let head = format!("POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    let mut buffer = vec![0; 1024];
    assert!(stream.read(&mut buffer).await.expect("the head") > 0);
    rehearsal.stop().await;
    let rest = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut buffer)).await;
    assert!(rest.is_ok(), "the stream went on");
    let again = tokio::net::TcpListener::bind(address).await;
    assert!(again.is_ok(), "the port is still taken");
}
