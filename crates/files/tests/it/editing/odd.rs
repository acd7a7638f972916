//! Odd ways of writing an entry: the text around it stays as it is, to the byte.

use super::*;

/// The text above an entry, the entry, and the text below it.
const ODD: [(&str, &str, &str); 17] = [
    ("\t# mine\n\n", "\t[skills.x]\t# t\n\tcontent\t=\t'a'\t# c\n", "\n\t[skills.y]\n\t\tcontent = 'y'\n"),
    ("[ \"skills\" . 'a' ]\n", "[ \"skills\" . 'x' ]\n\"content\" = 'a'\n", "[ 'skills'.\"y\" ] # y\n"),
    ("[skills.a]\n", "[skills.\"\\u0078\"]\ncontent = \"\\u0061\"\n", "[skills.\"\\u0079\"]\n"),
    ("skills.a.content = 'z'\n", "skills . x . content = 'a' # c\n", "skills.y.content = 'y'\n\n[parts]\n"),
    ("[skills]\n  a = {content='z'}\n", "  x = {content='a'}  # c\n", "  y.content = \"y\"\n"),
    ("[skills]\na = {}\n", "x = { # open\n  content = 'a', # c\n  odd = 1,\n}\n", "y = {\n}\n"),
    ("skills = { a = { content = 'z' }, ", "x = { content = 'a' }, ", "y = { content = 'y' } } # all\n"),
    (
        "[skills.a]\r\ncontent = 'z'\r\n\r\n",
        "[skills.x]\ncontent = 'a'\n",
        "\r\n[skills.y]\r\ncontent = 'y'\r\n",
    ),
    ("\u{feff}# only a comment\n\n", "[skills.x]\ncontent = 'a'\n", ""),
    ("\u{feff}", "[skills.x]\ncontent = 'a'", ""),
    // Lookalikes of the entry in the text of another one, or in a comment.
    (
        "[skills.a]\ncontent = '''\n[skills.x]\ncontent = 'no'\n'''\n# [skills.x]\n# content = 'no'\n\n",
        "[skills.x]\ncontent = 'a'\n",
        "\n[skills.y]\ncontent = \"\"\"\\\n  [skills.x]\n  \"\"\"\n",
    ),
    ("#:schema ./personas.schema.json\n", "# on x\n[skills.x]\ncontent = 'a'\n", "[skills.y]\n"),
    // The table above is named below.
    ("[parts]\n", "[skills.x]\ncontent = 'a'\n", "\n[skills] # late\ny = {}\n"),
    // Unknown names and tables.
    (
        "[skills.\"é\"]\ncontent = 'ü'\n\n[skills.'no name']\n\n",
        "[skills.x]\ncontent = 'a'\n",
        "\n[[unknown]]\nat = 1979-05-27T07:32:00Z\nall = [[1, 0xF_F], [inf]]\n\n[[unknown]]\n",
    ),
    (
        "[skills.a]\ncontent = 7\n\n",
        "[skills.x]\ncontent = 'a'\n",
        "\n[skills.y]\nodd = true\ncontent = false\n",
    ),
    (
        "[skills.a]\n\n\n\n# loose\n\n",
        "# on x\n[skills.x]\ncontent = 'a'\n",
        "\n\n\n# loose too\n\n[skills.y]\n",
    ),
    ("[skills.a]\ncontent = ''\n   \n\t\n", "[skills.x]\ncontent = 'a'\n", "\t\n[skills.y]\n \n"),
];

/// True if a text is what was above and below an entry. Some blank lines between may go.
fn is_joined(text: &str, above: &str, below: &str) -> bool {
    let (head, tail) = (above.trim_end(), below.trim_start());
    let Some(between) = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)) else {
        return false;
    };
    between.trim().is_empty()
}

#[test]
fn an_entry_changes_and_nothing_around_it() {
    let long = format!("[skills.a]\ncontent = '{}'\n\n", "z".repeat(200_000));
    let all = ODD.into_iter().chain([(long.as_str(), "[skills.x]\ncontent = 'a'\n", "\n[skills.y]\n")]);
    for (above, entry, below) in all {
        let text = format!("{above}{entry}{below}");
        let others = |text: &str| {
            let document = read(text);
            let others = document.all().filter(|entry| !["x", "new"].contains(&entry.entity.name().as_str()));
            (others.cloned().collect::<Vec<_>>(), document.broken.clone())
        };
        let before = others(&text);
        let check = |changed: &str| {
            assert!(changed.starts_with(above) && changed.ends_with(below), "{text:?} -> {changed:?}");
            assert_eq!(others(changed), before, "{changed:?}");
        };
        for content in ["b", "b\n'''\"\"\"\\ c\r\n", &"long ".repeat(1000)] {
            check(&change(&text, Kind::Skill, "x", |skill| skill["content"] = json!(content)));
        }
        check(&change(&text, Kind::Skill, "x", |skill| skill["description"] = json!("d")));
        check(&rename(&text, Kind::Skill, "x", "new"));
        let removed = remove(&text, Kind::Skill, "x");
        assert!(is_joined(&removed, above, below), "{text:?} -> {removed:?}");
        assert_eq!(others(&removed), before, "{removed:?}");
        let added = put(&text, Kind::Part, json!({ "name": "more", "part_type": "tone", "content": "m" }));
        assert!(added.starts_with(&text), "{text:?} -> {added:?}");
    }
}
