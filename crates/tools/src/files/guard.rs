//! Paths that need the user's consent: protected ones before they are written, secret ones before they
//! are read.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::root::{Root, shown};
use crate::Consent;

/// Files that usually hold secrets, as patterns of gitignore.
pub(crate) const SECRETS: &[&str] = &[
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "!id_*.pub",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    "credentials.json",
    "service-account*.json",
    ".ssh/",
    ".gnupg/",
    ".aws/",
    ".azure/",
    ".kube/",
    ".config/gcloud/",
    ".config/gh/",
    ".docker/config.json",
];

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
    secrets: Gitignore,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("own", &self.own).finish_non_exhaustive()
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self { own: Vec::new(), included: Arc::new(Vec::new), secrets: patterns(SECRETS.iter().copied()) }
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

    /// Replaces the patterns of secret files. Invalid patterns are skipped.
    pub fn with_secrets<'a>(mut self, secrets: impl IntoIterator<Item = &'a str>) -> Self {
        self.secrets = patterns(secrets);
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
            || is_in_repository(root.dir(), path)
    }

    /// True if the file usually holds secrets.
    pub(super) fn is_secret(&self, root: &Root, path: &Path) -> bool {
        let absolute = root.path().join(path);
        self.secrets.matched_path_or_any_parents(&absolute, false).is_ignore()
    }
}

fn patterns<'a>(lines: impl IntoIterator<Item = &'a str>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("/");
    let _ = builder.case_insensitive(true);
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn is_same(included: &Path, absolute: &Path) -> bool {
    included == absolute || included.canonicalize().is_ok_and(|real| real == absolute)
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
