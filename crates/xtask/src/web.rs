//! The page in `web`: built with npm when its sources changed.
//!
//! A stamp in `web/dist` has the hash of the sources of that build. `serve` runs this without any
//! dependency.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Directories of `web` that are made, not written.
const MADE: [&str; 4] = ["node_modules", "dist", "test-results", "coverage"];
/// The hash of the sources that `dist` was built from.
const STAMP: &str = "dist/.stamp";
/// The hash of the list of packages that `node_modules` was installed from.
const INSTALLED: &str = "node_modules/.masque-stamp";
/// Writes a compressed copy beside each file of `dist`.
const COMPRESS: &str = include_str!("web/compress.mjs");

/// The sources of the page.
pub(crate) struct Page {
    directory: PathBuf,
}

/// The outcome of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Built {
    Now,
    Before,
    NoPage,
    NoNode,
}

impl Built {
    #[cfg(feature = "chores")]
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Now => "built",
            Self::Before => "up to date",
            Self::NoPage => "there is none",
            Self::NoNode => "npm was not found",
        }
    }

    /// Tells the user what the server will do without.
    pub(crate) fn tell(self) {
        if self == Self::NoNode {
            eprintln!("xtask: npm was not found, so the server has no page; install Node 20 or newer");
        }
    }
}

/// Builds the page of this workspace if its sources changed.
pub(crate) fn build() -> Result<Built, String> {
    match Page::find() {
        Some(page) => page.build(),
        None => Ok(Built::NoPage),
    }
}

impl Page {
    /// The page of this workspace, if it has one.
    pub(crate) fn find() -> Option<Self> {
        Self::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web"))
    }

    fn at(directory: PathBuf) -> Option<Self> {
        directory.join("package.json").is_file().then_some(Self { directory })
    }

    /// npm with these arguments.
    pub(crate) fn npm(&self, arguments: &[&str]) -> Command {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(&self.directory);
        npm
    }

    fn build(&self) -> Result<Built, String> {
        let unreadable = |error: io::Error| format!("web cannot be read: {error}");
        let sources = self.hash_of_sources().map_err(unreadable)?;
        if self.has_stamp(STAMP, sources) && self.directory.join("dist/index.html").is_file() {
            return Ok(Built::Before);
        }
        if Command::new("npm").arg("--version").output().is_err() {
            return Ok(Built::NoNode);
        }
        self.install()?;
        eprintln!("xtask: building the page");
        self.run(self.npm(&["run", "--silent", "build"]))?;
        let mut compress = Command::new("node");
        compress.args(["--input-type=module", "--eval", COMPRESS]).current_dir(self.directory.join("dist"));
        self.run(compress)?;
        // Written last, so that a build that failed is tried again.
        self.write_stamp(STAMP, sources)?;
        Ok(Built::Now)
    }

    /// Installs the packages unless they are there.
    fn install(&self) -> Result<(), String> {
        let listed = ["package.json", "package-lock.json"];
        let packages = hash(listed.iter().map(|name| (*name, fs::read(self.directory.join(name)).ok())));
        if self.has_stamp(INSTALLED, packages) {
            return Ok(());
        }
        let command = if self.directory.join("package-lock.json").is_file() { "ci" } else { "install" };
        eprintln!("xtask: npm {command} in web");
        self.run(self.npm(&[command, "--no-audit", "--no-fund"]))?;
        // A page without packages has no such directory.
        fs::create_dir_all(self.directory.join("node_modules")).map_err(|error| error.to_string())?;
        self.write_stamp(INSTALLED, packages)
    }

    fn run(&self, mut command: Command) -> Result<(), String> {
        let program = command.get_program().to_string_lossy().into_owned();
        match command.status().as_ref().map(ExitStatus::success) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the page was not built: {program} failed in web")),
            Err(error) => Err(format!("could not start {program}: {error}")),
        }
    }

    fn has_stamp(&self, stamp: &str, hash: u64) -> bool {
        fs::read_to_string(self.directory.join(stamp)).is_ok_and(|text| text == format!("{hash:016x}"))
    }

    fn write_stamp(&self, stamp: &str, hash: u64) -> Result<(), String> {
        fs::write(self.directory.join(stamp), format!("{hash:016x}"))
            .map_err(|error| format!("{stamp} cannot be written: {error}"))
    }

    fn hash_of_sources(&self) -> io::Result<u64> {
        let mut files = BTreeMap::new();
        read_below(&self.directory, Path::new(""), &mut files)?;
        Ok(hash(files))
    }
}

fn read_below(root: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), below.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            let is_made = below == Path::new("") && MADE.iter().any(|made| name == *made);
            if !is_made {
                read_below(root, &path, files)?;
            }
        } else {
            files.insert(path.clone(), fs::read(root.join(path))?);
        }
    }
    Ok(())
}

/// A change of a file, of its name, or of this compiler, which may hash otherwise, builds again.
fn hash<T: std::hash::Hash>(items: impl IntoIterator<Item = T>) -> u64 {
    let mut hasher = DefaultHasher::new();
    items.into_iter().for_each(|item| item.hash(&mut hasher));
    hasher.finish()
}

#[cfg(all(test, feature = "chores"))]
mod tests;
