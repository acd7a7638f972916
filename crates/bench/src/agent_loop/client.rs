//! What both clients do when they are told to: run, and say how long it took.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use anyhow::Result;

/// Runs batches of the sizes that come in, a line each, and prints the microseconds of each run
/// and of its first token.
pub(super) async fn obey(mut run: impl AsyncFnMut(Instant) -> Result<Instant>) -> Result<()> {
    let mut lines = std::io::stdin().lock().lines();
    while let Some(line) = lines.next().transpose()? {
        let runs: usize = line.trim().parse()?;
        let mut measured = Vec::with_capacity(runs);
        for _ in 0..runs {
            let started = Instant::now();
            let first = run(started).await?;
            let micros = |instant: Instant| instant.duration_since(started).as_secs_f64() * 1e6;
            measured.push((micros(Instant::now()), micros(first)));
        }
        let mut output = std::io::stdout().lock();
        writeln!(output, "{}", serde_json::to_string(&measured)?)?;
        output.flush()?;
    }
    Ok(())
}
