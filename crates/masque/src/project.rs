//! The project: which directory it is, and how that was found out.

use std::path::{Path, PathBuf};

use app::Code;
use app::project::FILE_NAME;

use crate::failure::{Failure, Result};

mod connections;
pub(crate) use connections::Connections;

/// The variable that names the project where no flag does.
const VARIABLE: &str = "MASQUE_PROJECT";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) found: Found,
    has_file: bool,
}

/// How the project was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Flag,
    Variable,
    /// The nearest directory upwards that has a personas.toml.
    File,
    /// The root of the git repository.
    Repository,
    /// There is nothing to go by but the working directory.
    WorkingDirectory,
}

impl Found {
    /// Whether somebody said which project is meant.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Flag | Self::Variable)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "named by --project",
            Self::Variable => "named by MASQUE_PROJECT",
            Self::File => "the nearest directory upwards with a personas.toml",
            Self::Repository => "the root of the git repository",
            Self::WorkingDirectory => "the working directory",
        }
    }
}

impl Project {
    /// The project that is named, or the one around the working directory; none where that
    /// directory is gone or somebody else's.
    pub(crate) fn find(named: Option<&Path>, home: Option<&Path>) -> Result<Option<Self>> {
        let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        match (named, &variable) {
            (Some(root), _) => Self::named(root, Found::Flag).map(Some),
            (None, Some(root)) => Self::named(root, Found::Variable).map(Some),
            (None, None) => {
                Ok(std::env::current_dir().ok().and_then(|directory| Self::around(&directory, home)))
            }
        }
    }

    /// What to say of a personas.toml around the working directory that is not read, as its directory
    /// is somebody else's.
    pub(crate) fn passed_over(home: Option<&Path>) -> Option<String> {
        let file = app::project::passed_over(&std::env::current_dir().ok()?, home)?;
        let root = file.parent()?.display();
        Some(format!(
            "{} is not read, since its directory is somebody else's; if you trust what it says, repeat with --project {root}",
            file.display()
        ))
    }

    fn named(root: &Path, found: Found) -> Result<Self> {
        if !root.is_dir() {
            let (shown, how) = (root.display(), found.as_str());
            return Err(Failure::told(
                Code::FileNotFound,
                format!("{shown}, {how}, is not a directory; name the one that {FILE_NAME} stands in"),
            ));
        }
        let root = std::path::absolute(root).map_err(|error| Failure::file("find", root, &error))?;
        Ok(Self { has_file: root.join(FILE_NAME).exists(), root, found })
    }

    pub(crate) fn around(directory: &Path, home: Option<&Path>) -> Option<Self> {
        let app::project::Found { root, has_file } = app::project::find(directory, home)?;
        let found = if has_file {
            Found::File
        } else if root.join(".git").exists() {
            Found::Repository
        } else {
            Found::WorkingDirectory
        };
        Some(Self { root, found, has_file })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.root.join(FILE_NAME)
    }

    /// Whether its personas.toml is a link that leads out of the project.
    pub(crate) fn file_leads_out(&self) -> bool {
        app::project::leads_out(&self.root)
    }

    /// Whether it is open: new personas then belong to it.
    pub(crate) fn is_open(&self) -> bool {
        self.has_file || self.found.is_named()
    }
}
