use super::Label;

#[test]
fn a_safe_id_is_its_own_label() {
    for id in ["T1", "fix-login", "a.b_c", "0"] {
        assert_eq!(Label::of(id).as_str(), id);
    }
}

#[test]
fn any_other_id_gets_a_digest() {
    let long = "x".repeat(200);
    let ids =
        ["", " ", "../..", "a/b", "-rf", ".git", "a.lock", "a..b", "integration", "Größe", "@{u}", &long];
    let labels: Vec<Label> = ids.iter().map(|id| Label::of(id)).collect();
    for (at, label) in labels.iter().enumerate() {
        let text = label.as_str();
        assert!(super::is_safe(text), "{text:?}");
        assert!(!labels[..at].contains(label), "{text:?} twice");
    }
    assert_eq!(Label::of("a/b"), Label::of("a/b"));
    assert_ne!(Label::of("a/b"), Label::of("a b"));
    assert_ne!(Label::of("integration"), Label::integration());
}
