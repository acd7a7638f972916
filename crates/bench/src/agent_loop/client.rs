//! The protocol of both clients: run a batch on command and report its time.

use std::io::Write as _;
use std::time::Instant;

use anyhow::Result;

/// Runs batches of the sizes that come in, a line each, and prints the microseconds of each run
/// and of its first token. What a run needs beforehand is made first, outside of what is measured:
/// the batch begins with another line. Each batch is a task of the runtime, as requests of a server
/// are.
pub(super) async fn obey<Needed, Preparing, Running>(
    prepare: impl Fn() -> Preparing,
    run: impl Fn(Needed) -> Running + Clone + Send + 'static,
) -> Result<()>
where
    Needed: Send + 'static,
    Preparing: Future<Output = Result<Needed>>,
    Running: Future<Output = Result<Instant>> + Send + 'static,
{
    let mut lines = std::io::stdin().lines();
    while let Some(runs) = lines.next().transpose()? {
        let runs: usize = runs.trim().parse()?;
        let mut needed = Vec::with_capacity(runs);
        for _ in 0..runs {
            needed.push(prepare().await?);
        }
        say("ready")?;
        lines.next().transpose()?;
        let measured = tokio::spawn(batch(run.clone(), needed)).await??;
        say(&serde_json::to_string(&measured)?)?;
    }
    Ok(())
}

fn say(line: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

async fn batch<Needed, Running>(
    run: impl Fn(Needed) -> Running,
    needed: Vec<Needed>,
) -> Result<Vec<(f64, f64)>>
where
    Running: Future<Output = Result<Instant>>,
{
    let mut measured = Vec::with_capacity(needed.len());
    for needed in needed {
        let started = Instant::now();
        let first = run(needed).await?;
        let micros = |instant: Instant| instant.duration_since(started).as_secs_f64() * 1e6;
        measured.push((micros(Instant::now()), micros(first)));
    }
    Ok(measured)
}
