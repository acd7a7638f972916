//! The library at several sizes: lookups, assembly and compilation.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use database::Location;
use persona::{AssemblyRequest, Bundle, Name, TokenCounter, View};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rusqlite::{Connection, OpenFlags};
use store::Store;

use crate::process::resident_megabytes;
use crate::report::{Figure, directory, micros, percentile, report, sorted};

pub(crate) const SEED: u64 = 20_260_728;
/// The size that all others are compared with.
const REFERENCE: u64 = 1_000;
const SIZES: [u64; 4] = [100, REFERENCE, 10_000, 1_000_000];
const ROUNDS: usize = 30;
const BATCH: usize = 200;
/// Lookups before anything is measured, so that files are in memory at every size.
const WARM_UP: usize = 20_000;

struct Library {
    size: u64,
    store: Store,
    /// A connection of the baseline: one row by its name, nothing else.
    bare: Connection,
    uncached: Vec<f64>,
    cached: Vec<f64>,
    bare_row: Vec<f64>,
}

/// Makes a library in a separate process, so that its memory is not measured.
pub(crate) async fn fill(file: &str, size: &str) -> Result<()> {
    testkit::fill(file, size.parse()?, SEED).await;
    Ok(())
}

/// A library of generated personas, kept between runs.
pub(crate) fn generated(size: u64) -> Result<PathBuf> {
    let file = directory()?.join(format!("library-{size}.db"));
    let done = file.with_extension("done");
    if !done.exists() {
        for old in [file.clone(), file.with_extension("db-wal"), file.with_extension("db-shm")] {
            let _ = std::fs::remove_file(old);
        }
        let started = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        let filled = command.arg("fill").arg(&file).arg(size.to_string()).status()?;
        ensure!(filled.success(), "the library of {size} personas could not be made");
        println!("made a library of {size} personas in {:.0} s", started.elapsed().as_secs_f64());
        std::fs::write(done, "")?;
    }
    Ok(file)
}

pub(crate) fn persona_name(number: u64) -> Name {
    Name::parse(&format!("p{number:07}")).unwrap_or_else(|error| unreachable!("a lawful name: {error}"))
}

async fn open(size: u64) -> Result<Library> {
    let file = generated(size)?;
    let store = Store::open(Location::parse(&file.display().to_string())?, false).await?;
    let bare = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok(Library { size, store, bare, uncached: Vec::new(), cached: Vec::new(), bare_row: Vec::new() })
}

pub(crate) async fn measure(arguments: &[&str]) -> Result<()> {
    let largest =
        arguments.first().map_or(Ok(u64::MAX), |text| text.parse()).context("LARGEST is a number")?;
    let mut libraries = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= largest) {
        libraries.push(open(size).await?);
    }
    let mut random = StdRng::seed_from_u64(SEED);
    for library in &libraries {
        for _ in 0..WARM_UP {
            lookup(library, &mut random).await?;
        }
    }
    for _ in 0..ROUNDS {
        for library in &mut libraries {
            for _ in 0..BATCH {
                let sample = lookup(library, &mut random).await?;
                library.uncached.push(sample);
                let sample = bare_lookup(library, &mut random)?;
                library.bare_row.push(sample);
            }
            // The same few names again and again: what the cache is for.
            let hot = persona_name(random.random_range(0..library.size));
            library.store.load(&hot, &[]).await?;
            for _ in 0..BATCH {
                let started = Instant::now();
                library.store.load(&hot, &[]).await?;
                library.cached.push(micros(started));
            }
        }
    }
    let mut figures = lookups(&libraries);
    figures.extend(pure(&libraries, &mut random).await?);
    let (all, own) = resident_megabytes("self")?;
    println!("resident: {all:.0} MB, {own:.0} MB of it not backed by files");
    figures.push(Figure::at_most("resident memory, not backed by files", "MB", own, 256.0));
    report("library", &figures)
}

