//! Token counts come from outside: tokenizers are large, and which one is right depends on the model.

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The tokenizer's name, which answers state beside every count.
    fn tokenizer(&self) -> &str;

    fn count(&self, text: &str) -> usize;
}
