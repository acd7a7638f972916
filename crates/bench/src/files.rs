//! A personas.toml at several sizes: reading it, opening a library over it, loads, saves and reloads.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use files::document;
use persona::{Kind, Scope};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rusqlite::{Connection, OpenFlags};
use scopes::{Overrides, Scopes};
use store::Store;
use toml_edit::DocumentMut;

use crate::library::persona_name;
use crate::report::{Figure, median, micros, report};

mod place;
mod reload;
mod save;
mod text;

use place::Place;
use save::Saves;

const SEED: u64 = 20_260_728;
/// The size that the bars are for.
const LARGEST: u64 = 20_000;
const SIZES: [u64; 3] = [10, 1_000, LARGEST];
const ROUNDS: usize = 9;
/// Opens of a file that no history knows, each with a database of its own.
const FIRST_OPENS: usize = 3;
/// Loads of each sort in a round.
const LOADS: usize = 200;
const LOAD_BAR: f64 = 3.0;
const SAVE_BAR: f64 = 1.5;

/// A file, a library over it, and their measurements in microseconds.
struct MeasuredFile {
    size: u64,
    /// The file as it was made; saves change it since.
    text: String,
    database: String,
    /// The path that the file's history is filed under.
    origin: String,
    store: Store,
    scopes: Scopes,
    /// A connection of the baseline: one row by its key, nothing else.
    bare: Connection,
    parse: Vec<f64>,
    read: Vec<f64>,
    first_open: Vec<f64>,
    open: Vec<f64>,
    uncached: Vec<f64>,
    cached: Vec<f64>,
    bare_row: Vec<f64>,
    saves: Saves,
    /// Last, so that the directory goes when nothing in it is open any more.
    place: Place,
}

pub(crate) async fn measure(arguments: &[&str]) -> Result<()> {
    let largest =
        arguments.first().map_or(Ok(u64::MAX), |text| text.parse()).context("LARGEST is a number")?;
    let mut subjects = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= largest) {
        subjects.push(MeasuredFile::open(size).await?);
    }
    let mut random = StdRng::seed_from_u64(SEED);
    for _ in 0..ROUNDS {
        for subject in &mut subjects {
            subject.round(&mut random).await?;
        }
    }
    let mut figures = Vec::new();
    for subject in &subjects {
        println!("a save, {} personas: {}", subject.size, subject.saves.breakdown());
        figures.extend(subject.figures());
        subject.scopes.close().await;
    }
    figures.extend(reload::measure(SEED).await?);
    report("files", &figures)
}

