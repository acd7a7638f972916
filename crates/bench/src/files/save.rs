//! Saving one entry: through the library, bare, and each stage by itself.

use std::fs::File;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use files::{Edit, disk, document, edit};
use persona::{AnyEntity, Kind, Name, Persona, Scope};
use scopes::Scopes;
use store::{Action, Attribution};
use tempfile::NamedTempFile;
use toml_edit::DocumentMut;

use super::place::Place;
use crate::report::{median, micros};

/// Microseconds of every save.
#[derive(Debug, Default)]
pub(super) struct Saves {
    pub(super) library: Vec<f64>,
    pub(super) bare: Vec<f64>,
    /// Times of a save through the library: opening the change, editing, storing.
    begin: Vec<f64>,
    change: Vec<f64>,
    commit: Vec<f64>,
    /// By themselves.
    read: Vec<f64>,
    edit: Vec<f64>,
    replace: Vec<f64>,
}

impl Saves {
    /// One save each way of the same file.
    pub(super) async fn round(
        &mut self,
        place: &Place,
        scopes: &Scopes,
        name: &Name,
        text: &str,
    ) -> Result<()> {
        self.bare.push(parse_and_write(text, &place.at("bare.toml"))?);
        self.save(scopes, name).await
    }

    async fn save(&mut self, scopes: &Scopes, name: &Name) -> Result<()> {
        let attribution = Attribution { who: "bench".to_owned(), front: "bench".to_owned(), message: None };
        let summary = format!("Says what it was told at save {}.", self.library.len());
        let started = Instant::now();
        let mut write = scopes.write(Scope::Project, attribution).await?;
        let begin = micros(started);
        let held = write.find::<Persona>(name).await?.context("the persona is there")?;
        let changed = Persona { summary: Some(summary), ..held.stored.entity.clone() };
        write.replace(&held, &changed, Action::Update).await?;
        let change = micros(started);
        write.commit().await?;
        let commit = micros(started);
        self.begin.push(begin);
        self.change.push(change - begin);
        self.commit.push(commit - change);
        self.library.push(commit);
        Ok(())
    }

    /// Reading, editing and replacing the file by themselves; nothing is recorded.
    pub(super) fn stages(&mut self, place: &Place, name: &Name) -> Result<()> {
        let path = place.file();
        // State that an open library already has in memory.
        let known = document::read(&path, &std::fs::read_to_string(&path)?)?;
        let started = Instant::now();
        let bytes = disk::read_bytes(&path)?.context("the file is there")?;
        let text = String::from_utf8(bytes)?;
        let same = known.is_of(&text);
        self.read.push(micros(started));
        anyhow::ensure!(same, "another process writes to {}", path.display());

        let entry = known.get(Kind::Persona, name.as_str()).context("the persona is there")?;
        let mut persona = Persona::try_from(entry.entity.clone()).map_err(|_| anyhow!("not a persona"))?;
        persona.summary = Some(format!("Says what it was told at stage {}.", self.edit.len()));
        let entity = AnyEntity::from(persona);
        let started = Instant::now();
        let edited = edit::apply(&text, &[Edit::Put { entity: &entity }], &known)?;
        self.edit.push(micros(started));

        let copy = place.at("copy.toml");
        std::fs::write(&copy, &text)?;
        let started = Instant::now();
        let replaced = disk::replace(&copy, Some(text.as_bytes()), edited.text.as_bytes());
        self.replace.push(micros(started));
        replaced.map_err(|error| anyhow!("{} could not be replaced: {error:?}", copy.display()))
    }

    /// The time of each step of a save, on one line.
    pub(super) fn breakdown(&self) -> String {
        let [begin, read, change, commit, edit, replace] =
            [&self.begin, &self.read, &self.change, &self.commit, &self.edit, &self.replace]
                .map(|samples| median(samples) / 1e3);
        // The steps in between have no public function.
        let record = (commit - edit - replace).max(0.0);
        format!(
            "{begin:.1} ms to begin ({read:.1} ms of it reading), {change:.1} ms to find and say, {commit:.1} ms to \
             commit ({edit:.1} ms editing, {replace:.1} ms replacing the file, {record:.1} ms recording and the rest)"
        )
    }
}

/// The least that a careful program does to save: a parse of the bytes, and the bytes on disk for good.
fn parse_and_write(text: &str, target: &Path) -> Result<f64> {
    let directory = target.parent().context("the file is in a directory")?;
    let started = Instant::now();
    let parsed = black_box(text.parse::<DocumentMut>()?);
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(target)?;
    File::open(directory)?.sync_all()?;
    let took = micros(started);
    drop(parsed);
    Ok(took)
}
