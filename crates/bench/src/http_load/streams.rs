//! 500 open streams of the library's changes, and writes that reach all of them.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Server, part};
use crate::report::{Figure, percentile, sorted};
use crate::wire::request;

const STREAMS: usize = 500;
const WRITES: u64 = 40;
/// The longest wait for a stream or for an event.
const PATIENCE: Duration = Duration::from_secs(20);
/// Numbers of the parts that no other measurement writes.
const FIRST: u64 = 1_000_000;

/// The figures of one server's streams.
struct Shown {
    /// From the start of a write to the event at the last stream.
    millis: Vec<f64>,
    /// Server CPU for each event at each stream, the write included.
    cpu_micros: f64,
    /// Of memory that no file backs.
    kilobytes_per_stream: f64,
}

pub(super) async fn measure(real: &mut Server, bare: &mut Server) -> Result<Vec<Figure>> {
    let write = |number: u64| part(FIRST + number);
    let masque = one(real, "/api/events", write).await.context("the streams of masque")?;
    let constant = |number: u64| {
        let (method, _, body) = part(number);
        (method, "/3".to_owned(), body)
    };
    let baseline = one(bare, "/events", constant).await.context("the streams of the bare server")?;
    let at = |shown: &Shown, share: f64| percentile(&sorted(shown.millis.clone()), share);
    let what = |what: &str| format!("{STREAMS} event streams: {what}");
    Ok(vec![
        Figure::new(what("a write reaches all, median"), "ms", at(&masque, 0.5), at(&baseline, 0.5), None),
        Figure::new(what("a write reaches all, p95"), "ms", at(&masque, 0.95), at(&baseline, 0.95), None),
        Figure::new(what("CPU of an event"), "µs", masque.cpu_micros, baseline.cpu_micros, None),
        Figure::new(
            what("memory of one"),
            "KB",
            masque.kilobytes_per_stream,
            baseline.kilobytes_per_stream.max(1.0),
            None,
        ),
    ])
}

async fn one(
    server: &mut Server,
    path: &str,
    write: impl Fn(u64) -> (&'static str, String, String),
) -> Result<Shown> {
    let (_, before) = server.process.resident_megabytes()?;
    let (sender, mut arrived) = unbounded_channel();
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        let lines = open(server.address, path).await?;
        streams.spawn(follow(lines, sender.clone()));
    }
    let (_, after) = server.process.resident_megabytes()?;
    // The first write is not measured.
    let mut millis = Vec::new();
    let mut cpu = 0.0;
    for number in 0..=WRITES {
        let (method, path, body) = write(number);
        let (cpu_before, started) = (server.process.cpu_seconds()?, Instant::now());
        server.connection.send(method, &path, &body)?;
        let last = reached(&mut arrived, number).await?;
        if number > 0 {
            millis.push(last.duration_since(started).as_secs_f64() * 1e3);
            cpu += server.process.cpu_seconds()? - cpu_before;
        }
    }
    streams.shutdown().await;
    Ok(Shown {
        millis,
        cpu_micros: cpu * 1e6 / (WRITES as f64 * STREAMS as f64),
        kilobytes_per_stream: (after - before) * 1024.0 / STREAMS as f64,
    })
}

/// Opens a stream and reads the head of its answer.
async fn open(address: SocketAddr, path: &str) -> Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request("GET", path, "").as_bytes()).await?;
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = timeout(PATIENCE, lines.read_line(&mut head)).await.context("no answer")??;
        ensure!(read > 0, "the stream was closed after {head:?}");
    }
    ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
    Ok(lines)
}

/// Reports the arrival of each change.
async fn follow(mut lines: BufReader<TcpStream>, arrived: UnboundedSender<Instant>) -> Result<()> {
    let mut line = String::new();
    while lines.read_line(&mut line).await? > 0 {
        if line.starts_with("event: change") {
            arrived.send(Instant::now())?;
        }
        line.clear();
    }
    Ok(())
}

/// Waits for one change at every stream. Returns the time of the last one.
async fn reached(arrived: &mut UnboundedReceiver<Instant>, write: u64) -> Result<Instant> {
    let mut last = None;
    for number in 0..STREAMS {
        let at = timeout(PATIENCE, arrived.recv()).await;
        let at = at.with_context(|| format!("write {write} reached {number} of {STREAMS} streams"))?;
        last = last.max(at);
    }
    last.context("every stream ended")
}