/// One lookup past the cache: a call with overrides is never cached.
async fn lookup(library: &Library, random: &mut StdRng) -> Result<f64> {
    let name = persona_name(random.random_range(0..library.size));
    let nothing = persona_name(9_999_999);
    let started = Instant::now();
    library.store.load(&name, &[&nothing]).await?.context("the persona is there")?;
    Ok(micros(started))
}

fn bare_lookup(library: &Library, random: &mut StdRng) -> Result<f64> {
    let name = persona_name(random.random_range(0..library.size));
    let started = Instant::now();
    let mut statement = library.bare.prepare_cached("SELECT summary FROM agent_personas WHERE name = $1")?;
    let _: String = statement.query_row([name.as_str()], |row| row.get(0))?;
    Ok(micros(started))
}

fn lookups(libraries: &[Library]) -> Vec<Figure> {
    let of = |samples: &[f64], share: f64| percentile(&sorted(samples.to_vec()), share);
    let Some(reference) = libraries.iter().find(|library| library.size == REFERENCE) else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    for library in libraries {
        let size = library.size;
        let bar = |bar: f64| (size == 1_000_000).then_some(bar);
        figures.push(Figure::new(
            format!("uncached load, median, {size} personas beside {REFERENCE}"),
            "µs",
            of(&library.uncached, 0.5),
            of(&reference.uncached, 0.5),
            bar(1.5),
        ));
        figures.push(Figure::new(
            format!("uncached load, p99, {size} personas beside {REFERENCE}"),
            "µs",
            of(&library.uncached, 0.99),
            of(&reference.uncached, 0.99),
            bar(3.0),
        ));
        figures.push(Figure::new(
            format!("uncached load beside one bare row, {size} personas"),
            "µs",
            of(&library.uncached, 0.5),
            of(&library.bare_row, 0.5),
            None,
        ));
        figures.push(Figure::new(
            format!("cached load beside one bare row, {size} personas"),
            "µs",
            of(&library.cached, 0.5),
            of(&library.bare_row, 0.5),
            None,
        ));
    }
    figures
}

/// Assembly and compilation beside writing the same persona out as JSON.
async fn pure(libraries: &[Library], random: &mut StdRng) -> Result<Vec<Figure>> {
    struct Bytes;
    impl TokenCounter for Bytes {
        fn tokenizer(&self) -> &'static str {
            "bytes"
        }
        fn count(&self, text: &str) -> usize {
            text.len()
        }
    }
    let mut figures = Vec::new();
    for library in libraries {
        let mut bundles = Vec::new();
        for _ in 0..100 {
            let name = persona_name(random.random_range(0..library.size));
            let loaded = library.store.load(&name, &[]).await?.context("the persona is there")?;
            bundles.push(loaded.bundle.clone());
        }
        let each = |work: &dyn Fn(&Bundle)| {
            let mut samples = Vec::new();
            for _ in 0..20 {
                let started = Instant::now();
                bundles.iter().for_each(work);
                samples.push(micros(started) / bundles.len() as f64);
            }
            percentile(&sorted(samples), 0.5)
        };
        let json = each(&|bundle| drop(serde_json::to_string(bundle)));
        let assembly = each(&|bundle| {
            let request = AssemblyRequest { limit: Some(4), ..AssemblyRequest::plain(View::Detail) };
            let assembled = persona::assemble(bundle, &request, &Bytes);
            drop(assembled.map(|assembled| persona::view(&assembled, &request, "bytes")));
        });
        let compile = each(&|bundle| drop(persona::compile(&bundle.assembled())));
        let size = library.size;
        figures.push(Figure::new(
            format!("assembly and view beside its JSON, {size} personas"),
            "µs",
            assembly,
            json,
            None,
        ));
        figures.push(Figure::new(
            format!("compile beside its JSON, {size} personas"),
            "µs",
            compile,
            json,
            None,
        ));
    }
    Ok(figures)
}
