use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;

/// A change that is not reported after this time counts as missed. Generous, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time without a report after which none is expected.
const SILENCE: Duration = Duration::from_millis(250);

struct Followed {
    directory: TempDir,
    reports: Arc<AtomicUsize>,
    watcher: Watcher,
}

impl Followed {
    fn new(name: &str, before: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        before(directory.path());
        let reports = Arc::new(AtomicUsize::new(0));
        let count = reports.clone();
        let path = directory.path().join(name);
        let watcher = Watcher::start(vec![path], move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        std::thread::sleep(Duration::from_millis(50));
        Self { directory, reports, watcher }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Waits for the next call, and then makes sure that it was the only one.
    fn once(&self, what: &str, act: impl FnOnce()) {
        let before = self.reports.load(Ordering::SeqCst);
        let began = Instant::now();
        act();
        // On a busy machine the steps of one save may lie so far apart that they are two.
        let in_one_go = began.elapsed() < CALM / 2;
        let asked = Instant::now();
        while self.reports.load(Ordering::SeqCst) == before {
            assert!(asked.elapsed() < PATIENCE, "{what} was not reported");
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(SILENCE);
        let times = self.reports.load(Ordering::SeqCst) - before;
        assert!(times == 1 || !in_one_go, "{what} was reported {times} times");
    }

    fn never(&self, what: &str, act: impl FnOnce()) {
        let before = self.reports.load(Ordering::SeqCst);
        act();
        std::thread::sleep(SILENCE);
        assert_eq!(self.reports.load(Ordering::SeqCst), before, "{what} was reported");
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("it can be written");
}

#[test]
fn every_way_to_save_is_reported_once() {
    let followed = Followed::new("a.toml", |directory| write(&directory.join("a.toml"), "one"));
    assert_eq!(followed.watcher.mode(), WatchMode::Native);
    let path = followed.path("a.toml");
    followed.once("truncating and writing", || write(&path, "two"));
    followed.once("renaming over", || {
        write(&followed.path("a.toml.new"), "three");
        fs::rename(followed.path("a.toml.new"), &path).expect("it can be renamed");
    });
    followed.once("writing again after a rename", || write(&path, "four"));
    followed.once("deleting", || fs::remove_file(&path).expect("it can be deleted"));
    followed.once("creating", || write(&path, "five"));
    followed.once("a burst", || (0..20).for_each(|turn| write(&path, &format!("turn {turn}"))));
    followed.never("another file", || write(&followed.path("b.toml"), "x"));
    followed.never("reading", || drop(fs::read(&path)));
}

#[cfg(unix)]
#[test]
fn a_redirected_link_is_reported() {
    use std::os::unix::fs::symlink;
    let followed = Followed::new("a.toml", |directory| {
        for version in ["one", "two"] {
            fs::create_dir(directory.join(version)).expect("a directory");
            write(&directory.join(version).join("a.toml"), version);
        }
        symlink("one", directory.join("current")).expect("a link");
        symlink("current/a.toml", directory.join("a.toml")).expect("a link");
    });
    followed.once("writing to the target", || write(&followed.path("one/a.toml"), "more"));
    followed.once("turning the directory", || {
        symlink("two", followed.path("next")).expect("a link");
        fs::rename(followed.path("next"), followed.path("current")).expect("it can be renamed");
    });
    followed.once("writing to the new target", || write(&followed.path("two/a.toml"), "more"));
    followed.never("writing to the old target", || write(&followed.path("one/a.toml"), "late"));
}

#[test]
fn a_directory_that_is_not_there_yet_is_waited_for() {
    let followed = Followed::new("config/masque/a.toml", |_| ());
    followed.once("creating the file with its directories", || {
        fs::create_dir_all(followed.path("config/masque")).expect("directories");
        write(&followed.path("config/masque/a.toml"), "one");
    });
    followed.once("writing it", || write(&followed.path("config/masque/a.toml"), "two"));
}

#[test]
fn a_directory_that_another_one_takes_the_place_of_is_followed_on() {
    let followed = Followed::new("conf/personas.toml", |directory| {
        fs::create_dir(directory.join("conf")).expect("a directory");
        write(&directory.join("conf/personas.toml"), "one");
    });
    followed.once("another directory", || {
        fs::remove_dir_all(followed.path("conf")).expect("it can be deleted");
        fs::create_dir(followed.path("conf")).expect("a directory");
        write(&followed.path("conf/personas.toml"), "two");
    });
    followed.once("a file in it", || write(&followed.path("conf/personas.toml"), "three"));
}

/// The old one lives on where a program works in it, and the system says nothing of its end.
#[cfg(unix)]
#[test]
fn a_directory_that_is_still_in_use_somewhere_is_followed_on() {
    let followed = Followed::new("conf/personas.toml", |directory| {
        fs::create_dir(directory.join("conf")).expect("a directory");
        write(&directory.join("conf/personas.toml"), "one");
    });
    let mut in_use = Vec::new();
    for turn in 0..3 {
        in_use.push(fs::File::open(followed.path("conf")).expect("it is there"));
        followed.once("another directory", || {
            fs::remove_dir_all(followed.path("conf")).expect("it can be deleted");
            fs::create_dir(followed.path("conf")).expect("a directory");
            write(&followed.path("conf/personas.toml"), &format!("turn {turn}"));
        });
    }
}

#[test]
fn other_files_are_followed_when_they_are_named() {
    let followed = Followed::new("a.toml", |directory| {
        write(&directory.join("a.toml"), "one");
        write(&directory.join("b.md"), "one");
    });
    followed.never("a file that is not named", || write(&followed.path("b.md"), "two"));
    followed.watcher.set(vec![followed.path("a.toml"), followed.path("b.md")]);
    std::thread::sleep(Duration::from_millis(50));
    followed.once("a file that is named now", || write(&followed.path("b.md"), "three"));
}

#[test]
fn polling_finds_changes_that_are_not_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("a.toml");
    write(&path, "one");
    let reports = Arc::new(AtomicUsize::new(0));
    let (commands, messages) = mpsc::channel();
    let mode = Arc::new(Mutex::new(WatchMode::Native));
    let mut follower = Follower::new(vec![path.clone()], commands.clone(), mode.clone());
    follower.poll("a test asks for it".to_owned());
    assert!(
        matches!(&*mode.lock().expect("unpoisoned"), WatchMode::Polling { reason } if reason.contains("test"))
    );
    let count = reports.clone();
    let looking = std::thread::spawn(move || {
        follower.run(&messages, &move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
    });
    write(&path, "one and more");
    let asked = Instant::now();
    while reports.load(Ordering::SeqCst) == 0 && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(reports.load(Ordering::SeqCst), 1);
    commands.send(Message::Stop).expect("it listens");
    looking.join().expect("it ends");
}
