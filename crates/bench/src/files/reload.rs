//! The time from a save by another program until a load returns the new text.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use persona::Name;
use scopes::{Overrides, Scopes};

use super::place::Place;
use super::text::{described, personas_toml};
use crate::library::persona_name;
use crate::report::{Figure, micros, percentile, sorted};

const PERSONAS: u64 = 1_000;
/// Saves in each way that editors save.
const SAVES: usize = 20;
const BAR_MS: f64 = 200.0;
const DATABASE: &str = "watched.db";
/// The polling interval, which is the resolution of the measurement.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Quiet after each save, so that no two are taken for one burst.
const QUIET: Duration = Duration::from_millis(300);
/// A change that is not seen by then will not be.
const PATIENCE: Duration = Duration::from_secs(10);

/// The ways in which editors save.
#[derive(Debug, Clone, Copy)]
enum Style {
    RenameOver,
    TruncateAndWrite,
}

impl Style {
    fn save(self, path: &Path, text: &str) -> Result<()> {
        match self {
            Self::RenameOver => {
                let new = path.with_extension("toml.new");
                std::fs::write(&new, text)?;
                std::fs::rename(new, path)?;
            }
            Self::TruncateAndWrite => std::fs::write(path, text)?,
        }
        Ok(())
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::RenameOver => "rename over",
            Self::TruncateAndWrite => "truncate and write",
        }
    }
}

pub(super) async fn measure(seed: u64) -> Result<Vec<Figure>> {
    let text = personas_toml(PERSONAS, seed)?;
    let place = Place::new(&text)?;
    let store = place.store(DATABASE).await?;
    let scopes = place.open(&store, DATABASE).await?;
    scopes.watch();
    if let Some(mode) = scopes.watching() {
        println!("the file is followed by {mode:?}");
    }
    tokio::time::sleep(QUIET).await;
    let mut ways = [(Style::RenameOver, Vec::new()), (Style::TruncateAndWrite, Vec::new())];
    for number in 0..SAVES {
        let name = persona_name(number as u64 * PERSONAS / SAVES as u64);
        for (style, samples) in &mut ways {
            let wanted = format!("Version {number}, {}.", style.as_str());
            let changed = described(&text, &name, &wanted);
            style.save(&place.file(), &changed)?;
            samples.push(seen(&scopes, &name, &wanted).await? / 1e3);
            tokio::time::sleep(QUIET).await;
        }
    }
    scopes.close().await;
    Ok(ways.into_iter().flat_map(|(style, samples)| figures(style, samples)).collect())
}

/// Microseconds from now until a load gives the wanted description.
async fn seen(scopes: &Scopes, name: &Name, wanted: &str) -> Result<f64> {
    let started = Instant::now();
    loop {
        let loaded = scopes.load(name, None, &Overrides::new()).await?;
        if loaded.is_some_and(|loaded| loaded.bundle.persona.description.as_deref() == Some(wanted)) {
            return Ok(micros(started));
        }
        ensure!(started.elapsed() < PATIENCE, "{wanted:?} was not seen within {} s", PATIENCE.as_secs());
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn figures(style: Style, samples: Vec<f64>) -> [Figure; 2] {
    let samples = sorted(samples);
    let style = style.as_str();
    let what = |which: &str| format!("reload, {style}, {which} of {SAVES}, {PERSONAS} personas");
    [
        Figure::new(what("median"), "ms", percentile(&samples, 0.5), BAR_MS, None),
        Figure::at_most(what("worst"), "ms", percentile(&samples, 1.0), BAR_MS),
    ]
}
