//! Resolves symbolic links in a path.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links that are followed from one path.
const LINKS: usize = 40;

/// A path with its links followed, whether there is anything at its end or not.
#[derive(Debug)]
pub(super) struct Followed {
    /// Every link on the way.
    pub(super) links: Vec<PathBuf>,
    /// The end of the path, or the last link if there are too many.
    pub(super) end: PathBuf,
    is_endless: bool,
}

pub(super) fn follow(path: &Path) -> Followed {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut ahead: VecDeque<OsString> = path.components().map(|step| step.as_os_str().to_owned()).collect();
    let mut followed = Followed { links: Vec::new(), end: PathBuf::new(), is_endless: false };
    while let Some(step) = ahead.pop_front() {
        if Path::new(&step).components().next() == Some(Component::ParentDir) {
            followed.end.pop();
            continue;
        }
        let next = followed.end.join(&step);
        match std::fs::read_link(&next) {
            Ok(target) if followed.links.len() < LINKS => {
                followed.links.push(next);
                for step in target.components().rev() {
                    ahead.push_front(step.as_os_str().to_owned());
                }
            }
            Ok(_) => {
                followed.is_endless = true;
                followed.end = next;
            }
            Err(_) => followed.end = next,
        }
    }
    followed
}

/// The file that a path leads to; at the end of a broken link, the one that would be there.
pub(super) fn real(path: &Path) -> io::Result<PathBuf> {
    let followed = follow(path);
    if followed.is_endless {
        return Err(io::Error::other(format!("{} is a link that leads to itself", path.display())));
    }
    Ok(followed.end)
}

/// The first link on the way to a file that leads nowhere.
pub fn dangling(path: &Path) -> Option<PathBuf> {
    follow(path).links.into_iter().find(|link| !link.exists())
}

/// The one path of a file, which is the same before the file and its directories are made.
pub fn canonical(path: &Path) -> PathBuf {
    if let Ok(canonical) = path.canonicalize() {
        return canonical;
    }
    let end = real(path).unwrap_or_else(|_| path.to_owned());
    let there = end.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, canonical)) => match end.strip_prefix(above) {
            Ok(rest) if !rest.as_os_str().is_empty() => canonical.join(rest),
            _ => canonical,
        },
        None => end,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_the_same_before_and_after_its_file_is_made() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |path: &str| home.path().join(path);
        fs::create_dir(at("real")).expect("a directory");
        symlink("real", at("config")).expect("a link");
        symlink("../dots/p.toml", at("real/linked.toml")).expect("a link");
        symlink(at("elsewhere/masque"), at("masque")).expect("a link");
        for (path, leads_to) in [
            ("config/masque/personas.toml", "real/masque/personas.toml"),
            ("config/linked.toml", "dots/p.toml"),
            ("masque/personas.toml", "elsewhere/masque/personas.toml"),
            ("config/../real/new.toml", "real/new.toml"),
        ] {
            let before = canonical(&at(path));
            let target = at(leads_to);
            fs::create_dir_all(target.parent().expect("a parent")).expect("a directory");
            fs::write(&target, "").expect("it can be written");
            assert_eq!(before, at(path).canonicalize().expect("it is there"), "{path}");
            assert_eq!(before, canonical(&at(path)));
        }
        symlink("self", at("self")).expect("a link");
        assert!(real(&at("self/p.toml")).is_err());
        assert_eq!(
            canonical(&at("self/p.toml")),
            home.path().canonicalize().expect("it is there").join("self/p.toml")
        );
    }
}
