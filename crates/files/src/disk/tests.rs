use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use tempfile::TempDir;

use super::*;

pub(super) fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it can be listed");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub(super) fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("it is text")
}

#[test]
fn a_file_is_replaced_from_beside_it() {
    let home = directory();
    let file = home.path().join("personas.toml");
    fs::write(&file, "").expect("it is written");
    assert!(check_replaceable(&file).is_ok());
    assert_eq!(names(home.path()), ["personas.toml"]);
    // No process can create files there.
    #[cfg(target_os = "linux")]
    {
        let error = check_replaceable(Path::new("/proc/self/status")).expect_err("refused");
        assert!(matches!(&error, Error::File { path, .. } if path == "/proc/self/status"), "{error:?}");
    }
}

#[test]
fn a_file_is_made_with_its_directories_and_replaced() {
    let home = directory();
    let path = home.path().join("config/masque/personas.toml");
    assert_eq!(read_bytes(&path).expect("no file is not an error"), None);
    replace(&path, None, b"one").expect("it is made");
    replace(&path, Some(b"one"), b"two").expect("it is replaced");
    assert_eq!(read_bytes(&path).expect("it can be read"), Some(b"two".to_vec()));
    assert_eq!(names(path.parent().expect("a parent")), ["personas.toml"]);
}

#[test]
fn a_concurrent_save_stays() {
    let home = directory();
    let path = home.path().join("a.toml");
    fs::write(&path, "theirs").expect("it can be written");
    assert!(matches!(replace(&path, None, b"ours"), Err(ReplaceError::Changed)));
    assert!(matches!(replace(&path, Some(b"older"), b"ours"), Err(ReplaceError::Changed)));
    assert_eq!(text(&path), "theirs");
    fs::remove_file(&path).expect("it can be deleted");
    assert!(matches!(replace(&path, Some(b"theirs"), b"ours"), Err(ReplaceError::Changed)));
    assert!(names(home.path()).is_empty(), "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn rights_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = directory();
    fs::create_dir(home.path().join("dotfiles")).expect("a directory");
    let (file, link) = (home.path().join("dotfiles/p.toml"), home.path().join("personas.toml"));
    fs::write(&file, "one").expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("rights");
    symlink("dotfiles/p.toml", &link).expect("a link");
    replace(&link, Some(b"one"), b"two").expect("it is replaced");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(text(&file), "two");
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);

    let dangling = home.path().join("other.toml");
    symlink("dotfiles/other.toml", &dangling).expect("a link");
    replace(&dangling, None, b"new").expect("its target is made");
    assert_eq!(text(&home.path().join("dotfiles/other.toml")), "new");
    symlink("self", home.path().join("self")).expect("a link");
    assert!(matches!(replace(&home.path().join("self"), None, b"x"), Err(ReplaceError::Io(_))));
}

#[test]
fn a_file_beyond_bounds_is_refused() {
    let home = directory();
    let path = home.path().join("a.toml");
    let file = File::create(&path).expect("a file");
    file.set_len(limits::FILE_BYTES as u64 + 1).expect("a long one");
    assert!(matches!(read_bytes(&path), Err(Error::TooLarge { most: limits::FILE_BYTES, .. })));
    assert!(matches!(read_bytes(home.path()), Err(Error::NotAFile { .. })));
    #[cfg(unix)]
    {
        let pipe = home.path().join("pipe.toml");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success(), "{made}");
        assert!(
            matches!(read_bytes(&pipe), Err(Error::NotAFile { .. })),
            "a pipe without a writer is not a file"
        );
    }
}

#[test]
fn a_lock_keeps_others_out_until_it_is_dropped() {
    let home = directory();
    let short = Duration::from_millis(60);
    let held = Lock::acquire(home.path(), "/a", short).expect("it is free");
    assert!(matches!(Lock::acquire(home.path(), "/a", short), Err(Error::FileBusy { .. })));
    Lock::acquire(home.path(), "/b", short).expect("another file is another lock");
    drop(held);
    Lock::acquire(home.path(), "/a", short).expect("it is free again");
}

/// Adds lines to a file until `done`, and returns those that were acknowledged.
fn writer(who: &'static str, path: &Path, locks: &Path, done: &Arc<AtomicBool>) -> JoinHandle<Vec<String>> {
    let (path, locks, done) = (path.to_owned(), locks.to_owned(), Arc::clone(done));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        while !done.load(Ordering::SeqCst) {
            let lock = Lock::acquire(&locks, "a", Duration::from_secs(30)).expect("it comes free");
            let old = read_bytes(&path).expect("it can be read").expect("it is there");
            let line = format!("{who} {}\n", kept.len());
            let new = [&old[..], line.as_bytes()].concat();
            match replace(&path, Some(&old), &new) {
                Ok(()) => kept.push(line),
                Err(ReplaceError::Changed) => {}
                Err(ReplaceError::Io(error) | ReplaceError::Unsettled(error)) => panic!("{error}"),
            }
            drop(lock);
            // Leaves the others their turn.
            std::thread::sleep(Duration::from_millis(10));
        }
        kept
    })
}

#[test]
fn writers_lose_nothing_to_each_other() {
    let home = directory();
    let (path, locks) = (home.path().join("a.toml"), home.path().join("locks"));
    fs::write(&path, "").expect("it can be written");
    let done = Arc::new(AtomicBool::new(false));
    let writers = ["one", "two"].map(|who| writer(who, &path, &locks, &done));
    std::thread::sleep(Duration::from_millis(300));
    done.store(true, Ordering::SeqCst);
    let kept = writers.map(|writer| writer.join().expect("it ends")).concat();
    let end = text(&path);
    assert_eq!(end.lines().count(), kept.len());
    assert!(kept.iter().all(|line| end.contains(line.as_str())));
    assert_eq!(names(home.path()), ["a.toml", "locks"], "nothing is left behind");
}

/// An editor renames over the file and takes no lock. Its save stays until its next save.
#[test]
fn a_save_by_an_editor_is_never_lost() {
    let home = directory();
    let (path, locks) = (home.path().join("a.toml"), home.path().join("locks"));
    fs::write(&path, "hand 0\n").expect("it can be written");
    let done = Arc::new(AtomicBool::new(false));
    let writers = ["one", "two"].map(|who| writer(who, &path, &locks, &done));
    for turn in 1..=50 {
        let old = text(&path);
        let (_, rest) = old.split_once('\n').expect("it has lines");
        let own = home.path().join("hand.tmp");
        fs::write(&own, format!("hand {turn}\n{rest}")).expect("it can be written");
        fs::rename(&own, &path).expect("it is saved");
        // While the lock is held, no writer is in the middle of a write.
        let _lock = Lock::acquire(&locks, "a", Duration::from_secs(30)).expect("it comes free");
        let now = text(&path);
        assert_eq!(now.lines().next(), Some(format!("hand {turn}").as_str()), "a save is lost");
    }
    // The hand is fast, and may have come before the others each time; now it rests.
    let deadline = Instant::now() + Duration::from_secs(30);
    while text(&path).lines().count() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    done.store(true, Ordering::SeqCst);
    let kept = writers.map(|writer| writer.join().expect("it ends")).concat();
    assert!(!kept.is_empty(), "the others had their turns too");
    assert_eq!(names(home.path()), ["a.toml", "locks"], "nothing is left behind");
}
