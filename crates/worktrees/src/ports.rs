//! Ports that worktrees lease, so that the servers of two tickets do not meet.
//!
//! A lease is a file named by the port, with the worktree's path in it. It ends when the directory is
//! gone. All repositories share the directory of leases.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::lock::FileLock;
use crate::repository::path_of;
use crate::tree::write_whole;
use crate::{Error, Result, limits};

/// The ports of a worktree: those that it has already, and others up to the number.
pub(crate) async fn lease(directory: &Path, tree: &Path, count: usize) -> Result<Vec<u16>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > limits::PORTS {
        return Err(Error::TooMany { field: "ports", most: limits::PORTS, count });
    }
    let _lock = FileLock::take(&directory.join("lock")).await?;
    let leases = read(directory)?;
    let is_ours = |(port, owner): (&u16, &PathBuf)| (owner == tree).then_some(*port);
    let mut ports: Vec<u16> = leases.iter().filter_map(is_ours).collect();
    // Worktrees begin at different ports, so that a port is rarely used by two, one after the other.
    let digest = Sha256::digest(tree.as_os_str().as_bytes());
    let start = u16::from_le_bytes([digest[0], digest[1]]) % limits::PORT_RANGE;
    // In the order in which they were leased, because a server keeps its variable.
    let end = limits::FIRST_PORT + limits::PORT_RANGE;
    ports.sort_by_key(|port| (port + (end - limits::FIRST_PORT) - start) % limits::PORT_RANGE);
    for step in 0..limits::PORT_RANGE {
        if ports.len() >= count {
            break;
        }
        let port = limits::FIRST_PORT + (start + step) % limits::PORT_RANGE;
        let is_leased = leases.get(&port).is_some_and(|owner| owner.exists());
        if ports.contains(&port) || is_leased || TcpListener::bind(("127.0.0.1", port)).is_err() {
            continue;
        }
        write_whole(&directory.join(port.to_string()), tree.as_os_str().as_bytes())?;
        ports.push(port);
    }
    ports.truncate(count);
    if ports.len() < count { Err(Error::NoPort { limit: limits::PORT_RANGE }) } else { Ok(ports) }
}

/// Ends the leases of a worktree.
pub(crate) async fn release(directory: &Path, tree: &Path) -> Result<()> {
    let _lock = FileLock::take(&directory.join("lock")).await?;
    for (port, owner) in read(directory)? {
        if owner == tree {
            let path = directory.join(port.to_string());
            std::fs::remove_file(&path).map_err(Error::file(&path))?;
        }
    }
    Ok(())
}

fn read(directory: &Path) -> Result<BTreeMap<u16, PathBuf>> {
    let entries = std::fs::read_dir(directory).map_err(Error::file(directory))?;
    let lease = |entry: std::fs::DirEntry| {
        let port = entry.file_name().to_str()?.parse().ok()?;
        Some((port, path_of(&std::fs::read(entry.path()).ok()?)))
    };
    Ok(entries.flatten().filter_map(lease).collect())
}
