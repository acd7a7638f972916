//! How fast the machine is at this moment, for bounds that a busy one cannot keep.

use std::io::Write as _;
use std::time::{Duration, Instant};

/// How long it takes to have something on the disk just now: the median of a few.
pub fn sync_time() -> Duration {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            file.write_all(b"x").and_then(|()| file.sync_data()).expect("it is written");
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
