//! Token counts come from the caller: tokenizers are large, and the right one depends on the model.

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The tokenizer's name, which answers state beside every count.
    fn tokenizer(&self) -> &str;

    fn count(&self, text: &str) -> usize;

    /// True if no token reaches from the end of a line into this text, so that both can be counted apart.
    /// A counter that does not know says false.
    fn is_apart(&self, _text: &str) -> bool {
        false
    }
}

/// The tokens that each of some texts adds to those before it. They add up to the tokens of the whole,
/// even if a longer text has fewer tokens than its beginning.
pub(crate) fn each_adds(counter: &dyn TokenCounter, texts: &[&str]) -> Vec<usize> {
    let mut whole = String::new();
    let mut counts: Vec<usize> = Vec::with_capacity(texts.len());
    for text in texts {
        whole.push_str(text);
        counts.push(counter.count(&whole));
    }
    for at in (1..counts.len()).rev() {
        counts[at - 1] = counts[at - 1].min(counts[at]);
    }
    let before = std::iter::once(0).chain(counts.iter().copied());
    counts.iter().zip(before).map(|(count, before)| count - before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts two characters as fewer tokens than one.
    struct Pairs;

    impl TokenCounter for Pairs {
        fn tokenizer(&self) -> &'static str {
            "pairs"
        }

        fn count(&self, text: &str) -> usize {
            match text {
                "a" => 3,
                "aa" => 2,
                text => text.len(),
            }
        }
    }

    #[test]
    fn what_each_adds_adds_up() {
        for texts in [vec!["a", "a"], vec!["a", "a", "b"], vec!["b", "", "c"], vec![]] {
            let added = each_adds(&Pairs, &texts);
            assert_eq!(added.len(), texts.len());
            assert_eq!(added.iter().sum::<usize>(), Pairs.count(&texts.concat()), "{texts:?}");
        }
        assert_eq!(each_adds(&Pairs, &["a", "a"]), [2, 0]);
    }
}
