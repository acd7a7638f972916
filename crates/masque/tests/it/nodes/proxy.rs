//! A proxy between servers and their PostgreSQL, which can cut listening connections or let them
//! go dead silently, like a broken cable.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Forwards everything, unless told to cut or drop connections.
#[derive(Debug)]
pub(super) struct Proxy {
    /// The database's address through the proxy.
    pub(super) location: String,
    wire: Arc<Wire>,
}

#[derive(Debug)]
struct Wire {
    address: String,
    bars_listeners: AtomicBool,
    swallowed_bytes: AtomicUsize,
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
    pub(super) fn to(database: &str) -> Self {
        let (user, rest) = database.rsplit_once('@').unwrap();
        let (address, name) = rest.split_once('/').unwrap();
        let address = if address.contains(':') { address.to_owned() } else { format!("{address}:5432") };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let wire = Arc::new(Wire {
            address,
            bars_listeners: AtomicBool::new(false),
            swallowed_bytes: AtomicUsize::new(0),
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

    /// Bytes that never arrived.
    pub(super) fn swallowed_bytes(&self) -> usize {
        self.wire.swallowed_bytes.load(Ordering::SeqCst)
    }
}

impl Wire {
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
