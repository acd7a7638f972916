//! Token counts come from the caller: tokenizers are large, and the right one depends on the model.

/// Counts the tokens of a text.
pub trait TokenCounter: Send + Sync {
    /// The tokenizer's name, which answers state beside every count.
    fn tokenizer(&self) -> &str;

    fn count(&self, text: &str) -> usize;
}
