//! One table for people, the same as JSON for programs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

/// A figure, what it is measured against, and the bar for the ratio of the two.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) measured: f64,
    pub(crate) baseline: f64,
    pub(crate) unit: &'static str,
    pub(crate) ratio: f64,
    /// The highest ratio that is good enough, where there is one.
    pub(crate) bar: Option<f64>,
    pub(crate) ok: bool,
}

impl Figure {
    pub(crate) fn new(
        what: impl Into<String>,
        unit: &'static str,
        measured: f64,
        baseline: f64,
        bar: Option<f64>,
    ) -> Self {
        let ratio = measured / baseline;
        Self {
            what: what.into(),
            measured,
            baseline,
            unit,
            ratio,
            bar,
            ok: bar.is_none_or(|bar| ratio <= bar),
        }
    }

    /// A figure whose bar is a value, not a ratio: the bar is the baseline.
    pub(crate) fn at_most(what: impl Into<String>, unit: &'static str, measured: f64, most: f64) -> Self {
        Self::new(what, unit, measured, most, Some(1.0))
    }
}

/// Prints the figures and writes them to `target/bench/NAME.json`.
pub(crate) fn report(name: &str, figures: &[Figure]) -> Result<()> {
    println!("\n{:<58} {:>12} {:>12} {:>8}  {:>6}", name, "measured", "beside", "ratio", "bar");
    for figure in figures {
        let Figure { what, measured, baseline, unit, ratio, bar, ok } = figure;
        let bar = bar.map(|bar| format!("{bar:.2}")).unwrap_or_default();
        let missed = if *ok { "" } else { "  MISSED" };
        println!(
            "{what:<58} {measured:>8.1} {unit:<3} {baseline:>8.1} {unit:<3} {ratio:>8.2}  {bar:>6}{missed}"
        );
    }
    let file = directory()?.join(format!("{name}.json"));
    std::fs::write(&file, serde_json::to_string_pretty(figures)?)?;
    println!("\nwritten to {}", file.display());
    anyhow::ensure!(figures.iter().all(|figure| figure.ok), "a bar was missed");
    Ok(())
}

/// The directory for data and results of benchmarks: `target/bench`.
pub(crate) fn directory() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let directory = Path::new(&target).join("bench");
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// The value below which a share of the sorted samples lies.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

pub(crate) fn sorted(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    samples
}

pub(crate) fn median(samples: &[f64]) -> f64 {
    percentile(&sorted(samples.to_vec()), 0.5)
}

pub(crate) fn micros(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6
}
