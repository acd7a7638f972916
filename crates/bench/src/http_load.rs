//! The API beside a bare server that returns constants of the same size; then event streams, searches and
//! the page, all with a library of 20,000 personas.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::library::{generated, persona_name};
use crate::process::Process;
use crate::report::{Figure, directory, report};
use crate::wire::{Connection, TOKEN};

mod page;
mod streams;
mod typing;

const PERSONAS: u64 = 20_000;
/// Personas that are read again and again.
const HOT: u64 = 1_000;
const ROUNDS: usize = 12;
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A server, a connection to it, and what its requests cost.
struct Server {
    process: Process,
    address: SocketAddr,
    connection: Connection,
    _files: Option<TempDir>,
}

/// Requests of one kind, to the server and to the bare one.
struct Case {
    what: &'static str,
    batch: u64,
    /// The method, the path and the body of a request.
    request: fn(u64) -> (&'static str, String, String),
    bar: Option<f64>,
    real: Cost,
    bare: Cost,
}

/// The cost of all measured requests. Linux counts CPU in hundredths of a second, too coarse for one batch.
#[derive(Default)]
struct Cost {
    requests: u64,
    cpu_seconds: f64,
    wall_seconds: f64,
}

impl Cost {
    fn cpu_micros(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.requests as f64
    }

    fn wall_micros(&self) -> f64 {
        self.wall_seconds * 1e6 / self.requests as f64
    }
}

impl Server {
    /// Starts the measured server with a copy of the library, which it may change.
    fn masque(program: &str) -> Result<Self> {
        let files = tempfile::tempdir_in(directory()?)?;
        let inside = |name: &str| files.path().join(name);
        let (database, token) = (inside("library.db"), inside("token"));
        std::fs::copy(generated(PERSONAS)?, &database)?;
        std::fs::File::create(&token)?.write_all(TOKEN.as_bytes())?;
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let mut command = Command::new(program);
        command.arg("--db").arg(database).args(["serve", "--addr", &address.to_string()]);
        command.arg("--token-file").arg(token).current_dir(files.path());
        for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, files.path());
        }
        Self::connect(Process::start(&mut command)?, address, Some(files))
    }

    /// Starts the bare server with these answers.
    fn bare(answers: &[String]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = Process::start(command.arg("bare-api").args(answers))?;
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().context("its output")?).read_line(&mut line)?;
        Self::connect(process, line.trim().parse()?, None)
    }

    fn connect(process: Process, address: SocketAddr, files: Option<TempDir>) -> Result<Self> {
        let deadline = Instant::now() + START_TIMEOUT;
        let connection = loop {
            match Connection::open(address) {
                Ok(connection) => break connection,
                Err(error) if Instant::now() > deadline => {
                    return Err(error.context("the server does not answer"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        Ok(Self { process, address, connection, _files: files })
    }

    fn json(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        Ok(serde_json::from_slice(self.connection.send(method, path, body)?)?)
    }

    /// Sends the requests and adds up what they cost.
    fn batch(&mut self, requests: &[(&str, String, String)], cost: Option<&mut Cost>) -> Result<()> {
        let (cpu, started) = (self.process.cpu_seconds()?, Instant::now());
        for (method, path, body) in requests {
            self.connection.send(method, path, body)?;
        }
        if let Some(cost) = cost {
            cost.requests += requests.len() as u64;
            cost.wall_seconds += started.elapsed().as_secs_f64();
            cost.cpu_seconds += self.process.cpu_seconds()? - cpu;
        }
        Ok(())
    }
}

/// The part that the writes change. The number makes each write a change.
fn part(number: u64) -> (&'static str, String, String) {
    let content = format!("Speak plainly. {number} times. {}", "Leave out what does not help. ".repeat(20));
    let entity = json!({ "part_type": "tone", "summary": "Plain.", "content": content });
    ("PUT", "/api/library/part/bench-part".to_owned(), json!({ "entity": entity }).to_string())
}

fn cases() -> Vec<Case> {
    let case = |what, batch, bar, request| Case {
        what,
        batch,
        request,
        bar,
        real: Cost::default(),
        bare: Cost::default(),
    };
    // Writes come last: each of them empties the cache.
    vec![
        case("GET of a loaded persona", 2_000, Some(2.0), |number| {
            ("GET", format!("/api/personas/{}?detail=true", persona_name(number % HOT)), String::new())
        }),
        case("GET of an entity", 2_000, Some(2.0), |number| {
            ("GET", format!("/api/library/persona/{}", persona_name(number % HOT)), String::new())
        }),
        case("GET of a list of 50", 1_000, Some(2.0), |_| {
            ("GET", "/api/library/persona?limit=50".to_owned(), String::new())
        }),
        case("PUT of an entity", 200, None, part),
    ]
}

pub(crate) async fn measure(program: &str) -> Result<()> {
    let mut real = Server::masque(program)?;
    let mut cases = cases();
    let answers = tempfile::tempdir()?;
    let mut files = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let (method, path, body) = (case.request)(7);
        let answer = real.connection.send(method, &path, &body)?;
        println!("{}: {} bytes", case.what, answer.len());
        let file = answers.path().join(number.to_string());
        std::fs::write(&file, answer)?;
        files.push(file.display().to_string());
    }
    let mut bare = Server::bare(&files)?;
    for (place, case) in cases.iter_mut().enumerate() {
        compare(case, place, &mut real, &mut bare)?;
    }
    let mut figures = Vec::new();
    for Case { what, bar, real, bare, .. } in &cases {
        let (cpu, bare_cpu) = (real.cpu_micros(), bare.cpu_micros());
        figures.push(Figure::new(format!("{what}: CPU"), "µs", cpu, bare_cpu, *bar));
        let (wall, bare_wall) = (real.wall_micros(), bare.wall_micros());
        figures.push(Figure::new(format!("{what}: time, one connection"), "µs", wall, bare_wall, None));
    }
    figures.extend(streams::measure(&mut real, &mut bare).await?);
    figures.extend(typing::measure(&mut real)?);
    figures.extend(page::weight(&mut real)?);
    figures.extend(page::frames(&real)?);
    report("http", &figures)
}

/// Batches of the two servers take turns. The first round warms both up.
fn compare(case: &mut Case, place: usize, real: &mut Server, bare: &mut Server) -> Result<()> {
    let mut number = 0;
    for round in 0..=ROUNDS {
        let requests: Vec<_> = (0..case.batch).map(|at| (case.request)(number + at)).collect();
        number += case.batch;
        let constants: Vec<_> =
            requests.iter().map(|(method, _, body)| (*method, format!("/{place}"), body.clone())).collect();
        real.batch(&requests, (round > 0).then_some(&mut case.real))?;
        bare.batch(&constants, (round > 0).then_some(&mut case.bare))?;
    }
    Ok(())
}
