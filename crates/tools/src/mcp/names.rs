//! The names of servers' tools, as models see them: `mcp__SERVER__TOOL`.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::McpServers;
use crate::limits;

/// The server's part of the name. It contains no `__`: no two servers can have a tool of the same
/// name.
pub(crate) fn prefix(server: &str, taken: &mut BTreeSet<String>) -> String {
    let pieces: Vec<String> =
        plain(server).split('_').filter(|piece| !piece.is_empty()).map(str::to_owned).collect();
    let mut name = pieces.join("_");
    if name.is_empty() {
        name.push_str("server");
    }
    let name = unique(name, server, limits::SERVER_NAME_CHARS, taken);
    format!("{}{name}__", McpServers::PREFIX)
}

/// The whole name of a tool.
pub(crate) fn tool(prefix: &str, tool: &str, taken: &mut BTreeSet<String>) -> String {
    unique(format!("{prefix}{}", plain(tool)), tool, limits::TOOL_NAME_CHARS, taken)
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

/// A name that is too long or taken ends in a digest of the original. It is the same at every start.
fn unique(mut name: String, original: &str, chars: usize, taken: &mut BTreeSet<String>) -> String {
    let mut round = 0_u32;
    let base = name.clone();
    while name.len() > chars || taken.contains(&name) {
        let digest = Sha256::digest(format!("{original}\0{round}"));
        let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let kept = base[..base.len().min(chars - 9)].trim_end_matches('_');
        name = format!("{kept}-{digest}");
        round += 1;
    }
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{prefix, tool};

    #[test]
    fn names_are_plain_short_and_unique() {
        let mut servers = BTreeSet::new();
        assert_eq!(prefix("git hub", &mut servers), "mcp__git_hub__");
        assert_eq!(prefix("a__b", &mut servers), "mcp__a_b__");
        let other = prefix("a_b", &mut servers);
        assert!(other.starts_with("mcp__a_b-") && other.ends_with("__"), "{other}");
        assert_eq!(prefix("§", &mut servers), "mcp__server__");
        assert!(prefix(&"long".repeat(50), &mut servers).len() <= 24 + 7);

        let mut tools = BTreeSet::new();
        assert_eq!(tool("mcp__a__", "get.issue", &mut tools), "mcp__a__get_issue");
        let clash = tool("mcp__a__", "get/issue", &mut tools);
        assert!(clash.starts_with("mcp__a__get_issue-"), "{clash}");
        let long = tool("mcp__a__", &"é".repeat(300), &mut tools);
        assert!(long.len() <= 64 && long.is_ascii(), "{long}");
        let longer = tool("mcp__a__", &"é".repeat(301), &mut tools);
        assert!(longer.len() <= 64 && longer != long);
    }

    #[test]
    fn a_name_does_not_change_from_start_to_start() {
        let name = || tool("mcp__a__", &"x".repeat(300), &mut BTreeSet::new());
        assert_eq!(name(), name());
    }
}
