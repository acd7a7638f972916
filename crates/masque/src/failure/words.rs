//! Lists of words inside a sentence.

/// Words with commas between them.
pub(crate) fn listed<T: AsRef<str>>(words: &[T]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    words.join(", ")
}

/// Words with commas between them, after an opening; nothing where there are none.
pub(crate) fn joined<T: AsRef<str>>(opening: &str, words: &[T]) -> String {
    if words.is_empty() { String::new() } else { format!("{opening}{}", listed(words)) }
}
