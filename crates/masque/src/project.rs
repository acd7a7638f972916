//! The project directory, and how it was found.

use std::path::{Path, PathBuf};

use app::project::FILE_NAME;

use crate::failure::{CommandError, Failure, Result};

mod connections;
pub(crate) use connections::{Connections, read_text};

/// The variable that names the project if no flag does.
const VARIABLE: &str = "MASQUE_PROJECT";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) root: PathBuf,
    pub(crate) origin: ProjectOrigin,
    has_file: bool,
}

/// How the project was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectOrigin {
    Flag,
    Variable,
    /// The nearest directory upwards that has a personas.toml.
    File,
    /// The root of the git repository.
    Repository,
    /// The working directory, if nothing else is known.
    WorkingDirectory,
}

impl ProjectOrigin {
    /// True if the user named the project.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Flag | Self::Variable)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "named by --project",
            Self::Variable => "named by MASQUE_PROJECT",
            Self::File => "the nearest parent directory with a personas.toml",
            Self::Repository => "the root of the git repository",
            Self::WorkingDirectory => "the working directory",
        }
    }
}

impl Project {
    /// Finds the named project, or the one around the working directory. None if the working
    /// directory is gone or belongs to another user.
    pub(crate) fn find(named: Option<&Path>, home: Option<&Path>) -> Result<Option<Self>> {
        let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        match (named, &variable) {
            (Some(root), _) => Self::named(root, ProjectOrigin::Flag).map(Some),
            (None, Some(root)) => Self::named(root, ProjectOrigin::Variable).map(Some),
            (None, None) => {
                Ok(std::env::current_dir().ok().and_then(|directory| Self::around(&directory, home)))
            }
        }
    }

    /// A warning about a personas.toml around the working directory that is skipped because another
    /// user owns its directory.
    pub(crate) fn passed_over(home: Option<&Path>) -> Option<String> {
        Self::passed_over_at(&std::env::current_dir().ok()?, home)
    }

    /// The same for another directory.
    pub(crate) fn passed_over_at(directory: &Path, home: Option<&Path>) -> Option<String> {
        let file = app::project::passed_over(directory, home)?;
        let root = file.parent()?.display();
        Some(format!(
            "{} is not read: its directory belongs to another user; if you trust it, use --project {root}",
            file.display()
        ))
    }

    fn named(root: &Path, origin: ProjectOrigin) -> Result<Self> {
        if !root.is_dir() {
            let (path, how) = (root.display().to_string(), Some(origin.as_str()));
            return Err(CommandError::NotADirectory { path, how, exists: root.exists() }.into());
        }
        let root = std::path::absolute(root).map_err(|error| Failure::file("find", root, &error))?;
        Ok(Self { has_file: root.join(FILE_NAME).exists(), root, origin })
    }

    pub(crate) fn around(directory: &Path, home: Option<&Path>) -> Option<Self> {
        let app::project::ProjectDirectory { root, has_file } = app::project::find(directory, home)?;
        let origin = if has_file {
            ProjectOrigin::File
        } else if root.join(".git").exists() {
            ProjectOrigin::Repository
        } else {
            ProjectOrigin::WorkingDirectory
        };
        Some(Self { root, origin, has_file })
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.root.join(FILE_NAME)
    }

    /// True if its personas.toml is a link out of the project.
    pub(crate) fn file_leads_out(&self) -> bool {
        app::project::leads_out(&self.root)
    }

    /// True if the project is open. New personas then belong to it.
    pub(crate) fn is_open(&self) -> bool {
        self.has_file || self.origin.is_named()
    }
}
