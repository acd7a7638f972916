//! Generated sources: packages of 40 files in eight languages, which import and call each other.

mod dialect;

use std::fs;
use std::path::Path;

use anyhow::Result;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use dialect::{DIALECTS, Dialect};

const SEED: u64 = 20_261_119;
const PACKAGE: usize = 40;
/// Files beside the others that an ignore rule hides.
const IGNORED: usize = 200;
const VERBS: [&str; 8] = ["load", "parse", "merge", "count", "render", "check", "store", "resolve"];
const NOUNS: [&str; 10] =
    ["order", "invoice", "route", "ticket", "cache", "reply", "account", "token", "window", "index"];
const SENTENCES: [&str; 5] = [
    "Returns the total after every step, or the limit if that is lower.",
    "Keeps the order of the input, so that two runs give the same answer.",
    "A value above the limit is rotated instead of being cut.",
    "Called once per request; does not allocate.",
    "See the tests of this module for the cases at the edges.",
];

/// A written tree.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) bytes: u64,
    /// A file that imports others, and a task about it.
    pub(super) focus: String,
    pub(super) task: String,
}

/// A file before it is written.
#[derive(Debug)]
struct Module {
    dialect: &'static Dialect,
    package: usize,
    /// The place in the package.
    number: usize,
    stem: String,
    functions: Vec<String>,
}

impl Sources {
    /// Writes a tree into an empty directory.
    pub(super) fn write(root: &Path, files: usize) -> Result<Self> {
        let mut random = StdRng::seed_from_u64(SEED);
        let mut written = Self { bytes: 0, focus: String::new(), task: String::new() };
        fs::create_dir(root.join(".git"))?;
        fs::write(root.join(".gitignore"), "build/\n*.log\n")?;
        fs::create_dir(root.join("build"))?;
        for number in 0..IGNORED {
            fs::write(root.join(format!("build/{number}.rs")), "fn ignored() {}\n")?;
            fs::write(root.join(format!("{number}.log")), "ignored\n")?;
        }
        for package in 0..files.div_ceil(PACKAGE) {
            let dialect = &DIALECTS[package % DIALECTS.len()];
            let size = PACKAGE.min(files - package * PACKAGE);
            let modules: Vec<Module> =
                (0..size).map(|number| Module::new(dialect, package, number, &mut random)).collect();
            fs::create_dir_all(root.join(dialect.directory(package)))?;
            for module in &modules {
                let text = module.text(&modules, &mut random);
                fs::write(root.join(module.path()), &text)?;
                written.bytes += text.len() as u64;
                written.focus = module.path();
                written.task = format!("`{}` counts one order twice", module.functions[0]);
            }
        }
        Ok(written)
    }
}

impl Module {
    fn new(dialect: &'static Dialect, package: usize, number: usize, random: &mut StdRng) -> Self {
        let mut word = |words: &[&str]| words[random.random_range(0..words.len())].to_owned();
        let stem = format!("{}_{}_{number}", word(&NOUNS), word(&VERBS));
        let stem = if dialect.is_root(number) { "lib".to_owned() } else { dialect.type_or_file(&stem) };
        // Most files are small; one in five is large.
        let more = if random.random_bool(0.2) { random.random_range(0..28) } else { 0 };
        let count = random.random_range(1..7) + more;
        let name = |at: usize, random: &mut StdRng| {
            let verb = VERBS[random.random_range(0..VERBS.len())];
            let noun = NOUNS[random.random_range(0..NOUNS.len())];
            dialect.cased(&format!("{verb}_{noun}_{package}_{number}_{at}"))
        };
        let functions = (0..count).map(|at| name(at, random)).collect();
        Self { dialect, package, number, stem, functions }
    }

    fn path(&self) -> String {
        let ending = self.dialect.ending(self.number);
        format!("{}/{}.{ending}", self.dialect.directory(self.package), self.stem)
    }

    fn text(&self, package: &[Self], random: &mut StdRng) -> String {
        let dialect = self.dialect;
        let imported: Vec<&Self> = (0..random.random_range(0..6))
            .map(|_| &package[random.random_range(0..package.len())])
            .filter(|other| other.number != self.number && dialect.is_importable(other.number))
            .collect();
        let mut text = dialect.filled(dialect.header, &[("PACKAGE", &self.package.to_string())]);
        for other in &imported {
            let package = other.package.to_string();
            // The package of the same language before this one.
            let earlier = other.package.saturating_sub(DIALECTS.len()).to_string();
            let of = [
                ("FILE", &other.stem),
                ("NAME", &other.functions[0]),
                ("PACKAGE", &package),
                ("EARLIER", &earlier),
            ];
            text.push_str(&dialect.filled(dialect.import, &of.map(|(key, value)| (key, value.as_str()))));
        }
        let calls: Vec<&str> = imported
            .iter()
            .map(|other| other.functions[0].as_str())
            .chain([self.functions[0].as_str()])
            .collect();
        let name = dialect.type_name(&self.stem);
        text.push_str(&dialect.filled(dialect.opening, &[("TYPE", &name), ("TEXT", sentence(random))]));
        for function in &self.functions {
            let body = self.body(&calls, random);
            let of = [("NAME", function.as_str()), ("TEXT", sentence(random)), ("BODY", &body)];
            text.push_str(&dialect.filled(dialect.function, &of));
        }
        text.push_str(dialect.closing);
        text
    }

    fn body(&self, calls: &[&str], random: &mut StdRng) -> String {
        let mut body = String::new();
        for _ in 0..random.random_range(2..14) {
            let template = if random.random_bool(0.3) { self.dialect.branch } else { self.dialect.statement };
            let number = random.random_range(1..64).to_string();
            let call = calls[random.random_range(0..calls.len())];
            body.push_str(&self.dialect.filled(template, &[("CALL", call), ("N", &number)]));
        }
        body
    }
}

fn sentence(random: &mut StdRng) -> &'static str {
    SENTENCES[random.random_range(0..SENTENCES.len())]
}
