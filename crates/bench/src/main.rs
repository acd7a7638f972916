//! Benchmarks of Masque against a bare baseline of the same stack. Both are measured in one run,
//! because absolute times mean nothing on shared machines.
//!
//! Started by `cargo xtask bench NAME`. Knows everything; nothing knows it.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod agent_loop;
mod bare;
mod context_tree;
mod files;
mod git;
mod http_load;
mod import;
mod library;
mod mcp_load;
mod mcp_start;
mod preview;
mod process;
mod recall;
mod report;
mod scheduling;
mod wire;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["library", rest @ ..] => run(library::measure(rest)),
        ["files", rest @ ..] => run(files::measure(rest)),
        ["import"] => run(import::measure()),
        ["loop"] => run(agent_loop::measure()),
        ["preview"] => run(preview::measure()),
        ["context", rest @ ..] => context_tree::measure(rest),
        ["conductor"] => scheduling::measure(),
        ["recall", rest @ ..] => recall::measure(rest),
        ["loop-model", script] => run(agent_loop::play(script)),
        ["loop-bare", url, requests] => run(agent_loop::bare(url, requests)),
        ["loop-masque", url, directory, earlier] => run(agent_loop::subject(url, directory, earlier)),
        ["loop-streams", url, directory] => run(agent_loop::streams(url, directory)),
        ["http", masque] => run(http_load::measure(masque)),
        ["mcp", masque] => run(mcp_load::measure(masque)),
        ["fill", file, size] => run(library::fill(file, size)),
        ["bare-api", answers @ ..] => run(bare::serve_api(answers)),
        ["bare-http", answer] => run(bare::serve_http(answer)),
        ["bare-stdio", answer] => run(bare::serve_stdio(answer)),
        _ => bail!(
            "usage: cargo xtask bench library [LARGEST] | files [LARGEST] | http | import | loop | mcp | preview \
             | context [FILES] | conductor | recall [REPOSITORY]"
        ),
    }
}

fn run(measure: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(measure)
}
