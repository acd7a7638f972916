//! Near names, for suggestions.

/// The most suggestions in one message.
const SUGGESTIONS: usize = 3;
/// The least similarity of a suggestion, from 0 to 1.
const ALIKE: f64 = 0.75;

/// The known words that are most like `word`, best first; empty if none is similar.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let folded = fold(word);
    let mut ranked: Vec<(f64, &str)> = known
        .into_iter()
        .map(|candidate| (likeness(&folded, &fold(candidate)), candidate))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.dedup_by(|a, b| a.1 == b.1);
    ranked.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

/// Ignores case and the difference between "-" and "_", the most common errors.
fn fold(word: &str) -> String {
    word.chars().take(128).map(|c| if c == '_' || c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn likeness(a: &str, b: &str) -> f64 {
    let contained = a.len() >= 4 && b.contains(a) || b.len() >= 4 && a.contains(b);
    let alike = strsim::normalized_damerau_levenshtein(a, b).max(strsim::jaro_winkler(a, b) - 0.1);
    if contained { alike.max(ALIKE) } else { alike }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_suggested() {
        let known = ["calm-tone", "code_reviewer", "critic", "warm-tone"];
        assert_eq!(nearest("clam-tone", known)[0], "calm-tone");
        assert_eq!(nearest("Code-Reviewer", known)[0], "code_reviewer");
        assert_eq!(nearest("reviewer", known), ["code_reviewer"]);
        assert!(nearest("zebra", known).is_empty());
        assert!(nearest("", known).is_empty());
    }
}
