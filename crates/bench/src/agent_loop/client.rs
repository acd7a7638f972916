//! What both clients do when they are told to: run, and say how long it took.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use anyhow::Result;

/// Runs batches of the sizes that come in, a line each, and prints the microseconds of each run
/// and of its first token. Each batch is a task of the runtime, as requests of a server are.
pub(super) async fn obey<Run, Running>(run: Run) -> Result<()>
where
    Run: Fn() -> Running + Clone + Send + 'static,
    Running: Future<Output = Result<Instant>> + Send + 'static,
{
    for line in std::io::stdin().lock().lines() {
        let runs: usize = line?.trim().parse()?;
        let measured = tokio::spawn(batch(run.clone(), runs)).await??;
        let mut output = std::io::stdout().lock();
        writeln!(output, "{}", serde_json::to_string(&measured)?)?;
        output.flush()?;
    }
    Ok(())
}

async fn batch<Running>(run: impl Fn() -> Running, runs: usize) -> Result<Vec<(f64, f64)>>
where
    Running: Future<Output = Result<Instant>>,
{
    let mut measured = Vec::with_capacity(runs);
    for _ in 0..runs {
        let started = Instant::now();
        let first = run().await?;
        let micros = |instant: Instant| instant.duration_since(started).as_secs_f64() * 1e6;
        measured.push((micros(Instant::now()), micros(first)));
    }
    Ok(measured)
}
