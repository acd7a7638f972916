//! The page: the weight of its first load, and its frames in a browser.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Server;
use crate::report::Figure;
use crate::wire::{Connection, TOKEN};

/// The most that a first visit may load, compressed.
const MOST_KILOBYTES: f64 = 250.0;
/// The longest that a frame may take.
const MOST_FRAME_MS: f64 = 100.0;
const SCRIPT: &str = "web/scripts/bench-page.mjs";
/// The place that a first visit shows. It is loaded by a dynamic import.
const FIRST_PLACE: &str = "Library-";

/// The weight of a first visit: the page, its scripts and styles with what they import, and the library.
pub(super) fn weight(server: &mut Server) -> Result<Vec<Figure>> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec!["".to_owned()];
    let (mut bytes, mut entry) = (0, String::new());
    while let Some(name) = waiting.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        bytes += server.connection.send("GET", &format!("/{name}"), "")?.len();
        let text = plain(server, &name)?;
        if name.is_empty() {
            waiting.extend(between(&text, "=\"/assets/", "\"").map(|file| format!("assets/{file}")));
            entry =
                waiting.iter().find(|name| name.ends_with(".js")).context("the page has a script")?.clone();
        } else if name.ends_with(".js") {
            let imported = ["from\"./", "import\"./"].into_iter().flat_map(|mark| between(&text, mark, "\""));
            waiting.extend(imported.map(|file| format!("assets/{file}")));
        }
        if name == entry {
            let files = between(&text, "\"assets/", "\"").filter(|file| file.starts_with(FIRST_PLACE));
            waiting.extend(files.map(|file| format!("assets/{file}")));
        }
    }
    ensure!(seen.iter().any(|name| name.contains(FIRST_PLACE)), "no script of the library in {seen:?}");
    println!("first load: {} files", seen.len());
    let kilobytes = bytes as f64 / 1024.0;
    Ok(vec![Figure::at_most("first load of the page, compressed", "KB", kilobytes, MOST_KILOBYTES)])
}

/// The content of a file, not compressed.
fn plain(server: &Server, name: &str) -> Result<String> {
    let mut connection = Connection::open(server.address)?;
    let content = connection.send_plain("GET", &format!("/{name}"))?;
    Ok(String::from_utf8_lossy(content).into_owned())
}

fn between<'a>(text: &'a str, before: &'static str, after: &'static str) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).filter_map(move |rest| rest.split(after).next())
}

/// Opens the library in a browser and types into its search. Without Node or a browser, says so.
pub(super) fn frames(server: &Server) -> Result<Vec<Figure>> {
    let address = format!("http://{}/?token={TOKEN}", server.address);
    let ran = Command::new("node").arg(Path::new(SCRIPT)).arg(&address).output();
    let output = match ran {
        Ok(output) if output.status.success() => output,
        Ok(output) => {
            println!("!!! the page is NOT measured: {} !!!", String::from_utf8_lossy(&output.stderr).trim());
            return Ok(Vec::new());
        }
        Err(error) => {
            println!("!!! the page is NOT measured: node does not start: {error} !!!");
            return Ok(Vec::new());
        }
    };
    let measured: Value = serde_json::from_slice(&output.stdout).context("the figures of the page")?;
    let number = |name: &str| measured[name].as_f64().with_context(|| format!("{name} in {measured}"));
    println!(
        "page: first paint after {:.0} ms, first personas after {:.0} ms with {:.0} KB, results {:.0} ms after a key",
        number("first_paint_ms")?,
        number("first_personas_ms")?,
        number("kilobytes")?,
        number("results_ms")?,
    );
    let longest = number("longest_frame_ms")?;
    let bare = number("bare_longest_frame_ms")?;
    Ok(vec![
        Figure::at_most("page: longest frame while typing", "ms", longest, MOST_FRAME_MS),
        Figure::new("page: longest frame beside an empty page", "ms", longest, bare, None),
        Figure::new(
            "page: longest task while typing, CPU",
            "ms",
            number("longest_task_ms")?,
            MOST_FRAME_MS,
            None,
        ),
    ])
}
