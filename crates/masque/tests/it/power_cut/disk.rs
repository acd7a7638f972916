//! A model of a disk, which follows recorded calls and knows which of their effects a power cut can undo.
//!
//! A write is safe once the file is synced after it; a name, once its directory is. The system may have
//! written anything else already, or not: writes to a file in any combination, names in their order.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rand::Rng as _;
use rand::rngs::StdRng;

use crate::strace::Call;

/// The calls to record.
pub(super) const CALLS: &str = "?openat,?pwrite64,?write,?writev,?ftruncate,?fsync,?fdatasync,?rename,\
                                ?renameat,?renameat2,?link,?linkat,?unlink,?unlinkat,?mkdir";

/// The unsafe effects that survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survivors {
    None,
    All,
    Some,
}

#[derive(Debug)]
pub(super) struct Disk {
    files: Vec<Inode>,
    /// The names as programs see them.
    names: Names,
    safe_names: Names,
    /// Changes of names that are not safe, oldest first.
    unsafe_names: Vec<NameChange>,
    descriptors: HashMap<String, Descriptor>,
}

type Names = BTreeMap<String, Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Directory,
    File(usize),
}

#[derive(Debug, Default)]
struct Inode {
    safe: Vec<u8>,
    /// Changes that are not safe, oldest first, each with the line at which it ended.
    unsafe_changes: Vec<(usize, Change)>,
}

#[derive(Debug, Clone)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Resize(usize),
}

#[derive(Debug, Clone)]
enum NameChange {
    Add(String, Node),
    Remove(String),
    Move { from: String, to: String },
    Exchange(String, String),
}

#[derive(Debug, Clone, Copy)]
struct Descriptor {
    node: Node,
    /// The place of the next `write`.
    position: usize,
}

impl Disk {
    /// The files below a directory, all safe.
    pub(super) fn of(root: &Path) -> Self {
        let mut disk = Self {
            files: Vec::new(),
            names: Names::new(),
            safe_names: Names::new(),
            unsafe_names: Vec::new(),
            descriptors: HashMap::new(),
        };
        disk.add(root);
        disk.safe_names = disk.names.clone();
        disk
    }

    fn add(&mut self, path: &Path) {
        let name = path.to_str().unwrap().trim_end_matches('/').to_owned();
        if path.is_dir() {
            self.names.insert(name, Node::Directory);
            std::fs::read_dir(path).unwrap().for_each(|entry| self.add(&entry.unwrap().path()));
        } else {
            let safe = std::fs::read(path).unwrap();
            self.names.insert(name, Node::File(self.files.len()));
            self.files.push(Inode { safe, ..Inode::default() });
        }
    }

    /// Follows a call that succeeded.
    pub(super) fn follow(&mut self, call: &Call) {
        let words: Vec<String> = call.arguments.split(", ").map(decode).collect();
        let quoted: Vec<String> = words.iter().filter_map(|word| unquote(word)).collect();
        match (call.name.as_str(), quoted.as_slice()) {
            ("openat", [path]) => self.open(path, &words[2], &call.result),
            ("mkdir", [path]) => self.rename(NameChange::Add(path.clone(), Node::Directory)),
            ("unlink" | "unlinkat", [path]) => self.rename(NameChange::Remove(path.clone())),
            ("rename" | "renameat" | "renameat2", [from, to]) => {
                let (from, to) = (from.clone(), to.clone());
                self.rename(match words.last().is_some_and(|flags| flags.contains("RENAME_EXCHANGE")) {
                    true => NameChange::Exchange(from, to),
                    false => NameChange::Move { from, to },
                });
            }
            ("link" | "linkat", [from, to]) => {
                if let Some(node) = self.names.get(from).copied() {
                    self.rename(NameChange::Add(to.clone(), node));
                }
            }
            _ => self.follow_descriptor(call, &words),
        }
    }

    fn follow_descriptor(&mut self, call: &Call, words: &[String]) {
        let Some((number, path)) = words[0].split_once('<') else { return };
        // A number that names something else by now was closed.
        let is_ours = self.names.keys().next().is_some_and(|root| path.starts_with(root));
        let Some(descriptor) = self.descriptors.get_mut(number).filter(|_| is_ours) else { return };
        let bytes = || raw_string(&call.arguments);
        match (call.name.as_str(), descriptor.node) {
            ("fsync" | "fdatasync", Node::File(file)) => self.files[file].sync(call.began),
            ("fsync" | "fdatasync", Node::Directory) => {
                let directory = path.trim_end_matches('>').to_owned();
                self.sync_names(&directory);
            }
            ("pwrite64", Node::File(file)) => {
                let change = Change::Write { at: words.last().unwrap().parse().unwrap(), bytes: bytes() };
                self.files[file].unsafe_changes.push((call.ended, change));
            }
            ("write", Node::File(file)) => {
                let (at, bytes) = (descriptor.position, bytes());
                descriptor.position += bytes.len();
                self.files[file].unsafe_changes.push((call.ended, Change::Write { at, bytes }));
            }
            ("ftruncate", Node::File(file)) => {
                let size = words.last().unwrap().parse().unwrap();
                self.files[file].unsafe_changes.push((call.ended, Change::Resize(size)));
            }
            _ => {}
        }
    }

