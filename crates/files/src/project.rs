//! Finds the directory of the project.

use std::path::{Path, PathBuf};

use super::links::{self, canonical};

/// The file at a project's root.
pub const FILE_NAME: &str = "personas.toml";

/// A project's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectDirectory {
    pub root: PathBuf,
    /// True if it has a personas.toml.
    pub has_file: bool,
}

/// The nearest ancestor with a personas.toml, else the git root, else the directory itself. The search
/// ends at the home directory, and at a directory of another user: its owner could otherwise put words
/// into the personas of every project below. `None` if the directory itself belongs to another user.
pub fn find(from: &Path, home: Option<&Path>) -> Option<ProjectDirectory> {
    let (from, home) = (real(from), home.map(real));
    if !is_ours(&from) {
        return None;
    }
    let mut git_root = None;
    for directory in from.ancestors() {
        let is_start = directory == from;
        if !is_start && (home.as_deref() == Some(directory) || !is_ours(directory)) {
            break;
        }
        if has_file(directory) {
            return Some(ProjectDirectory { root: directory.to_owned(), has_file: true });
        }
        if git_root.is_none() && directory.join(".git").exists() {
            git_root = Some(directory.to_owned());
        }
        // The directories around the home directory are not the user's projects.
        if home.as_deref() == Some(directory) {
            break;
        }
    }
    Some(ProjectDirectory { root: git_root.unwrap_or(from), has_file: false })
}

/// The personas.toml that would be the project's, but is behind a directory of another user.
pub fn passed_over(from: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let (from, home) = (real(from), home.map(real));
    let within = |directory: &&Path| *directory == from || home.as_deref() != Some(*directory);
    let root = from.ancestors().take_while(within).find(|directory| has_file(directory))?;
    let mut way = from.ancestors().take_while(|directory| directory.starts_with(root));
    way.any(|directory| !is_ours(directory)).then(|| root.join(FILE_NAME))
}

fn real(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// True if a directory has a personas.toml. A dangling link counts: its author does not mean a file
/// further up.
fn has_file(directory: &Path) -> bool {
    let file = directory.join(FILE_NAME);
    file.is_file() || file.is_symlink() && !file.exists()
}

/// True if the project's personas.toml is a link to a file outside, existing or not.
pub fn leads_out(root: &Path) -> bool {
    let file = root.join(FILE_NAME);
    // A link to itself can be neither read nor written, which the reader reports.
    file.is_symlink() && links::real(&file).is_ok() && !canonical(&file).starts_with(canonical(root))
}

/// True if the user of this process owns a directory.
#[cfg(unix)]
fn is_ours(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let owner = std::fs::metadata(directory).map(|data| data.uid());
    owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_ours(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILE_NAME, ProjectDirectory};

    fn find(from: &std::path::Path, home: Option<&std::path::Path>) -> ProjectDirectory {
        super::find(from, home).expect("the directory is ours")
    }

    #[test]
    fn the_nearest_file_wins_then_git_then_the_directory_itself() {
        let tree = tempfile::tempdir().expect("a directory");
        let top = tree.path().canonicalize().expect("it is there");
        let deep = top.join("repo/crates/one");
        fs::create_dir_all(&deep).expect("directories");
        let found = |home| find(&deep, home);
        assert_eq!(found(Some(top.as_path())).root, deep);

        fs::create_dir(top.join("repo/.git")).expect("a directory");
        let git = found(Some(top.as_path()));
        assert_eq!((git.root, git.has_file), (top.join("repo"), false));

        fs::write(top.join("repo/crates").join(FILE_NAME), "").expect("a file");
        let near = found(Some(top.as_path()));
        assert_eq!((near.root, near.has_file), (top.join("repo/crates"), true));
    }

    #[test]
    fn the_search_stops_at_home() {
        let tree = tempfile::tempdir().expect("a directory");
        let home = tree.path().canonicalize().expect("it is there");
        let work = home.join("work");
        fs::create_dir(&work).expect("a directory");
        fs::write(home.join(FILE_NAME), "").expect("a file");
        assert_eq!(find(&work, Some(&home)).root, work, "a file in the home directory is not a project");
        let there = find(&home, Some(&home));
        assert_eq!((there.root, there.has_file), (home.clone(), true), "unless one works right there");
        assert_eq!(find(&work, None).root, home);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_a_file_wherever_it_leads() {
        use std::os::unix::fs::symlink;

        let tree = tempfile::tempdir().expect("a directory");
        let top = tree.path().canonicalize().expect("it is there");
        let root = top.join("root");
        fs::create_dir_all(root.join("sub")).expect("directories");
        fs::write(top.join(FILE_NAME), "").expect("a file");
        fs::write(root.join("sub/there.toml"), "").expect("a file");
        symlink(&top, root.join("up")).expect("a link");
        for (target, leads_out) in [
            ("sub/there.toml", false),
            ("sub/none.toml", false),
            ("none/none.toml", false),
            (FILE_NAME, false),
            ("../personas.toml", true),
            ("../none.toml", true),
            ("up/none.toml", true),
        ] {
            symlink(target, root.join(FILE_NAME)).expect("a link");
            assert_eq!(super::leads_out(&root), leads_out, "{target}");
            let found = find(&root.join("sub"), None);
            assert_eq!((found.root, found.has_file), (root.clone(), true), "{target}");
            fs::remove_file(root.join(FILE_NAME)).expect("it is there");
        }
        assert!(!super::leads_out(&root) && !super::leads_out(&top));
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_of_another_user_is_not_a_project() {
        let tree = tempfile::tempdir().expect("a directory");
        let theirs = tree.path().canonicalize().expect("it is there").join("theirs");
        let ours = theirs.join("ours");
        fs::create_dir_all(&ours).expect("directories");
        fs::write(theirs.join(FILE_NAME), "").expect("a file");
        assert_eq!(find(&ours, None).root, theirs);
        // Only root can give a directory away. Other users have one of another owner at hand.
        let theirs = match std::os::unix::fs::chown(&theirs, Some(12_345), None) {
            Ok(()) => {
                assert_eq!(find(&ours, None).root, ours, "the directory above is not searched");
                let below = theirs.join("below");
                fs::create_dir(&below).expect("a directory");
                std::os::unix::fs::chown(&below, Some(12_345), None).expect("it is given away");
                for from in [&ours, &theirs, &below] {
                    assert_eq!(super::passed_over(from, None), Some(theirs.join(FILE_NAME)));
                }
                assert_eq!(super::passed_over(&ours, Some(&theirs)), None);
                fs::write(ours.join(FILE_NAME), "").expect("a file");
                assert_eq!(super::passed_over(&ours, None), None, "the nearest is ours");
                theirs
            }
            Err(_) => "/".into(),
        };
        assert_eq!(super::find(&theirs, None), None);
    }
}
