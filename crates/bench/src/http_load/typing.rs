//! Search as you type, and previews of an unsaved persona.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::{PERSONAS, Server};
use crate::library::SEED;
use crate::report::{Figure, percentile, sorted};

/// Personas whose words are searched for.
const SEARCHES: u64 = 60;
/// Words of each search.
const WORDS: usize = 2;
const PREVIEWS: u64 = 300;
/// The longest that a search may take at the server.
const MOST_SEARCH_MS: f64 = 50.0;
/// The longest that a preview may take from request to answer.
const MOST_PREVIEW_MS: f64 = 100.0;

pub(super) fn measure(server: &mut Server) -> Result<Vec<Figure>> {
    let typed = typed();
    let mut figures = Vec::new();
    // The list of the page, and the palette.
    for (what, path) in [
        ("search as you type in the list", "/api/library/persona?limit=100&query="),
        ("search as you type in the palette", "/api/search?limit=20&query="),
    ] {
        let mut millis = Vec::new();
        let cpu = server.process.cpu_seconds()?;
        for text in &typed {
            let started = Instant::now();
            server.json("GET", &format!("{path}{}", text.replace(' ', "+")), "")?;
            millis.push(started.elapsed().as_secs_f64() * 1e3);
        }
        let cpu_millis = (server.process.cpu_seconds()? - cpu) * 1e3 / typed.len() as f64;
        let millis = sorted(millis);
        let at = |share: f64| percentile(&millis, share);
        let mean = millis.iter().sum::<f64>() / millis.len() as f64;
        println!("{what}: {} searches, p50 {:.1} ms, most {:.1} ms", millis.len(), at(0.5), at(1.0));
        figures.push(Figure::at_most(format!("{what}, p95"), "ms", at(0.95), MOST_SEARCH_MS));
        // A ratio far above 1 means that other programs had the processor meanwhile.
        figures.push(Figure::new(format!("{what}: mean time beside its CPU"), "ms", mean, cpu_millis, None));
    }
    figures.push(preview(server)?);
    Ok(figures)
}

/// The texts of the field while a user types the first words of a description.
fn typed() -> Vec<String> {
    let library = testkit::generate(SEED, PERSONAS);
    let mut typed = Vec::new();
    for number in 0..SEARCHES {
        let persona = library.persona(number * (PERSONAS / SEARCHES));
        let description = persona.description.unwrap_or_default();
        let words: Vec<&str> = description.split(|char: char| !char.is_ascii_alphanumeric()).collect();
        let words = words.into_iter().filter(|word| word.len() > 2).take(WORDS);
        let text = words.collect::<Vec<_>>().join(" ");
        typed.extend((1..=text.len()).map(|end| text[..end].trim_end().to_owned()));
    }
    typed.dedup();
    typed
}

/// The round trip of a preview while a user types in the system prompt.
fn preview(server: &mut Server) -> Result<Figure> {
    let entity = serde_json::to_value(testkit::generate(SEED, PERSONAS).persona(7))?;
    let mut millis = Vec::new();
    for number in 0..PREVIEWS {
        let mut entity = entity.clone();
        entity["system_prompt"] = format!("You review changes. {number} of them so far.").into();
        let body = json!({ "entity": entity }).to_string();
        let started = Instant::now();
        let answer = server.json("POST", "/api/preview", &body)?;
        millis.push(started.elapsed().as_secs_f64() * 1e3);
        let blocks = answer["blocks"].as_array().context("a preview has blocks")?;
        ensure!(!blocks.is_empty(), "the preview is empty");
    }
    let millis = sorted(millis);
    println!("preview round trip: p50 {:.2} ms", percentile(&millis, 0.5));
    Ok(Figure::at_most("preview round trip, p95", "ms", percentile(&millis, 0.95), MOST_PREVIEW_MS))
}
