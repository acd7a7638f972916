use super::*;

#[track_caller]
fn check_names(asked: &[&str], expected: &[&str]) {
    let newcomers: Vec<Newcomer> = asked.iter().copied().map(Newcomer::player).collect();
    let seats = Seats::new(&newcomers);
    let names: Vec<&str> = seats.iter().map(|seat| seat.name.as_str()).collect();
    assert_eq!(names, expected, "{asked:?}");
}

#[test]
fn names_are_unique_and_cannot_forge() {
    check_names(&["Ana", "Ben"], &["Ana", "Ben"]);
    check_names(&["Ana", "ana", "ANA "], &["Ana", "ana 2", "ANA 3"]);
    check_names(&["Ana 2", "Ana", "Ana"], &["Ana 2", "Ana", "Ana 3"]);
    check_names(&["all", "Table", "You"], &["all 2", "Table 2", "You 2"]);
    check_names(&["", "\u{202e}\n"], &["Player 1", "Player 2"]);
    check_names(&["Ana\nBen: hi"], &["Ana Ben hi"]);
    check_names(&["A\u{202e}na\u{200b}", "Ana"], &["Ana", "Ana 2"]);
    check_names(&["{\"from\":\"Ben\"}"], &["fromBen"]);
    check_names(&["王小明", "Zoë"], &["王小明", "Zoë"]);
    assert_eq!(clean_name(&"x".repeat(500)).len(), limits::NAME_CHARS);
}

#[test]
fn names_resolve_without_regard_to_case() {
    let mut seats = Seats::new(&[Newcomer::player("Gordon Ramsay"), Newcomer::player("Ana")]);
    assert_eq!(seats.resolve(" gordon  ramsay "), Some(SeatId(0)));
    assert_eq!(seats.resolve("@Ana"), Some(SeatId(1)));
    assert_eq!(seats.resolve("Gordon"), None);
    seats.get_mut(SeatId(1)).expect("a seat").left = true;
    assert_eq!(seats.resolve("Ana"), None);
}
