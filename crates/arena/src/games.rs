//! The games that ship, each a file of rules.

use serde::de::DeserializeOwned;

use crate::{Game, Setup, limits};

mod auction;
pub use auction::{Auction, AuctionSettings, Lot, Sale};

mod debate;
pub use debate::{Debate, DebateSettings};

mod mafia;
pub use mafia::{Mafia, MafiaSettings, Role as MafiaRole, Tie};

mod parley;
pub use parley::{Context, Parley, ParleySettings, Turns};

/// A setup that no game can start with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    #[error("there is no game {name:?}; there are: {}", NAMES.join(", "))]
    NoGame { name: String },
    #[error("the settings cannot be read: {problem}")]
    Settings { problem: String },
    #[error("{game} needs {least} to {most} players, not {found}")]
    Players { game: &'static str, least: usize, most: usize, found: usize },
    #[error("{field}: {problem}")]
    Invalid { field: &'static str, problem: String },
}

/// The names of the games.
pub const NAMES: [&str; 4] = ["auction", "debate", "mafia", "parley"];

/// The game of a setup, before its first input.
pub fn open(setup: &Setup) -> Result<Box<dyn Game>, SetupError> {
    if setup.seats.len() > limits::SEATS {
        let most = limits::SEATS;
        return Err(SetupError::Players { game: "a table", least: 0, most, found: setup.seats.len() });
    }
    match setup.game.as_str() {
        "auction" => Ok(Box::new(Auction::open(setup)?)),
        "debate" => Ok(Box::new(Debate::open(setup)?)),
        "mafia" => Ok(Box::new(Mafia::open(setup)?)),
        "parley" => Ok(Box::new(Parley::open(setup)?)),
        name => Err(SetupError::NoGame { name: name.to_owned() }),
    }
}

/// `once`, `twice`, `3 times`.
fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// `1 round`, `2 rounds`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The settings of a setup. None at all are the defaults.
fn settings<T: DeserializeOwned + Default>(setup: &Setup) -> Result<T, SetupError> {
    if setup.settings.is_null() {
        return Ok(T::default());
    }
    if setup.settings.to_string().len() > limits::SETTINGS_BYTES {
        let problem = format!("they have more than {} bytes", limits::SETTINGS_BYTES);
        return Err(SetupError::Settings { problem });
    }
    let read = T::deserialize(&setup.settings);
    read.map_err(|error| SetupError::Settings { problem: error.to_string() })
}
