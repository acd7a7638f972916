//! The paths that a ticket may change.

use globset::{Error, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The globs of a scope. A star stays in its directory, two stars do not, and the path of a directory
/// covers what is in it.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Absent: every path.
    globs: Option<GlobSet>,
}

impl Scope {
    /// Fails if a glob is malformed, which [`crate::Track::problems`] finds first.
    pub fn new(globs: &[String]) -> Result<Self, Error> {
        if globs.is_empty() {
            return Ok(Self { globs: None });
        }
        let mut set = GlobSetBuilder::new();
        for written in globs {
            let written = written.trim_start_matches("./").trim_end_matches('/');
            set.add(glob(written)?);
            let last = written.rsplit('/').next().unwrap_or_default();
            if !last.contains(['*', '?', '[', '{']) {
                set.add(glob(&format!("{written}/**"))?);
            }
        }
        Ok(Self { globs: Some(set.build()?) })
    }

    /// True if the path, relative to the root, may be changed.
    pub fn covers(&self, path: &str) -> bool {
        self.globs.as_ref().is_none_or(|globs| globs.is_match(path))
    }

    /// The paths that may not be changed.
    pub fn outside<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        paths.into_iter().filter(|path| !self.covers(path)).map(str::to_owned).collect()
    }
}

pub(crate) fn glob(text: &str) -> Result<Glob, Error> {
    GlobBuilder::new(text).literal_separator(true).build()
}

/// True if a path or a glob is not below the root, by its text alone.
pub(crate) fn leaves_root(path: &str) -> bool {
    let bytes = path.as_bytes();
    let has_drive = bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic);
    has_drive || path.starts_with(['/', '\\', '~']) || path.split(['/', '\\']).any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(globs: &str, path: &str, expected: bool) {
        let globs: Vec<String> = globs.split_whitespace().map(str::to_owned).collect();
        let scope = Scope::new(&globs).expect("the globs are well-formed");
        assert_eq!(scope.covers(path), expected, "{globs:?} {path}");
    }

    #[test]
    fn globs_cover_paths() {
        check("", "any/thing.rs", true);
        check("src/*.rs", "src/a.rs", true);
        check("src/*.rs", "src/a/b.rs", false);
        check("src/**", "src/a/b.rs", true);
        check("src", "src/a/b.rs", true);
        check("src/", "src/a/b.rs", true);
        check("./src", "src/a.rs", true);
        check("src", "srcs/a.rs", false);
        check("src/*", "src/a/b.rs", false);
        check("a.rs b.rs", "b.rs", true);
        check("{a,b}/*.rs", "b/x.rs", true);
        check("docs/**/*.md", "docs/a.md", true);
        check("docs/**/*.md", "docs/a/b/c.md", true);
    }

    #[test]
    fn paths_leave_the_root() {
        for path in ["/etc/passwd", "../a", "a/../../b", "~/x", "C:\\x", "C:x", "a\\..\\b", "\\\\host\\x"] {
            assert!(leaves_root(path), "{path}");
        }
        for path in ["a", "a/b..c", "a/...", "./a", ".github/x", "ab:c"] {
            assert!(!leaves_root(path), "{path}");
        }
    }
}
