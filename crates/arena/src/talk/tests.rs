use super::*;

#[test]
fn courtesies_have_no_content() {
    for text in [
        "Thank you!",
        "Well said.",
        "I couldn't agree more",
        "Exactly, that's so true!",
        "👍",
        "...",
        "谢谢！",
    ] {
        assert!(is_courtesy(text), "{text}");
    }
    for text in ["No.", "Thank you for the bread recipe", "I vote for Ana", "Why?", "我不同意这个计划"]
    {
        assert!(!is_courtesy(text), "{text}");
    }
}

#[test]
fn echoes_say_the_same_again() {
    assert!(is_echo("Bread!", "bread"));
    assert!(is_echo(
        "We should all bake more bread together every single morning before work.",
        "We should all bake more bread together every single morning before work!!"
    ));
    assert!(is_echo(
        "Honestly, the best thing about this town is the harbour in the early morning light.",
        "Honestly the best thing about this town is the harbour in the early morning light, yes."
    ));
    assert!(!is_echo("I accuse Ana", "I accuse Ben"));
    assert!(!is_echo(
        "We should bake more bread together every morning before work.",
        "We should never bake bread: the morning is for sleeping, not for work."
    ));
    assert!(!is_echo("Yes", "No"));
}

#[test]
fn tokens_are_estimated_by_bytes() {
    assert_eq!(["", "a", "abcd", "abcde", "王小明"].map(estimated_tokens), [0, 1, 1, 2, 3]);
}
