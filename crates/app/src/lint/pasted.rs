//! Secrets in a file outside of its entries: in comments, and where servers and providers are set up.

use persona::Kind;
use persona::env::Place;

/// What looks like a secret, with its place in the file.
pub(super) fn secrets(text: &str) -> Vec<(Place, String)> {
    persona::lint::secrets(&without_entries(text))
}

/// The text with its lines where they were, those of entries empty: the rules look at entries. A line
/// of a long text that looks like a table's head is taken for one; at worst, a secret is told twice.
fn without_entries(text: &str) -> String {
    let mut in_entry = false;
    let kept = text.split_inclusive('\n').map(|line| {
        let trimmed = line.trim_start();
        let is_head = trimmed.split('#').next().is_some_and(|head| head.trim_end().ends_with(']'));
        if let Some(head) = trimmed.strip_prefix('[').filter(|_| is_head) {
            in_entry = is_entry(head.trim_start_matches('['));
        }
        let is_comment = trimmed.starts_with('#');
        let is_kept = is_comment || !in_entry && !is_entry(trimmed);
        if is_kept { line } else { line.find('\n').map_or("", |end| &line[end..]) }
    });
    kept.collect()
}

/// Whether a key begins with the table of a kind, as in `personas.coder`.
fn is_entry(key: &str) -> bool {
    let key = key.trim_start_matches([' ', '\t', '"', '\'']);
    let first = key.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(key, |end| &key[..end]);
    Kind::ALL.iter().any(|kind| kind.table() == first)
}

#[cfg(test)]
mod tests {
    use super::without_entries;

    #[test]
    fn only_what_belongs_to_no_entry_is_kept() {
        let text = "# top\n[personas.a]\nsummary = \"x\"\n # why\n[mcp_servers.b]\nurl = \"u\"\n\n[ \"parts\".c ]\ncontent = 'y'\n[[x]]\nz = 1\n";
        let kept = "# top\n\n\n # why\n[mcp_servers.b]\nurl = \"u\"\n\n\n\n[[x]]\nz = 1\n";
        assert_eq!(without_entries(text), kept);
        assert_eq!(without_entries("personas.a = { summary = 'x' }\nproviders = {}"), "\nproviders = {}");
    }
}
