//! A message in a long session beside one in a new session.

use anyhow::Result;

use super::{Client, bare_client};
use crate::report::Figure;

/// Messages before the measured ones. Each adds four turns.
const EARLIER: usize = 125;
const ROUNDS: usize = 4;

/// The CPU of a message in a session of 500 turns, beside one in a new session. A longer request takes a
/// bare client longer too: that share is left out.
pub(super) async fn measure(url: &str, (bare, masque): (&mut Client, &mut Client)) -> Result<Figure> {
    let directory = tempfile::TempDir::new()?;
    let place = directory.path().display().to_string();
    let mut long_bare = bare_client(url, directory.path(), EARLIER).await?;
    let mut long_masque = Client::start(&["loop-masque", url, &place, &EARLIER.to_string()])?;
    for round in 0..=ROUNDS {
        for client in [&mut long_bare, &mut long_masque, &mut *bare, &mut *masque] {
            // The first round warms up.
            client.batch(round > 0)?;
        }
    }
    let [bare, masque, long_bare, long_masque] =
        [&*bare, &*masque, &long_bare, &long_masque].map(Client::cpu_micros_per_run);
    println!(
        "a message in a session of {} turns: {long_masque:.0} µs CPU beside {masque:.0} µs in a new one; \
         a bare client: {long_bare:.0} µs beside {bare:.0} µs",
        EARLIER * 4
    );
    let own = long_masque - (long_bare - bare).max(0.0);
    Ok(Figure::new("CPU per message, after 500 turns", "µs", own, masque, Some(1.5)))
}