    fn open(&mut self, path: &str, flags: &str, result: &str) {
        let inside = self.names.keys().next().is_some_and(|root| path.starts_with(root));
        let Some((number, _)) = result.split_once('<') else { return };
        if !inside {
            self.descriptors.remove(number);
            return;
        }
        let known = self.names.get(path).copied();
        let node = known.unwrap_or_else(|| {
            self.files.push(Inode::default());
            let node = Node::File(self.files.len() - 1);
            self.rename(NameChange::Add(path.to_owned(), node));
            node
        });
        assert!(known.is_some() || flags.contains("O_CREAT"), "{path} was made by another call");
        assert!(!flags.contains("O_TRUNC") && !flags.contains("O_APPEND"), "{path}: {flags} is not modelled");
        self.descriptors.insert(number.to_owned(), Descriptor { node, position: 0 });
    }

    fn rename(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsafe_names.push(change);
    }

    fn sync_names(&mut self, directory: &str) {
        let (synced, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unsafe_names).into_iter().partition(|change| change.is_in(directory));
        synced.iter().for_each(|change| change.apply(&mut self.safe_names));
        self.unsafe_names = others;
    }

    /// Puts the files below a root, as a power cut now would leave them.
    pub(super) fn cut_power(&self, survivors: Survivors, random: &mut StdRng, root: &Path) {
        for entry in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => std::fs::remove_dir_all(entry).unwrap(),
                false => std::fs::remove_file(entry).unwrap(),
            }
        }
        let mut names = self.safe_names.clone();
        let surviving = match survivors {
            Survivors::None => 0,
            Survivors::All => self.unsafe_names.len(),
            Survivors::Some => random.random_range(0..=self.unsafe_names.len()),
        };
        self.unsafe_names[..surviving].iter().for_each(|change| change.apply(&mut names));
        // Directories come before their entries. What is in a lost directory is lost.
        for (name, node) in names {
            match node {
                Node::Directory => drop(std::fs::create_dir(&name)),
                Node::File(file) => {
                    let content = self.files[file].after_cut(survivors, random);
                    let _ = std::fs::write(&name, content);
                }
            }
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(path, node) => drop(names.insert(path.clone(), *node)),
            Self::Remove(path) => drop(names.remove(path)),
            Self::Move { from, to } => {
                let moved = names.remove(from);
                names.extend(moved.map(|node| (to.clone(), node)));
            }
            Self::Exchange(one, other) => {
                if let (Some(first), Some(second)) = (names.remove(one), names.remove(other)) {
                    names.extend([(one.clone(), second), (other.clone(), first)]);
                }
            }
        }
    }

    /// True if a directory has the name. Files are not moved between directories here.
    fn is_in(&self, directory: &str) -> bool {
        let (Self::Add(path, _)
        | Self::Remove(path)
        | Self::Move { from: path, .. }
        | Self::Exchange(path, _)) = self;
        path.rsplit_once('/').is_some_and(|(parent, _)| parent == directory)
    }
}

impl Inode {
    /// Makes every change safe that ended before a line.
    fn sync(&mut self, before: usize) {
        let (synced, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unsafe_changes).into_iter().partition(|(ended, _)| *ended < before);
        synced.iter().for_each(|(_, change)| change.apply(&mut self.safe));
        self.unsafe_changes = others;
    }

    fn after_cut(&self, survivors: Survivors, random: &mut StdRng) -> Vec<u8> {
        let mut content = self.safe.clone();
        for (_, change) in &self.unsafe_changes {
            if survivors == Survivors::All || survivors == Survivors::Some && random.random_bool(0.5) {
                change.apply(&mut content);
            }
        }
        content
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => {
                content.resize(content.len().max(at + bytes.len()), 0);
                content[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Self::Resize(size) => content.resize(*size, 0),
        }
    }
}

/// The bytes of a text in which strace wrote strings as `\xNN`.
pub(super) fn decode_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).expect("two digits"));
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn decode(text: &str) -> String {
    String::from_utf8_lossy(&decode_bytes(text)).into_owned()
}

fn unquote(word: &str) -> Option<String> {
    Some(word.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// The bytes of the only string among arguments.
fn raw_string(arguments: &str) -> Vec<u8> {
    arguments.split('"').nth(1).map(decode_bytes).unwrap_or_default()
}
