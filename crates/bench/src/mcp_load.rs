//! Persona loads over HTTP beside a bare server that returns a constant of the same size.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use persona::TokenCounter as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::library::{generated, persona_name};
use crate::mcp_start;
use crate::process::Process;
use crate::report::{Figure, percentile, report, sorted};
use crate::wire::{Connection, TOKEN, call};

const PERSONAS: u64 = 10_000;
const ROUNDS: usize = 12;
const BATCH: usize = 4_000;
const TOOL: &str = "get_agent_persona";

struct Server {
    process: Process,
    connection: Connection,
    cpu_micros: Vec<f64>,
    per_second: Vec<f64>,
}

impl Server {
    fn new(process: Process, address: SocketAddr) -> Result<Self> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let connection = loop {
            match Connection::open(address) {
                Ok(connection) => break connection,
                Err(error) if Instant::now() > deadline => {
                    return Err(error.context("the server does not answer"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        Ok(Self { process, connection, cpu_micros: Vec::new(), per_second: Vec::new() })
    }

    fn batch(&mut self, random: &mut StdRng, keep: bool) -> Result<()> {
        let bodies: Vec<String> = (0..BATCH as u64)
            .map(|id| {
                let name = persona_name(random.random_range(0..PERSONAS));
                call(id, TOOL, &json!({ "name": name, "detail": true })).to_string()
            })
            .collect();
        let (cpu, started) = (self.process.cpu_seconds()?, Instant::now());
        for body in &bodies {
            self.connection.post(TOOL, body)?;
        }
        if keep {
            self.per_second.push(BATCH as f64 / started.elapsed().as_secs_f64());
            self.cpu_micros.push((self.process.cpu_seconds()? - cpu) * 1e6 / BATCH as f64);
        }
        Ok(())
    }
}

pub(crate) async fn measure(masque: &str) -> Result<()> {
    let database = generated(PERSONAS)?;
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let token = tempfile::NamedTempFile::new()?;
    token.as_file().write_all(TOKEN.as_bytes())?;
    let mut command = Command::new(masque);
    command.args(["--db", &database.display().to_string(), "serve", "--addr", &port.to_string()]);
    command.arg("--token-file").arg(token.path());
    let mut real = Server::new(Process::start(&mut command)?, port)?;

    let constant = tempfile::NamedTempFile::new()?;
    let body = call(1, TOOL, &json!({ "name": persona_name(7), "detail": true })).to_string();
    let answer: Value = serde_json::from_slice(real.connection.post(TOOL, &body)?)?;
    let text = answer["result"]["content"][0]["text"].as_str().context("the answer has a text")?;
    constant.as_file().write_all(text.as_bytes())?;
    let constant = constant.path().display().to_string();
    println!("an answer is {} bytes of JSON, as text and as structure", text.len());

    let mut command = Command::new(std::env::current_exe()?);
    let mut process = Process::start(command.args(["bare-http", &constant]))?;
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().context("its output")?).read_line(&mut line)?;
    let mut bare = Server::new(process, line.trim().parse()?)?;

    let mut random = StdRng::seed_from_u64(1);
    // Every persona once: what is measured is a server that has been up for a while.
    for number in 0..PERSONAS {
        let body = call(number, TOOL, &json!({ "name": persona_name(number), "detail": true })).to_string();
        real.connection.post(TOOL, &body)?;
        bare.connection.post(TOOL, &body)?;
    }
    for round in 0..=ROUNDS {
        // The first round warms both up.
        real.batch(&mut random, round > 0)?;
        bare.batch(&mut random, round > 0)?;
    }
    let median = |samples: &[f64]| percentile(&sorted(samples.to_vec()), 0.5);
    let (cpu, bare_cpu) = (median(&real.cpu_micros), median(&bare.cpu_micros));
    let (rate, bare_rate) = (median(&real.per_second), median(&bare.per_second));
    let (memory, own) = real.process.resident_megabytes()?;
    let (bare_memory, bare_own) = bare.process.resident_megabytes()?;
    let mut figures = vec![
        Figure::new("server CPU per persona load over HTTP", "µs", cpu, bare_cpu, Some(1.5)),
        Figure::new("time per load, one connection", "µs", 1e6 / rate, 1e6 / bare_rate, None),
        Figure::new("resident memory of the server", "MB", memory, bare_memory, None),
        Figure::new("of it not backed by files", "MB", own, bare_own, None),
    ];
    println!("loads per second on one connection: {rate:.0}, bare {bare_rate:.0}");
    figures.extend(mcp_start::measure(masque, &database, &constant)?);
    figures.extend(schema_cost());
    report("mcp", &figures)
}

/// Context tokens that the tools cost before the first call.
fn schema_cost() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (set, most) in [("load", 2_000.0), ("author", f64::NAN), ("all", 12_000.0)] {
        let selection: mcp::ToolSelection = match set.parse() {
            Ok(selection) => selection,
            Err(error) => unreachable!("a known set: {error}"),
        };
        let tools = mcp::schema_text(selection);
        let tokens: usize = tools.iter().map(|(_, text)| app::Tokenizer.count(text)).sum();
        let what = format!("schema of the {} tools of `{set}`, o200k_base", tools.len());
        figures.push(if most.is_nan() {
            Figure::new(what, "tok", tokens as f64, 12_000.0, None)
        } else {
            Figure::at_most(what, "tok", tokens as f64, most)
        });
    }
    figures
}
