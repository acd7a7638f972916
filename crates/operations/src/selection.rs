//! The tools of a connection: sets by name, single tools by name, or both in one list.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use persona::nearest;

use crate::{Mcp, Operation, all};

/// Bytes of a `tools` selection.
const SELECTION_BYTES: usize = 4 * 1024;

/// Characters of an unknown word that a message repeats.
const SHOWN_CHARS: usize = 80;

/// The operations that are tools, with the smallest set that holds each.
static TOOLS: LazyLock<Vec<(&'static Operation, ToolSet)>> = LazyLock::new(|| {
    let tool = |operation: &&'static Operation| match operation.mcp {
        Mcp::Tool(set) => Some((*operation, set)),
        Mcp::Absent(_) => None,
    };
    all().iter().filter_map(tool).collect()
});

static PLACES: LazyLock<HashMap<&'static str, usize>> =
    LazyLock::new(|| TOOLS.iter().enumerate().map(|(place, (tool, _))| (tool.name, place)).collect());

/// The tools in the order in which they are listed. A tool's index is its place in a selection.
pub fn tools() -> impl Iterator<Item = &'static Operation> {
    TOOLS.iter().map(|(tool, _)| *tool)
}

fn place(name: &str) -> Option<usize> {
    PLACES.get(name).copied()
}

/// A named set of tools; each holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolSet {
    /// Find a persona and load it.
    Load,
    /// Also write personas and their pieces, and entities of any kind.
    Author,
    /// Also arcs.
    All,
}

impl ToolSet {
    pub const EVERY: [Self; 3] = [Self::Load, Self::Author, Self::All];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Author => "author",
            Self::All => "all",
        }
    }
}

/// The tools of a connection: one bit for each tool. Cheap to copy: every HTTP request carries its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ToolSelection(u64);

/// A selection that names something that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolSelectionError {
    #[error("tools is empty (expected load, author, all or names of tools, separated by commas)")]
    Empty,
    #[error("tools has more than {SELECTION_BYTES} bytes (expected load, author, all or names of tools)")]
    TooLong,
    #[error("unknown tool or set {word:?} ({})", suggestion(near))]
    Unknown { word: String, near: Vec<&'static str> },
}

impl ToolSelection {
    /// Everything in a set.
    pub fn of(set: ToolSet) -> Self {
        let bits = TOOLS
            .iter()
            .enumerate()
            .filter(|(_, (_, least))| *least <= set)
            .fold(0, |bits, (place, _)| bits | 1 << place);
        Self(bits)
    }

    /// True if the tool at this place is selected.
    pub fn has(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// True if the tool of this name is selected.
    pub fn contains(self, name: &str) -> bool {
        place(name).is_some_and(|place| self.has(place))
    }

    /// The names of the selected tools, in the order of the table.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let selected = tools().enumerate().filter(move |(place, _)| self.has(*place));
        selected.map(|(_, tool)| tool.name)
    }
}

impl Default for ToolSelection {
    fn default() -> Self {
        Self::of(ToolSet::All)
    }
}

impl fmt::Debug for ToolSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl FromStr for ToolSelection {
    type Err = ToolSelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() > SELECTION_BYTES {
            return Err(ToolSelectionError::TooLong);
        }
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        let mut selected = Self(0);
        for word in words {
            selected.0 |= match ToolSet::EVERY.into_iter().find(|set| set.as_str() == word) {
                Some(set) => Self::of(set).0,
                None => 1 << place(word).ok_or_else(|| unknown(word))?,
            };
        }
        if selected.0 == 0 { Err(ToolSelectionError::Empty) } else { Ok(selected) }
    }
}

fn unknown(word: &str) -> ToolSelectionError {
    let sets = ToolSet::EVERY.into_iter().map(ToolSet::as_str);
    let known = sets.chain(tools().map(|tool| tool.name));
    let near = nearest(word, known);
    ToolSelectionError::Unknown { word: word.chars().take(SHOWN_CHARS).collect(), near }
}

fn suggestion(near: &[&str]) -> String {
    match persona::one_of(near) {
        Some(near) => format!("did you mean {near}?"),
        None => "expected load, author, all or names of tools, separated by commas".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ToolSelection, ToolSelectionError> {
        text.parse()
    }

    #[test]
    fn sets_and_tools_add_up() {
        assert_eq!(parse("all"), Ok(ToolSelection::default()));
        assert_eq!(parse("load").expect("a set").names().count(), 9);
        assert_eq!(parse("author").expect("a set").names().count(), 42);
        assert_eq!(parse("all").expect("a set").names().count(), 55);
        let mixed = parse(" load, create_agent_part ,").expect("a list");
        assert_eq!(mixed.names().count(), 10);
        assert!(mixed.contains("create_agent_part") && !mixed.contains("delete_agent_part"));
    }

    #[test]
    fn an_unknown_word_has_near_ones() {
        let near = |text: &str| match parse(text) {
            Err(ToolSelectionError::Unknown { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("laod"), ["load"]);
        assert!(near("load,get_agent_prat").contains(&"get_agent_part"));
        assert!(near("zzzzzzzz").is_empty());
        assert_eq!(parse(","), Err(ToolSelectionError::Empty));
        assert_eq!(parse(&"load,".repeat(2_000)), Err(ToolSelectionError::TooLong));
    }
}