impl MeasuredFile {
    /// Makes a file and lets its history begin.
    async fn open(size: u64) -> Result<Self> {
        let text = text::personas_toml(size, SEED)?;
        let place = Place::new(&text)?;
        println!("a file of {size} personas has {:.1} MB", text.len() as f64 / 1e6);
        let mut first_open = Vec::new();
        let mut number = 0;
        let (database, store, scopes) = loop {
            let database = format!("local-{number}.db");
            let store = place.store(&database).await?;
            let started = Instant::now();
            let scopes = place.open(&store, &database).await?;
            first_open.push(micros(started));
            number += 1;
            if number == FIRST_OPENS {
                break (database, store, scopes);
            }
            scopes.close().await;
        };
        ensure!(scopes.problems().is_empty(), "a generated file has a problem: {}", scopes.problems()[0]);
        let bare = Connection::open_with_flags(place.at(&database), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Ok(Self {
            size,
            text,
            origin: place.file().canonicalize()?.to_string_lossy().into_owned(),
            bare,
            database,
            store,
            scopes,
            parse: Vec::new(),
            read: Vec::new(),
            first_open,
            open: Vec::new(),
            uncached: Vec::new(),
            cached: Vec::new(),
            bare_row: Vec::new(),
            saves: Saves::default(),
            place,
        })
    }

    /// How often a round repeats what takes longer with the file: small ones need more samples.
    fn repeats(&self) -> usize {
        match self.size {
            0..100 => 20,
            100..10_000 => 5,
            _ => 1,
        }
    }

    async fn round(&mut self, random: &mut StdRng) -> Result<()> {
        for _ in 0..self.repeats() {
            self.parse_and_read()?;
            self.open_again().await?;
            let name = persona_name(random.random_range(0..self.size));
            self.saves.round(&self.place, &self.scopes, &name, &self.text).await?;
        }
        let name = persona_name(random.random_range(0..self.size));
        self.saves.stages(&self.place, &name)?;
        self.resolve(random).await
    }

    /// The same bytes, parsed and read. What comes out is freed when the clock has stopped.
    fn parse_and_read(&mut self) -> Result<()> {
        let started = Instant::now();
        let parsed = black_box(self.text.parse::<DocumentMut>()?);
        self.parse.push(micros(started));
        drop(parsed);
        let path = self.place.file();
        let started = Instant::now();
        let read = black_box(document::read(&path, &self.text)?);
        self.read.push(micros(started));
        let found = read.entries.get(&Kind::Persona).map_or(0, |entries| entries.len() as u64);
        ensure!(found == self.size, "{found} of {} personas were read", self.size);
        Ok(())
    }

    /// The second start: the database exists and knows the file's history.
    async fn open_again(&mut self) -> Result<()> {
        let started = Instant::now();
        let scopes = self.place.open(&self.store, &self.database).await?;
        self.open.push(micros(started));
        drop(scopes);
        Ok(())
    }

    async fn resolve(&mut self, random: &mut StdRng) -> Result<()> {
        let nothing = Overrides::new();
        for _ in 0..LOADS {
            let name = persona_name(random.random_range(0..self.size));
            let started = Instant::now();
            // A named scope bypasses the cache.
            let loaded = self.scopes.load(&name, Some(Scope::Project), &nothing).await?;
            self.uncached.push(micros(started));
            loaded.context("the persona is there")?;
            self.bare_lookup(random)?;
        }
        // The same name again and again: what the cache is for.
        let hot = persona_name(random.random_range(0..self.size));
        self.scopes.load(&hot, None, &nothing).await?;
        for _ in 0..LOADS {
            let started = Instant::now();
            self.scopes.load(&hot, None, &nothing).await?;
            self.cached.push(micros(started));
        }
        Ok(())
    }

    fn bare_lookup(&mut self, random: &mut StdRng) -> Result<()> {
        let name = persona_name(random.random_range(0..self.size));
        let started = Instant::now();
        let mut statement = self.bare.prepare_cached(
            "SELECT content_hash FROM file_entries \
             WHERE scope = 'project' AND origin = $1 AND kind = 'persona' AND name = $2",
        )?;
        let _: String = statement.query_row([self.origin.as_str(), name.as_str()], |row| row.get(0))?;
        self.bare_row.push(micros(started));
        Ok(())
    }

    fn figures(&self) -> Vec<Figure> {
        let size = self.size;
        let bar = |bar: f64| (size == LARGEST).then_some(bar);
        let figure = |what: &str, measured: &[f64], baseline: &[f64], bar: Option<f64>| {
            let (measured, baseline) = (median(measured), median(baseline));
            // In a unit that leaves something to read.
            let (unit, micros) = if measured < 10_000.0 { ("µs", 1.0) } else { ("ms", 1e3) };
            Figure::new(format!("{what}, {size} personas"), unit, measured / micros, baseline / micros, bar)
        };
        vec![
            figure("read beside a bare parse", &self.read, &self.parse, bar(LOAD_BAR)),
            figure("open beside a bare parse", &self.open, &self.parse, None),
            figure("first open beside a bare parse", &self.first_open, &self.parse, None),
            figure("uncached load beside one bare row", &self.uncached, &self.bare_row, None),
            figure("cached load beside one bare row", &self.cached, &self.bare_row, None),
            figure(
                "save one entry beside parse plus write",
                &self.saves.library,
                &self.saves.bare,
                bar(SAVE_BAR),
            ),
        ]
    }
}
