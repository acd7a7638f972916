use super::*;

#[track_caller]
fn check_malformed(text: &str, expected: &[&str]) {
    let found: Vec<&str> = malformed(text).map(|(_, shown)| shown).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn malformed_placeholders_are_found() {
    for text in
        ["${env.}", "${ENV.X}", "${Env.X}", "${env.x y}", "${ env.X }", "${env:X}", "${env.1X}", "${env.a-b}"]
    {
        check_malformed(text, &[text]);
        check_malformed(&format!("a {text} b ${{env.OK}}"), &[text]);
    }
    check_malformed("${env.X and on", &["${env.X and on"]);
    check_malformed("${env.X\nand on}", &["${env.X"]);
    check_malformed("${env.é}", &["${env.é}"]);
    check_malformed("${env .X}", &["${env .X}"]);
}

#[test]
fn variables_of_other_languages_are_ignored() {
    for text in
        ["${env.X}", "$${env.X}", "${ENV}", "${ENVIRONMENT}", "${HOME}", "env.X", "$env.X", "${", "${en"]
    {
        check_malformed(text, &[]);
    }
}

#[test]
fn a_message_shows_no_more_than_a_line_of_it() {
    let long = format!("${{env.{} x}}", "é".repeat(500));
    let (_, shown) = malformed(&long).next().expect("one");
    assert_eq!(shown.chars().count(), 42);
}

#[test]
fn places_count_from_one_in_characters() {
    let text = "añ\nß${x}\r\n!";
    let place = |at: usize| Place::of(text, at).to_string();
    assert_eq!(place(0), "1:1");
    assert_eq!(place(text.find('$').expect("it is there")), "2:2");
    assert_eq!(place(text.find('!').expect("it is there")), "3:1");
    // Inside of "ñ", and past the end.
    assert_eq!(place(2), "1:2");
    assert_eq!(place(999), "3:2");
}
