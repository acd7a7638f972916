//! Start-up over standard input and output, beside a bare server of the same stack.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::process::Process;
use crate::report::{Figure, percentile, sorted};

const STARTS: usize = 15;
/// The idle time of a server before its memory is read.
const IDLE: Duration = Duration::from_millis(300);
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

pub(crate) fn measure(masque: &str, database: &Path, constant: &str) -> Result<Vec<Figure>> {
    let itself = std::env::current_exe()?;
    let mut samples = [Vec::new(), Vec::new()];
    let mut memory = [0.0, 0.0];
    for _ in 0..STARTS {
        let mut real = Command::new(masque);
        real.arg("--db").arg(database).arg("mcp");
        let mut bare = Command::new(&itself);
        bare.args(["bare-stdio", constant]);
        for (at, command) in [&mut real, &mut bare].into_iter().enumerate() {
            let (took, resident) = start(command)?;
            samples[at].push(took);
            memory[at] = resident;
        }
    }
    let [real, bare] = samples.map(|samples| percentile(&sorted(samples), 0.5));
    Ok(vec![
        Figure::at_most("masque mcp: ready after", "ms", real, 50.0),
        Figure::new("masque mcp: ready beside a bare stdio server", "ms", real, bare, None),
        Figure::at_most("masque mcp: resident memory, idle", "MB", memory[0], 40.0),
        Figure::new("masque mcp: idle memory beside a bare stdio server", "MB", memory[0], memory[1], None),
    ])
}

/// Starts a server and initializes it. Returns the milliseconds until its answer, and its memory.
fn start(command: &mut Command) -> Result<(f64, f64)> {
    let started = Instant::now();
    let mut process = Process::start(command)?;
    let mut input = process.0.stdin.take().context("its input")?;
    writeln!(input, "{INITIALIZE}")?;
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().context("its output")?).read_line(&mut line)?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    ensure!(line.contains("serverInfo"), "not an answer: {line:?}");
    std::thread::sleep(IDLE);
    Ok((took, process.resident_megabytes()?.0))
}
