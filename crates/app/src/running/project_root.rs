//! The directories that sessions may see.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Result, SessionError};

/// The open project. Sessions see its directory or one inside it.
#[derive(Debug, Clone)]
pub(super) struct ProjectRoot(Option<Arc<Path>>);

impl ProjectRoot {
    pub(super) fn new(project: Option<PathBuf>) -> Self {
        Self(project.map(Arc::from))
    }

    /// The directory of a new session; the project's by default. Links must not lead out of the project.
    pub(super) fn resolve(&self, requested: Option<&Path>) -> Result<Option<String>> {
        let Some(open) = self.0.as_deref() else {
            return match requested {
                None => Ok(None),
                Some(_) => Err(SessionError::NoProject.into()),
            };
        };
        let wanted = requested.map_or_else(|| open.to_owned(), |requested| open.join(requested));
        let real = |path: &Path| {
            path.canonicalize().map_err(|source| SessionError::Root { path: path.to_owned(), source })
        };
        let project = real(open)?;
        let found = if wanted == *open { project.clone() } else { real(&wanted)? };
        if !found.starts_with(&project) {
            return Err(SessionError::Outside { wanted, project }.into());
        }
        if !found.is_dir() {
            return Err(SessionError::NotADirectory(wanted).into());
        }
        match found.to_str() {
            Some(root) => Ok(Some(root.to_owned())),
            None => Err(SessionError::NotText(found).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn refused(root: &ProjectRoot, requested: &str) -> SessionError {
        match root.resolve(Some(Path::new(requested))) {
            Err(Error::Session(error)) => error,
            other => panic!("{requested}: {other:?}"),
        }
    }

    #[test]
    fn a_root_is_a_directory_inside_the_project() {
        let outside = tempfile::tempdir().expect("a tree of directories");
        let project = outside.path().join("project");
        std::fs::create_dir_all(project.join("inner")).expect("a tree of directories");
        std::fs::write(project.join("file"), "").expect("a tree of directories");
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), project.join("link")).expect("a tree of directories");
        let root = ProjectRoot::new(Some(project.clone()));
        let project = project.canonicalize().expect("a tree of directories");
        assert_eq!(root.resolve(None).expect("no root is fine").as_deref(), project.to_str());
        let inner = root.resolve(Some(Path::new("inner"))).expect("it is inside");
        assert_eq!(inner.as_deref(), project.join("inner").to_str());
        assert!(matches!(refused(&root, "file"), SessionError::NotADirectory(_)));
        assert!(matches!(refused(&root, ".."), SessionError::Outside { .. }));
        assert!(matches!(refused(&root, "missing"), SessionError::Root { .. }));
        #[cfg(unix)]
        assert!(matches!(refused(&root, "link"), SessionError::Outside { .. }));
    }

    #[test]
    fn without_a_project_there_is_no_root() {
        let root = ProjectRoot::new(None);
        assert_eq!(root.resolve(None).expect("no root is fine"), None);
        assert!(matches!(refused(&root, "inner"), SessionError::NoProject));
    }
}
