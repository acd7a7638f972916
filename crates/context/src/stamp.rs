//! The identity of a file on disk, without its content.

use cap_std::fs::{Metadata, MetadataExt as _};

/// Device, number, size and both times of a file. Two equal stamps mean one content, unless the file
/// changed twice within one tick of the clock: see [`crate::Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    device: u64,
    number: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            number: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The later of both times, in seconds since 1970.
    pub(crate) fn latest(&self) -> i64 {
        self.modified.0.max(self.changed.0)
    }
}
