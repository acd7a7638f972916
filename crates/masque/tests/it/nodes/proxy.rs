//! A proxy between servers and their PostgreSQL, which can cut connections, let listening ones go dead
//! silently, like a broken cable, or hold everything, like a stopped server.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Forwards everything, unless told to cut or drop connections.
#[derive(Debug)]
pub(crate) struct Proxy {
    /// The database's address through the proxy.
    pub(crate) location: String,
    wire: Arc<Wire>,
}

#[derive(Debug)]
struct Wire {
    address: String,
    bars_listeners: AtomicBool,
    swallowed_bytes: AtomicUsize,
    /// While set, nothing passes in either direction.
    is_holding: AtomicBool,
    trap: Mutex<Option<Trap>>,
    connections: Mutex<Vec<Arc<Connection>>>,
}

#[derive(Debug)]
struct Connection {
    client: TcpStream,
    server: TcpStream,
    listens: AtomicBool,
    is_silent: AtomicBool,
}

impl Proxy {
    pub(crate) fn to(database: &str) -> Self {
        let (user, rest) = database.rsplit_once('@').unwrap();
        let (address, name) = rest.split_once('/').unwrap();
        let address = if address.contains(':') { address.to_owned() } else { format!("{address}:5432") };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let wire = Arc::new(Wire {
            address,
            bars_listeners: AtomicBool::new(false),
            swallowed_bytes: AtomicUsize::new(0),
            is_holding: AtomicBool::new(false),
            trap: Mutex::default(),
            connections: Mutex::default(),
        });
        let accepting = Arc::clone(&wire);
        std::thread::spawn(move || {
            listener.incoming().flatten().try_for_each(|client| accepting.carry(client))
        });
        // Encrypted traffic cannot be inspected.
        let location = format!("{user}@127.0.0.1:{port}/{name}?sslmode=disable");
        Self { location, wire }
    }

    /// Cuts the listening connections and refuses new ones.
    pub(super) fn bar_listeners(&self) {
        self.wire.bars_listeners.store(true, Ordering::SeqCst);
        self.wire.each_listener(Connection::close);
    }

    pub(super) fn let_listeners_back(&self) {
        self.wire.bars_listeners.store(false, Ordering::SeqCst);
    }

    /// Lets the listening connections go dead silently and returns their number.
    pub(super) fn silence_listeners(&self) -> usize {
        self.wire.each_listener(|connection| connection.is_silent.store(true, Ordering::SeqCst))
    }

    /// Holds everything, like a server that was stopped.
    pub(crate) fn hold(&self) {
        self.wire.is_holding.store(true, Ordering::SeqCst);
    }

    /// Passes on what was held.
    pub(crate) fn resume(&self) {
        self.wire.is_holding.store(false, Ordering::SeqCst);
    }

    /// Springs once, as soon as a client sends this statement.
    pub(crate) fn set_trap(&self, statement: &'static str, then: Then) {
        *self.wire.trap.lock().unwrap() = Some(Trap { statement, then });
    }

    /// Bytes that never arrived.
    pub(super) fn swallowed_bytes(&self) -> usize {
        self.wire.swallowed_bytes.load(Ordering::SeqCst)
    }
}

#[derive(Debug, Clone, Copy)]
struct Trap {
    statement: &'static str,
    then: Then,
}

/// The action of a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Cuts the connection before the statement arrives.
    Cut,
    /// Passes the statement on, and holds its answer.
    HoldAnswer,
}

impl Wire {
    /// The action of a trap that these bytes spring.
    fn sprung(&self, bytes: &[u8]) -> Option<Then> {
        let mut trap = self.trap.lock().unwrap();
        let Trap { statement, then } = (*trap)?;
        bytes.windows(statement.len()).any(|window| window == statement.as_bytes()).then(|| {
            *trap = None;
            then
        })
    }

    fn carry(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect(&self.address)?;
        let ends = [(client.try_clone()?, server.try_clone()?), (server.try_clone()?, client.try_clone()?)];
        let (listens, is_silent) = (AtomicBool::new(false), AtomicBool::new(false));
        let connection = Arc::new(Connection { client, server, listens, is_silent });
        self.connections.lock().unwrap().push(Arc::clone(&connection));
        for (from, to) in ends {
            let (wire, connection) = (Arc::clone(self), Arc::clone(&connection));
            std::thread::spawn(move || {
                let _ = wire.pass_on(&connection, from, to);
                connection.close();
            });
        }
        Ok(())
    }

    fn pass_on(&self, connection: &Connection, mut from: TcpStream, mut to: TcpStream) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        loop {
            let length = from.read(&mut buffer)?;
            let bytes = &buffer[..length];
            match self.sprung(bytes) {
                Some(Then::Cut) => return Ok(()),
                Some(Then::HoldAnswer) => {
                    // First: the answer may come at once.
                    self.is_holding.store(true, Ordering::SeqCst);
                    to.write_all(bytes)?;
                    continue;
                }
                None => {}
            }
            while self.is_holding.load(Ordering::SeqCst) {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            if connection.is_silent.load(Ordering::SeqCst) {
                self.swallowed_bytes.fetch_add(length, Ordering::SeqCst);
            } else {
                if bytes.windows(7).any(|window| window == b"LISTEN ") {
                    connection.listens.store(true, Ordering::SeqCst);
                }
                if connection.listens.load(Ordering::SeqCst) && self.bars_listeners.load(Ordering::SeqCst) {
                    return Ok(());
                }
                to.write_all(bytes)?;
            }
            if length == 0 {
                return Ok(());
            }
        }
    }

    fn each_listener(&self, act: impl Fn(&Connection)) -> usize {
        let connections = self.connections.lock().unwrap();
        let listeners = connections.iter().filter(|connection| connection.listens.load(Ordering::SeqCst));
        listeners.map(|connection| act(connection)).count()
    }
}

impl Connection {
    /// Closes both ends. The far end of a dead wire is not notified.
    fn close(&self) {
        if !self.is_silent.load(Ordering::SeqCst) {
            let _ = self.client.shutdown(Shutdown::Both);
            let _ = self.server.shutdown(Shutdown::Both);
        }
    }
}
