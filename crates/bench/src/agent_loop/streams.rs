//! Many concurrent streaming sessions: the slowest one, and the cost of each.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use agent::Event;
use anyhow::{Context as _, Result, ensure};
use app::running::SendOptions;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::subject::{runtime, session};
use crate::process::{Process, resident_megabytes};
use crate::report::{Figure, percentile, sorted};

const SESSIONS: usize = 500;
const TOKENS_PER_SECOND: f64 = 50.0;
const SECONDS: f64 = 8.0;

#[derive(Debug, Serialize, Deserialize)]
struct Seen {
    gaps_ms: Vec<f64>,
    tokens: usize,
    seconds: f64,
    megabytes_before: f64,
    megabytes_during: f64,
}

pub(super) async fn measure() -> Result<Vec<Figure>> {
    let words = vec!["word"; (TOKENS_PER_SECOND * SECONDS) as usize].join(" ");
    let script = format!("[[reply]]\ntokens_per_second = {TOKENS_PER_SECOND}\ntext = \"{words}\"\n");
    let (_model, url) = super::model(&script)?;
    let directory = tempfile::TempDir::new()?;
    let place = directory.path().display().to_string();
    let mut process =
        Process::start(Command::new(std::env::current_exe()?).args(["loop-streams", &url, &place]))?;
    let mut line = String::new();
    std::io::BufReader::new(process.0.stdout.take().context("an output")?).read_line(&mut line)?;
    let seen: Seen = serde_json::from_str(&line).context("the streams were not measured")?;
    let gaps = sorted(seen.gaps_ms);
    let pace = 1_000.0 / TOKENS_PER_SECOND;
    println!(
        "{SESSIONS} streams: {} tokens in {:.1} s, the median gap is {:.1} ms",
        seen.tokens,
        seen.seconds,
        percentile(&gaps, 0.5)
    );
    Ok(vec![
        Figure::new("500 streams: p99 gap beside the pace", "ms", percentile(&gaps, 0.99), pace, Some(3.0)),
        Figure::at_most("500 streams: longest gap", "ms", percentile(&gaps, 1.0), 1_000.0),
        Figure::new(
            "500 streams: memory per session",
            "kB",
            (seen.megabytes_during - seen.megabytes_before) * 1024.0 / SESSIONS as f64,
            64.0,
            None,
        ),
    ])
}

/// Streams in a separate process and prints the measurements.
pub(crate) async fn streams(url: &str, directory: &str) -> Result<()> {
    let runtime = Arc::new(runtime(url, Path::new(directory)).await?);
    let (_, megabytes_before) = resident_megabytes("self")?;
    let mut ids = Vec::new();
    for _ in 0..SESSIONS {
        ids.push(runtime.create_session(session()?).await?.session.id);
    }
    let started = Instant::now();
    let mut running = JoinSet::new();
    for id in ids {
        let runtime = Arc::clone(&runtime);
        running.spawn(async move {
            let mut events = runtime.send(id, "Talk.".to_owned(), SendOptions::default()).await?;
            let (mut gaps, mut last) = (Vec::new(), None::<Instant>);
            while let Some(told) = events.next().await? {
                match &told.event {
                    Event::TextDelta { .. } => {
                        let now = Instant::now();
                        gaps.extend(last.map(|last| now.duration_since(last).as_secs_f64() * 1e3));
                        last = Some(now);
                    }
                    Event::Error { message, .. } => anyhow::bail!("{message}"),
                    _ => {}
                }
            }
            Ok(gaps)
        });
    }
    tokio::time::sleep(std::time::Duration::from_secs_f64(SECONDS / 2.0)).await;
    let (_, megabytes_during) = resident_megabytes("self")?;
    let (mut gaps_ms, mut tokens) = (Vec::new(), 0);
    while let Some(gaps) = running.join_next().await {
        let gaps = gaps??;
        tokens += gaps.len() + 1;
        gaps_ms.extend(gaps);
    }
    ensure!(tokens > SESSIONS, "tokens came");
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::to_string(&Seen { gaps_ms, tokens, seconds, megabytes_before, megabytes_during })?
    );
    Ok(())
}
