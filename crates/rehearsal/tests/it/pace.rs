//! Tokens come when the script says.

use std::time::{Duration, Instant};

use rehearsal::{Protocol, Rehearsal};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{ask, asking, path, rehearse};

/// When bytes arrived, counted from the request.
async fn arrivals(rehearsal: &Rehearsal, protocol: Protocol) -> Vec<Duration> {
    let body = asking(protocol, "x", true).to_string();
    let mut stream = TcpStream::connect(rehearsal.address()).await.expect("a connection");
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        path(protocol, true),
        body.len()
    );
    let started = Instant::now();
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    let (mut times, mut buffer) = (Vec::new(), vec![0; 65_536]);
    while stream.read(&mut buffer).await.expect("bytes") > 0 {
        times.push(started.elapsed());
    }
    times
}

#[tokio::test]
async fn tokens_keep_their_pace_in_every_protocol() {
    let rehearsal =
        rehearse("pace_ms = 40\nfirst_token_ms = 80\n[[reply]]\ntext = 'one two three four five'\n").await;
    for protocol in Protocol::ALL {
        let times = arrivals(&rehearsal, protocol).await;
        let last = times.last().copied().unwrap_or_default();
        assert!(last >= Duration::from_millis(80 + 4 * 40), "{protocol}: {times:?}");
        assert!(times.len() >= 5, "{protocol}: tokens came together, {times:?}");
    }
}

#[tokio::test]
async fn a_whole_answer_takes_as_long_as_its_stream() {
    let rehearsal =
        rehearse("tokens_per_second = 50\n[[reply]]\ntext = 'one two three four five six'\n").await;
    let started = Instant::now();
    ask(&rehearsal, Protocol::OpenaiChat, "x", false).await;
    assert!(started.elapsed() >= Duration::from_millis(100), "{:?}", started.elapsed());
}

#[tokio::test]
async fn many_streams_go_on_side_by_side() {
    let rehearsal =
        rehearse("tokens_per_second = 50\n[[reply]]\ntext = 'a b c d e f g h i j k l m n o p'\n").await;
    let started = Instant::now();
    let streams = (0..200).map(|_| ask(&rehearsal, Protocol::Anthropic, "x", true));
    let answers = futures::future::join_all(streams).await;
    // Sixteen tokens take 300 ms; one after the other, all of them would take a minute.
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert!(answers.iter().all(|raw| raw.is_whole && raw.body.contains("message_stop")));
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
