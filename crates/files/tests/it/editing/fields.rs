//! Changing single fields of an entry.

use super::*;

#[test]
fn a_changed_value_keeps_everything_around_it() {
    let text = "[personas.x]\n# on the summary\n  summary   =  'old'   # beside it\ndescription = \"\"\"\nkept\"\"\"\n";
    assert_eq!(
        change(text, Kind::Persona, "x", |persona| persona["summary"] = json!("new")),
        "[personas.x]\n# on the summary\n  summary   =  \"new\"   # beside it\ndescription = \"\"\"\nkept\"\"\"\n"
    );
    assert_eq!(
        change(text, Kind::Persona, "x", |persona| persona["summary"] = json!("a\nb")),
        "[personas.x]\n# on the summary\n  summary   =  \"\"\"\na\nb\"\"\"   # beside it\ndescription = \"\"\"\nkept\"\"\"\n"
    );
}

#[test]
fn a_removed_field_goes_with_the_comments_directly_above() {
    let text = "[personas.x]\n# about all\n\n# on the summary\n# indeed\nsummary = 's' # beside\n# on the tags\ntags = ['t']\nmystery = true\n";
    let without = |field: &str| {
        let field = field.to_owned();
        change(text, Kind::Persona, "x", |persona| {
            drop(persona.as_object_mut().expect("an object").remove(&field));
        })
    };
    assert_eq!(
        without("summary"),
        "[personas.x]\n# about all\n\n# on the tags\ntags = ['t']\nmystery = true\n"
    );
    assert_eq!(
        without("tags"),
        "[personas.x]\n# about all\n\n# on the summary\n# indeed\nsummary = 's' # beside\nmystery = true\n"
    );
}

#[test]
fn a_new_field_follows_the_last_line() {
    let describe = |persona: &mut Value| persona["description"] = json!("d");
    for (text, expected) in [
        ("[personas.x]\n", "[personas.x]\ndescription = \"d\"\n"),
        ("[personas.x] # x", "[personas.x] # x\ndescription = \"d\""),
        (
            "[personas.x]\n\tsummary = 's' # s\n# end\n\n[personas.y]\n",
            "[personas.x]\n\tsummary = 's' # s\n\tdescription = \"d\"\n# end\n\n[personas.y]\n",
        ),
        (
            "[personas]\nx.summary = 's'\ny = {}\n",
            "[personas]\nx.summary = 's'\nx.description = \"d\"\ny = {}\n",
        ),
        (
            "personas . x . summary = 's'\n[personas.y]\n",
            "personas . x . summary = 's'\npersonas . x.description = \"d\"\n[personas.y]\n",
        ),
        ("[personas]\nx = {} # x\n", "[personas]\nx = { description = \"d\" } # x\n"),
        ("[personas]\nx = { summary = 's', }\n", "[personas]\nx = { summary = 's', description = \"d\", }\n"),
        (
            "personas = { x = { summary = 's' }, y = {} }\n",
            "personas = { x = { summary = 's', description = \"d\" }, y = {} }\n",
        ),
        (
            "# plan\n[personas.x.plan_persona]\nmodel = 'm'\n",
            "[personas.x]\ndescription = \"d\"\n\n# plan\n[personas.x.plan_persona]\nmodel = 'm'\n",
        ),
    ] {
        assert_eq!(change(text, Kind::Persona, "x", describe), expected);
    }
}

#[test]
fn line_ends_and_texts_stay_what_they_are() {
    let text = "\u{feff}[skills.x]\r\ncontent = 'old'\r\n\r\n[skills.y]\r\n";
    let with = |content: &str| change(text, Kind::Skill, "x", |skill| skill["content"] = json!(content));
    assert_eq!(
        with("a\r\nb"),
        "\u{feff}[skills.x]\r\ncontent = \"\"\"\r\na\r\nb\"\"\"\r\n\r\n[skills.y]\r\n"
    );
    // A line end of the file would become part of the text, so it is escaped.
    assert_eq!(
        with("a\n b"),
        "\u{feff}[skills.x]\r\ncontent = \"\"\"\r\na\\n\\\r\n\\u0020b\"\"\"\r\n\r\n[skills.y]\r\n"
    );
}

#[test]
fn a_field_that_says_the_default_goes_or_stays() {
    let text = "[personas.x]\nparts_mode = \"append\"\ntags = [ ] # none\n";
    assert_eq!(
        change(text, Kind::Persona, "x", |persona| persona["parts_mode"] = json!("replace")),
        "[personas.x]\ntags = [ ] # none\n"
    );
    assert_eq!(
        change(text, Kind::Persona, "x", |persona| persona["tags"] = json!(["t"])),
        "[personas.x]\nparts_mode = \"append\"\ntags = [\"t\"] # none\n"
    );
    let guardrail = "[guardrails.x]\ncontent = 'c'\nseverity = 'high'\n";
    assert_eq!(
        change(guardrail, Kind::Guardrail, "x", |guardrail| guardrail["severity"] = json!("medium")),
        "[guardrails.x]\ncontent = 'c'\nseverity = \"medium\"\n"
    );
}

#[test]
fn tables_in_an_entry_change_where_they_stand() {
    let model = |persona: &mut Value| persona["plan_persona"]["model"] = json!("n");
    for (text, expected) in [
        (
            "[personas.x]\nplan_persona = { model = 'm', odd = 1 } # p\n",
            "[personas.x]\nplan_persona = { model = \"n\", odd = 1 } # p\n",
        ),
        ("[personas.x]\nplan_persona.model = 'm' # p\n", "[personas.x]\nplan_persona.model = \"n\" # p\n"),
        (
            "[personas.x.plan_persona]\n# p\nmodel = 'm'\nodd = 1\n",
            "[personas.x.plan_persona]\n# p\nmodel = \"n\"\nodd = 1\n",
        ),
        (
            "[personas.x]\n\n[skills.y]\n",
            "[personas.x]\n\n[personas.x.plan_persona]\nmodel = \"n\"\n\n[skills.y]\n",
        ),
        (
            "[personas.x]\n[skills.y]\n",
            "[personas.x]\n\n[personas.x.plan_persona]\nmodel = \"n\"\n\n[skills.y]\n",
        ),
        (
            "[personas]\nx.summary = 's'\n",
            "[personas]\nx.summary = 's'\nx.plan_persona = { model = \"n\" }\n",
        ),
    ] {
        assert_eq!(change(text, Kind::Persona, "x", model), expected);
    }
    let gone = |persona: &mut Value| drop(persona.as_object_mut().expect("an object").remove("plan_persona"));
    assert_eq!(
        change(
            "[personas.x]\n\n# p\n[personas.x.plan_persona]\nmodel = 'm'\n\n[skills.y]\n",
            Kind::Persona,
            "x",
            gone
        ),
        "[personas.x]\n\n[skills.y]\n"
    );
    assert_eq!(
        change("[personas.x]\nplan_persona.model = 'm'\n", Kind::Persona, "x", gone),
        "[personas.x]\n"
    );
    // The entry stays, also where it was only there through its table.
    assert_eq!(
        change("# top\n\n[personas.x.plan_persona]\nmodel = 'm'\n\n[skills.y]\n", Kind::Persona, "x", gone),
        "# top\n\n[personas.x]\n\n[skills.y]\n"
    );
}
