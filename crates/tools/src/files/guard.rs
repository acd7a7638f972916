//! Paths that need the user's consent: protected ones before they are written, secret ones before they
//! are read.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::ignored::is_in_git;
use super::root::{Root, shown};
use crate::Consent;

/// The file that defines personas, at the root of a project and elsewhere.
const PERSONAS: &str = "personas.toml";

/// Files that exist in every repository's own store, and in nothing else together.
const REPOSITORY: [&str; 3] = ["HEAD", "objects", "refs"];

type Included = Arc<dyn Fn() -> Vec<PathBuf> + Send + Sync>;

/// The paths that need consent.
#[derive(Clone)]
pub struct Guard {
    /// Directories of the program itself, without links.
    own: Vec<PathBuf>,
    included: Included,
    /// Files that programs of MCP servers start from, in existence or not.
    programs: Vec<PathBuf>,
    secrets: SecretPatterns,
}

/// Patterns of files that usually hold secrets.
#[derive(Debug, Clone)]
pub struct SecretPatterns {
    given: Vec<String>,
    rules: Gitignore,
}

impl PartialEq for SecretPatterns {
    fn eq(&self, other: &Self) -> bool {
        self.given == other.given
    }
}

impl Eq for SecretPatterns {}

impl SecretPatterns {
    /// Reads patterns of gitignore. Fails with the first invalid one.
    pub fn parse<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, SecretPatternError> {
        let mut builder = GitignoreBuilder::new("/");
        let invalid = |pattern: &str| {
            let pattern = pattern.to_owned();
            move |source| SecretPatternError { pattern, source }
        };
        builder.case_insensitive(true).map_err(invalid(""))?;
        let given: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
        for pattern in &given {
            builder.add_line(None, &anywhere(pattern)).map_err(invalid(pattern))?;
        }
        let rules = builder.build().map_err(invalid(""))?;
        Ok(Self { given, rules })
    }

    /// The list that holds unless the user has another one.
    fn stock() -> Self {
        match Self::parse(agent::SECRET_FILES.iter().copied()) {
            Ok(patterns) => patterns,
            Err(error) => unreachable!("the stock patterns are valid: {error}"),
        }
    }
}

/// An invalid gitignore pattern among those of secret files.
#[derive(Debug, thiserror::Error)]
#[error("invalid pattern {pattern:?}")]
pub struct SecretPatternError {
    pub pattern: String,
    #[source]
    pub source: ignore::Error,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            own: Vec::new(),
            included: Arc::new(Vec::new),
            programs: Vec::new(),
            secrets: SecretPatterns::stock(),
        }
    }
}

impl Guard {
    /// Protects the directories of the program itself.
    pub fn with_own(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.own.extend(directories.into_iter().map(|path| path.canonicalize().unwrap_or(path)));
        self
    }

    /// Protects the files from which definitions take their texts, as they are when a call begins.
    pub fn with_included(mut self, included: impl Fn() -> Vec<PathBuf> + Send + Sync + 'static) -> Self {
        self.included = Arc::new(included);
        self
    }

    /// Protects the files that the programs of MCP servers start from, in existence or not: the next run
    /// starts them.
    pub fn with_programs(mut self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        self.programs.extend(files);
        self
    }

    /// Replaces the patterns of secret files.
    pub fn with_secrets(mut self, secrets: SecretPatterns) -> Self {
        self.secrets = secrets;
        self
    }

    /// True if a write to this path decides what Masque or git does later. The path is relative to the root
    /// and has no links.
    pub(super) fn protects(&self, root: &Root, path: &Path) -> bool {
        let is_personas = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(PERSONAS));
        let absolute = root.path().join(path);
        is_personas
            || self.own.iter().any(|own| absolute.starts_with(own))
            || (self.included)().iter().any(|included| is_same(included, &absolute))
            || self.programs.iter().any(|program| leads_to(program, &absolute))
            || is_in_git(path)
            || is_in_repository(root.dir(), path)
    }

    /// True if the file usually holds secrets. The path is absolute.
    pub fn holds_secrets(&self, path: &Path) -> bool {
        self.secrets.rules.matched_path_or_any_parents(path, false).is_ignore()
    }

    /// The same for a path relative to a root.
    pub(super) fn is_secret(&self, root: &Root, path: &Path) -> bool {
        self.holds_secrets(&root.path().join(path))
    }
}

/// A pattern that matches at any depth. One with a slash inside would count from the top of the file system.
fn anywhere(pattern: &str) -> String {
    let (not, plain) = match pattern.strip_prefix('!') {
        Some(plain) => ("!", plain),
        None => ("", pattern),
    };
    let has_inner_slash = plain.trim_end_matches('/').contains('/');
    if has_inner_slash && !plain.starts_with('/') && !plain.starts_with("**/") {
        format!("{not}**/{plain}")
    } else {
        pattern.to_owned()
    }
}

fn is_same(included: &Path, absolute: &Path) -> bool {
    included == absolute || included.canonicalize().is_ok_and(|real| real == absolute)
}

/// True if a path, which may be missing, leads to a file.
fn leads_to(path: &Path, absolute: &Path) -> bool {
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, real)) = existing else { return path == absolute };
    path.strip_prefix(above).is_ok_and(|missing| match missing.as_os_str().is_empty() {
        true => real == absolute,
        false => real.join(missing) == absolute,
    })
}

/// True if a file is, or would be, in the store of a repository that is not called `.git`: a bare one, or
/// one that the write completes.
fn is_in_repository(root: &Dir, path: &Path) -> bool {
    let mut above = PathBuf::from(".");
    for part in path.components() {
        let Component::Normal(next) = part else { return true };
        let has =
            |name: &str| next.eq_ignore_ascii_case(name) || root.symlink_metadata(above.join(name)).is_ok();
        if REPOSITORY.iter().all(|name| has(name)) {
            return true;
        }
        above.push(next);
    }
    false
}

/// Fails if a file usually holds secrets, unless the user consented to the call.
pub(super) fn refuse_secret(root: &Root, path: &Path, consent: Consent) -> Result<(), String> {
    let path = root.expected(path)?;
    match consent == Consent::Missing && root.guard().is_secret(root, &path) {
        true => Err(needs_consent(&path)),
        false => Ok(()),
    }
}

/// The answer to a call without the user's consent. It was asked for with the verdict, unless the path
/// changed since.
pub(super) fn needs_consent(path: &Path) -> String {
    format!("{} needs the user's consent; call the tool again", shown(path))
}
