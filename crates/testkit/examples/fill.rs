//! Makes a large library to try things on: `cargo run --release -p testkit --example fill -- LOCATION PERSONAS [SEED]`.

use std::time::Instant;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(location), Some(personas)) = (arguments.first(), number(1)) else {
        eprintln!("usage: fill LOCATION PERSONAS [SEED]");
        std::process::exit(2);
    };
    let start = Instant::now();
    testkit::fill(location, personas, number(2).unwrap_or(1)).await;
    eprintln!("{personas} personas in {:.1} s", start.elapsed().as_secs_f64());
}
