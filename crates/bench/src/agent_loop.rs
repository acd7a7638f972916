//! The loop beside a bare client that does the same exchange with the same unpaced model.
//!
//! The model, the bare client and Masque are processes of their own, so that each one's CPU is its
//! own; batches of the two clients take turns.

mod bare;
mod client;
mod long;
mod streams;
mod subject;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};

use anyhow::{Context as _, Result};

use crate::process::Process;
use crate::report::{Figure, percentile, report, sorted};

pub(crate) use bare::bare;
pub(crate) use streams::streams;
pub(crate) use subject::subject;

const ROUNDS: usize = 12;
const RUNS_PER_BATCH: usize = 150;

/// Two model calls and one tool, with answers of the length that models give: what every figure but
/// the streams' is measured with.
const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "read_file" }
text = """
The notes say one thing only: that the answer is forty-two. They do not say what was asked, who asked it, or how the number was found, so by themselves they settle nothing.

Three readings are possible. It may be a count, in which case somebody can count again and compare. It may be the outcome of a computation, in which case its inputs have to be somewhere, and the file should say where. Or it may be a joke, in which case nobody should build on it.

What I would do before anything else is decided:

1. Look into the history of the file, and ask whoever wrote the line what the question was.
2. Write the question above the answer, together with the date and the source.
3. Check the number once by a way that does not depend on the first one, even if it is slower.
4. Only then pass it on; until then, call it a draft wherever it is shown.

If the question cannot be found any more, I would rather delete the line than keep it: a number without a question invites people to fill in their own, and they will each fill in a different one.
"""
[[reply]]
say = [{ text = "I look at the notes first, then I tell you what they mean and what they leave open." }, { tool = "read_file", input = { path = "notes.txt" } }]
"#;

/// A process that runs batches on command.
struct Client {
    process: Process,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    wall_micros: Vec<f64>,
    /// CPU time of all measured runs. Linux reports hundredths of a second, too coarse for one batch.
    cpu_seconds: f64,
    first_token_micros: Vec<f64>,
}

impl Client {
    fn start(arguments: &[&str]) -> Result<Self> {
        let mut process = Process::start(Command::new(std::env::current_exe()?).args(arguments))?;
        let input = process.0.stdin.take().context("an input")?;
        let output = BufReader::new(process.0.stdout.take().context("an output")?);
        let (wall_micros, first_token_micros) = (Vec::new(), Vec::new());
        Ok(Self { process, input, output, wall_micros, cpu_seconds: 0.0, first_token_micros })
    }

    /// One batch: microseconds of each run, and to its first token.
    fn batch(&mut self, keep: bool) -> Result<()> {
        let mut line = String::new();
        writeln!(self.input, "{RUNS_PER_BATCH}")?;
        self.output.read_line(&mut line)?;
        let before = self.process.cpu_seconds()?;
        writeln!(self.input)?;
        line.clear();
        self.output.read_line(&mut line)?;
        let measured: Vec<(f64, f64)> = serde_json::from_str(&line).context("a batch was not run")?;
        if keep {
            self.cpu_seconds += self.process.cpu_seconds()? - before;
            self.wall_micros.extend(measured.iter().map(|(wall, _)| *wall));
            self.first_token_micros.extend(measured.iter().map(|(_, first)| *first));
        }
        Ok(())
    }

    fn cpu_micros_per_run(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.wall_micros.len() as f64
    }
}

/// A line that a child prints first: where it listens.
pub(crate) fn model(script: &str) -> Result<(Process, String)> {
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), script)?;
    let path = file.path().display().to_string();
    let mut process = Process::start(Command::new(std::env::current_exe()?).args(["loop-model", &path]))?;
    let mut url = String::new();
    BufReader::new(process.0.stdout.take().context("an output")?).read_line(&mut url)?;
    Ok((process, url.trim().to_owned()))
}

/// Plays a script until the process is killed; its address is the first line of the output.
pub(crate) async fn play(script: &str) -> Result<()> {
    let script = rehearsal::Script::parse(&std::fs::read_to_string(script)?)?;
    let options = rehearsal::Options { record: false, ..rehearsal::Options::default() };
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let model = rehearsal::Rehearsal::start_with(script, address, options).await?;
    println!("{}", model.url());
    std::future::pending().await
}

/// A bare client that sends what Masque sends in a session that has had so many messages.
async fn bare_client(url: &str, directory: &Path, earlier: usize) -> Result<Client> {
    let requests = subject::requests(SCRIPT, earlier).await?;
    let asked = directory.join(format!("requests-after-{earlier}.json"));
    std::fs::write(&asked, serde_json::to_string(&requests)?)?;
    Client::start(&["loop-bare", url, &asked.display().to_string()])
}

pub(crate) async fn measure() -> Result<()> {
    let (_model, url) = model(SCRIPT)?;
    let directory = tempfile::TempDir::new()?;
    let place = directory.path().display().to_string();
    let mut bare = bare_client(&url, directory.path(), 0).await?;
    let mut masque = Client::start(&["loop-masque", &url, &place, "0"])?;
    for round in 0..=ROUNDS {
        // The first round warms up.
        bare.batch(round > 0)?;
        masque.batch(round > 0)?;
    }
    let median = |samples: &[f64]| percentile(&sorted(samples.to_vec()), 0.5);
    let mut figures = vec![
        Figure::new(
            "wall per run, median",
            "µs",
            median(&masque.wall_micros),
            median(&bare.wall_micros),
            Some(1.5),
        ),
        Figure::new("CPU per run", "µs", masque.cpu_micros_per_run(), bare.cpu_micros_per_run(), Some(1.5)),
        Figure::at_most(
            "first token, added at the median",
            "µs",
            (median(&masque.first_token_micros) - median(&bare.first_token_micros)).max(0.0),
            1_000.0,
        ),
    ];
    figures.push(long::measure(&url, (&mut bare, &mut masque)).await?);
    drop((bare, masque));
    figures.extend(streams::measure().await?);
    report("loop", &figures)
}
