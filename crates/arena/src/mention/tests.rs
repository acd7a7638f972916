use super::*;
use crate::Newcomer;

/// Asserts whom a text names among the seats (`Ana, Ben`): `@Ana Ben`, with `*` for everyone.
#[track_caller]
fn check(names: &str, text: &str, expected: &str) {
    let newcomers: Vec<Newcomer> = names.split(", ").map(Newcomer::player).collect();
    let seats = Seats::new(&newcomers);
    let found = mentions(text, &seats);
    let shown = found
        .seats
        .iter()
        .map(|it| format!("{}{}", if it.addressed { "@" } else { "" }, seats.name(it.seat)));
    let everyone = found.everyone.then(|| "*".to_owned());
    assert_eq!(shown.chain(everyone).collect::<Vec<_>>().join(", "), expected, "{text:?}");
}

#[test]
fn names_are_whole_words() {
    check("Will, Ana", "I am willing to ask Ana.", "Ana");
    check("Will, Ana", "Will, are you there?", "Will");
    check("Will, Ana", "I will ask.", "");
    check("Will, Ana", "@will go", "@Will");
    check("Ana", "Banana, Anamaria, Ana-Maria, ana_b", "");
    check("Ana", "Ana's idea", "Ana");
    check("Ana", "(Ana)", "Ana");
    check("Ana", "ana?", "Ana");
    check("Ana", "- Ana-", "Ana");
    check("Ann, Anna", "Anna and Ann", "Anna, Ann");
}

#[test]
fn an_at_sign_addresses() {
    check("Ana, Ben", "@Ben what does Ana say?", "@Ben, Ana");
    check("Ana, Ben", "Ana: @ana!", "@Ana");
    check("Ana, Ben", "write to me@ana.example", "");
    check("Ana, Ben", "@Anabel", "");
    check("Ana, Ben", "@all: @Ben first", "@Ben, *");
    check("Ana, Ben", "@allison", "");
    check("Ana, Ben", "@@Ben", "@Ben");
}

#[test]
fn names_of_several_words() {
    check("Gordon Ramsay, Marie Curie", "Gordon, and you, Marie Curie?", "Gordon Ramsay, Marie Curie");
    check("Gordon Ramsay, Ana", "@Gordon Ramsay hello", "@Gordon Ramsay");
    check("Marie Curie, Pierre Curie", "Curie", "");
    check("Marie Curie, Pierre Curie", "Pierre", "Pierre Curie");
    check("Ana, Ana 2", "Ana 2 and Ana", "Ana 2, Ana");
    check("Ludwig van Beethoven, Ana", "a van", "");
}

#[test]
fn scripts_without_spaces() {
    check("王小明, 小明", "我问王小明吧", "王小明");
    check("王小明, 李雷", "李雷和王小明", "李雷, 王小明");
    check("王", "国王万岁", "");
    check("王", "王，你好", "王");
    check("王小明", "你好@王小明", "@王小明");
    check("Ana, 田中", "田中さん、Anaは？", "田中, Ana");
    check("สมชาย", "สวัสดีสมชายครับ", "สมชาย");
}

#[test]
fn each_seat_is_found_once_in_the_order_of_the_text() {
    check("Ana, Ben, Cleo", "Cleo, Ana, Cleo, Ben", "Cleo, Ana, Ben");
    check("Ana", "", "");
}
