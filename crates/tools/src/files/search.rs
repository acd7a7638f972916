//! `search_files`.

use std::fmt::Write;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::Dir;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::guard::refuse_secret;
use super::ignored::refuse_git;
use super::root::{Root, open_regular, shown};
use super::walk::{Ended, Walk, Watch};
use crate::Consent;
use crate::input::parsed;
use crate::limits;
use crate::text::shortened;

#[derive(Debug, Deserialize)]
struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    max: Option<u64>,
}

pub(super) fn run(
    root: &Root,
    input: Map<String, Value>,
    watch: &Watch,
    consent: Consent,
) -> Result<String, String> {
    let input: Input = parsed(input)?;
    let matcher = matcher(&input)?;
    let path = root.relative(input.path.as_deref().unwrap_or("."))?;
    let mut search = Search {
        matcher,
        searcher: searcher(input.context),
        watch,
        text: String::new(),
        matches: 0,
        most: input.max.unwrap_or(limits::SEARCH_MATCHES).min(limits::MOST_SEARCH_MATCHES),
        files: 0,
        skipped: 0,
        secrets: 0,
        is_full: false,
    };
    let metadata = root.dir().metadata(&path).map_err(|error| root.explain(&path, &error))?;
    let ended = if metadata.is_dir() {
        let walk = Walk::new(root, &path, input.glob.as_deref(), limits::WALK_DEPTH, watch)?;
        walk.run(&mut |found| {
            if root.guard().is_secret(root, found.path) {
                search.secrets += u64::from(found.kind.is_file());
            } else if found.kind.is_file() {
                // A file that is gone or may not be read hides nothing of the others.
                let _ = search.file(found.dir, Path::new(found.name), found.path);
            }
            Ok(if search.is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?
    } else {
        refuse_git(&root.resolved(&path)?)?;
        refuse_secret(root, &path, consent)?;
        search.file(root.dir(), &path, &path).map_err(|error| root.explain(&path, &error))?;
        if watch.is_over() { Ended::Time } else { Ended::Complete }
    };
    Ok(search.answer(ended))
}

fn matcher(input: &Input) -> Result<RegexMatcher, String> {
    let built = RegexMatcherBuilder::new()
        .case_insensitive(input.ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(limits::SEARCH_PATTERN_BYTES)
        .dfa_size_limit(limits::SEARCH_PATTERN_BYTES)
        .nest_limit(100)
        .build(&input.pattern);
    built.map_err(|error| {
        let error = shortened(&error.to_string(), 1_000);
        format!("the pattern cannot be used: {error}\nTo search for text as it is, put \\ before ( ) [ ] {{ }} . * + ? ^ $ | \\")
    })
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(limits::SEARCH_LINE_BYTES))
        .memory_map(MmapChoice::never())
        .build()
}

struct Search<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    watch: &'a Watch,
    text: String,
    matches: u64,
    most: u64,
    files: u64,
    /// Files that were too large, or had a line that was.
    skipped: u64,
    /// Files that usually hold secrets. They are searched only by name, with the user's consent.
    secrets: u64,
    is_full: bool,
}

impl Search<'_> {
    fn file(&mut self, dir: &Dir, name: &Path, path: &Path) -> io::Result<()> {
        let (file, metadata) = open_regular(dir, name)?;
        if metadata.len() > limits::FILE_BYTES {
            self.skipped += 1;
            return Ok(());
        }
        let (before, matches_before) = (self.text.len(), self.matches);
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let _ = writeln!(self.text, "{separator}{}", shown(path));
        let mut searcher = self.searcher.clone();
        let matcher = self.matcher.clone();
        let searched = searcher.search_reader(&matcher, file, OneFile { search: self });
        if searched.is_err() {
            self.skipped += 1;
        }
        if self.matches == matches_before {
            self.text.truncate(before);
        } else {
            self.files += 1;
        }
        Ok(())
    }

    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) -> bool {
        let line = String::from_utf8_lossy(bytes);
        let line = shortened(line.trim_end_matches(['\n', '\r']), limits::SEARCH_LINE_CHARS);
        if self.text.len() + line.len() + 32 > limits::FILES_ANSWER_BYTES {
            self.is_full = true;
            return false;
        }
        let _ = writeln!(self.text, "{}{mark} {line}", number.unwrap_or_default());
        true
    }

    fn answer(mut self, ended: Ended) -> String {
        let mut notes = Vec::new();
        if self.matches == 0 {
            notes.push("no match; ignored, hidden and binary files were left out".to_owned());
        } else if self.is_full {
            notes.push(format!(
                "stopped after {} matching lines; narrow the pattern, the path or the glob",
                self.matches
            ));
        } else {
            notes.push(format!("matching lines: {}, files: {}", self.matches, self.files));
        }
        if self.skipped > 0 {
            notes.push(format!("files not searched to the end, being too large: {}", self.skipped));
        }
        if self.secrets > 0 {
            notes.push(format!("files left out that usually hold secrets: {}", self.secrets));
        }
        let _ = write!(self.text, "{}[{}]", if self.text.is_empty() { "" } else { "\n" }, notes.join("; "));
        if let Some(note) = ended.note() {
            let _ = write!(self.text, "\n{note}");
        }
        self.text
    }
}

struct OneFile<'s, 'a> {
    search: &'s mut Search<'a>,
}

impl Sink for OneFile<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.search.matches >= self.search.most {
            self.search.is_full = true;
            return Ok(false);
        }
        if !self.search.line(found.line_number(), ':', found.bytes()) {
            return Ok(false);
        }
        self.search.matches += 1;
        Ok(!self.search.watch.is_over())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        // The lines after the last match still belong to it; those before one too many do not.
        Ok(self.search.line(context.line_number(), '-', context.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.search.text.push_str("--\n");
        Ok(true)
    }
}
