//! A tree of 10,000 source files: walk it, make the skeleton of every file and count its tokens. Beside it, list the
//! same files as `rg --files` does (the walker is ripgrep's own) and read every byte, with as many threads.

use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use app::Tokenizer;
use context::{Context, Project, Request, Seeds};
use ignore::{WalkBuilder, WalkState};
use persona::Aggregation;

use crate::process::own_cpu_seconds;
use crate::report::{Figure, median, report};

mod sources;

use sources::Sources;

const FILES: usize = 10_000;
const ROUNDS: usize = 5;
/// A file that was changed more recently is read again.
const SETTLED: Duration = Duration::from_millis(3_100);
const FIRST_BAR: f64 = 10.0;
const SECOND_BAR: f64 = 2.0;
const AUTO_BUDGET: usize = 8_000;

/// Seconds of one activity, a sample per round.
#[derive(Debug, Default)]
struct Samples {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Samples {
    fn time<T>(&mut self, activity: impl FnOnce() -> Result<T>) -> Result<T> {
        let (started, cpu) = (Instant::now(), own_cpu_seconds()?);
        let answer = activity()?;
        self.wall.push(started.elapsed().as_secs_f64());
        self.cpu.push(own_cpu_seconds()? - cpu);
        Ok(answer)
    }

    /// The median wall clock time and the mean CPU time, which Linux counts in hundredths of a second.
    fn millis(&self) -> (f64, f64) {
        (median(&self.wall) * 1e3, self.cpu.iter().sum::<f64>() * 1e3 / self.cpu.len() as f64)
    }
}

/// Measures a tree of this many files, by default 10,000.
pub(crate) fn measure(arguments: &[&str]) -> Result<()> {
    let files = arguments.first().map_or(Ok(FILES), |text| text.parse())?;
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    let sources = Sources::write(root, files)?;
    println!("{files} files, {:.1} MB", sources.bytes as f64 / 1e6);
    thread::sleep(SETTLED);
    let [mut bare, mut first, mut second, mut auto] = [(); 4].map(|()| Samples::default());
    let mut tokens = 0;
    // The first round loads the vocabulary.
    for round in 0..=ROUNDS {
        if round == 1 {
            for samples in [&mut bare, &mut first, &mut second, &mut auto] {
                *samples = Samples::default();
            }
        }
        let read = bare.time(|| list_and_read(root))?;
        ensure!(read == (files, sources.bytes), "the baseline read {read:?}");
        let project = Project::open(root)?;
        let made = first.time(|| skeletons(&project, files))?;
        let again = second.time(|| skeletons(&project, files))?;
        ensure!(made == again, "the second run has another answer");
        tokens = made.tokens;
        auto.time(|| choose(&project, &sources))?;
    }
    println!("{tokens} tokens of skeletons");
    report("context", &figures(&bare, &first, &second, &auto))
}

fn figures(bare: &Samples, first: &Samples, second: &Samples, auto: &Samples) -> Vec<Figure> {
    let mut figures = Vec::new();
    let rows = [
        ("walk, skeleton and count everything", first, Some(FIRST_BAR)),
        ("the same with a warm cache", second, Some(SECOND_BAR)),
        ("auto within 8,000 tokens, with a warm cache", auto, None),
    ];
    for (what, samples, bar) in rows {
        let ((wall, cpu), (bare_wall, bare_cpu)) = (samples.millis(), bare.millis());
        figures.push(Figure::new(format!("{what}: wall"), "ms", wall, bare_wall, bar));
        figures.push(Figure::new(format!("{what}: CPU"), "ms", cpu, bare_cpu, bar));
    }
    figures
}

/// The skeletons of all files, with their tokens.
fn skeletons(project: &Project, files: usize) -> Result<Context> {
    let strategy = Aggregation::Skeleton;
    let request = Request { strategy, budget: Some(usize::MAX), ..Request::default() };
    let context = project.gather(&request, &Tokenizer);
    ensure!(context.files.len() == files, "{} files are shown", context.files.len());
    Ok(context)
}

/// The context of a task about one file.
fn choose(project: &Project, sources: &Sources) -> Result<Context> {
    let request = Request {
        strategy: Aggregation::Auto,
        budget: Some(AUTO_BUDGET),
        focus: vec![sources.focus.clone()],
        seeds: Seeds { text: sources.task.clone(), ..Seeds::default() },
        ..Request::default()
    };
    let context = project.gather(&request, &Tokenizer);
    ensure!(context.tokens <= AUTO_BUDGET, "{} tokens", context.tokens);
    ensure!(context.tokens > AUTO_BUDGET / 2, "only {} tokens", context.tokens);
    Ok(context)
}

/// The number of the files that ripgrep searches, and their bytes.
fn list_and_read(root: &Path) -> Result<(usize, u64)> {
    let (files, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
    let threads = thread::available_parallelism().map_or(1, usize::from).min(context::limits::THREADS);
    WalkBuilder::new(root).threads(threads).build_parallel().run(|| {
        let (files, bytes) = (&files, &bytes);
        let mut buffer = Vec::new();
        Box::new(move |entry| {
            let entry = entry.ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
            if let Some(mut file) = entry.and_then(|entry| std::fs::File::open(entry.path()).ok()) {
                buffer.clear();
                let read = file.read_to_end(&mut buffer).unwrap_or_default();
                files.fetch_add(1, Ordering::Relaxed);
                bytes.fetch_add(read as u64, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    Ok((files.into_inner(), bytes.into_inner()))
}
