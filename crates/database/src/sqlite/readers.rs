//! The connections that read a file.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{Address, connect, on_blocking_thread};
use crate::engine::{BUSY_TIMEOUT, Parameter};
use crate::{Error, Result};

const CONNECTIONS: usize = 4;
/// Reads of unknown size that run at once: one connection stays free for short reads.
const LONG_READS: usize = CONNECTIONS - 1;

#[derive(Debug)]
pub(super) struct Readers {
    address: Address,
    slots: Arc<Slots>,
    long_reads: Arc<Semaphore>,
}

#[derive(Debug)]
struct Slots {
    /// None once they are closed.
    connections: [Mutex<Option<Connection>>; CONNECTIONS],
    next: AtomicUsize,
}

impl Readers {
    pub(super) fn open(address: Address) -> Result<Self> {
        let mut connections = [const { Mutex::new(None) }; CONNECTIONS];
        for slot in &mut connections {
            *slot = Mutex::new(Some(open(&address)?));
        }
        let slots = Arc::new(Slots { connections, next: AtomicUsize::new(0) });
        Ok(Self { address, slots, long_reads: Arc::new(Semaphore::new(LONG_READS)) })
    }

    /// Closes every connection, each after its current read.
    pub(super) fn close(&self) {
        for slot in &self.slots.connections {
            slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// Opens one more connection, for a caller that keeps it.
    pub(super) fn another(&self) -> Result<Connection> {
        open(&self.address)
    }

    /// Reads on the caller's thread.
    pub(super) fn now<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.slots.read(read)
    }

    /// Reads on a blocking thread. If the caller is cancelled, the read goes on to its end and holds its
    /// permit until then, so that cancelled reads never take the last connection.
    pub(super) async fn later<T: Send + 'static>(
        &self,
        sql: String,
        values: &[Parameter],
        read: fn(&Connection, &str, &[Parameter]) -> Result<T>,
    ) -> Result<T> {
        let permit = Arc::clone(&self.long_reads).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (slots, values) = (Arc::clone(&self.slots), values.to_vec());
        on_blocking_thread(move || {
            let done = slots.read(|connection| read(connection, &sql, &values));
            drop(permit);
            done
        })
        .await
    }
}

impl Slots {
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let connection = self.free();
        read(connection.as_ref().ok_or(Error::Closed)?)
    }

    /// A connection that is not in use, or else the next to become free.
    fn free(&self) -> MutexGuard<'_, Option<Connection>> {
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        for at in 0..CONNECTIONS {
            match self.connections[(start + at) % CONNECTIONS].try_lock() {
                Ok(connection) => return connection,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.connections[start % CONNECTIONS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open(address: &Address) -> Result<Connection> {
    let connection = connect(address, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

#[cfg(test)]
mod tests;
