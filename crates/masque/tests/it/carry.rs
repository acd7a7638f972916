//! Promote, export and import.

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, contains, entities};
use crate::terminal::{CONTROL_C, ENTER, Terminal};

const PROJECT: &str = "\
[personas.reviewer]
summary = \"You review.\"
parts = [\"calm\", \"plain-tone\"]
skills = [\"look\"]

# Slow speech.
[parts.calm]
part_type = \"tone\"
summary = \"Calm.\"

[skills.look]
content = \"Look twice.\"

[personas.other]
parts = [\"calm\"]
";

fn library() -> Home {
    let home = Home::new();
    home.write("shop/personas.toml", PROJECT);
    home
}

fn in_shop<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["--project", "shop"], arguments].concat()
}

#[test]
fn promote_moves_a_persona_with_its_pieces() {
    let home = library();
    let moved =
        home.json(&in_shop(&["promote", "reviewer", "--from", "project", "--to", "shared", "--move"]));
    contains(&entities(&moved["carried"]), &["part calm", "skill look"]);
    contains(&entities(&moved["removed"]), &["persona reviewer", "skill look"]);
    assert_eq!(entities(&moved["copied"]), "part plain-tone");
    assert_eq!(entities(&moved["kept"]), "part calm");
    assert_eq!(home.json(&["show", "reviewer"])["scope"], "shared");
    let file = home.read("shop/personas.toml");
    contains(&file, &["[personas.other]\nparts = [\"calm\"]\n", "# Slow speech.\n[parts.calm]\n"]);
    assert!(!file.contains("reviewer") && !file.contains("look"), "{file}");
    let back = ["promote", "reviewer", "--from", "shared", "--to", "project", "--json"];
    let back: Value = serde_json::from_str(&home.ok(&in_shop(&back))).unwrap();
    assert_eq!(
        (&back["from"], &back["to"], &back["removed"]),
        (&json!("shared"), &json!("project"), &json!([]))
    );
    contains(&home.read("shop/personas.toml"), &["[personas.reviewer]"]);
    assert_eq!(home.json(&["show", "reviewer"])["scope"], "shared", "it was copied");
}

#[test]
fn promote_copies_unless_told_to_move() {
    let home = library();
    let promote = in_shop(&["promote", "reviewer", "--to", "shared"]);
    let copied = home.run(&promote);
    contains(&copied.stderr, &["project still has it and wins over shared", "--move"]);
    let copied = copied.ok();
    contains(&copied, &["copied persona reviewer from project to shared", "with it, to shared: "]);
    assert_eq!(copied.matches("persona reviewer").count(), 1, "it does not come with itself: {copied}");
    assert_eq!(home.read("shop/personas.toml"), PROJECT, "the originals stay");
    assert_eq!(home.json(&["show", "reviewer"])["scope"], "shared");
    let moved = home.json(&[promote.as_slice(), &["--move"]].concat());
    assert_eq!(entities(&moved["carried"]), "", "it is there already");
    contains(&entities(&moved["removed"]), &["persona reviewer", "skill look"]);
    assert!(!home.read("shop/personas.toml").contains("[personas.reviewer]"));
}

#[test]
fn promote_refuses_to_overwrite() {
    let home = library();
    home.ok(&["create", "skill", "look", "--content", "Look once."]);
    let promote = in_shop(&["promote", "reviewer", "--to", "shared", "--move"]);
    home.refused("occupied", &promote).about("name", "look");
    home.refused("not_found", &["show", "reviewer"]);
    home.ok(&[promote.as_slice(), &["--replace"]].concat());
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look twice.");
    home.refused("already_in_scope", &["promote", "reviewer", "--to", "shared"]);
    home.refused("not_found", &["promote", "nobody", "--to", "global"]).about("name", "nobody");
    home.refused("invalid_value", &["promote", "reviewer", "--to", "builtin"]).offers("use_one_of");
    home.refused("missing_field", &["promote", "reviewer"]);
}

#[test]
fn promote_keeps_pieces_that_others_use() {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home.ok(&["create", "persona", "one", "--part", "calm"]);
    home.ok(&["create", "persona", "two", "--part", "calm"]);
    let moved = home.json(&["promote", "one", "--to", "global", "--move"]);
    assert_eq!((&moved["from"], &moved["to"]), (&json!("shared"), &json!("global")));
    assert_eq!(
        (entities(&moved["removed"]), entities(&moved["kept"])),
        ("persona one".into(), "part calm".into())
    );
    assert_eq!(home.json(&["show", "two"])["parts"][0]["name"], "calm");
}

#[test]
fn pieces_are_promoted_too() {
    let home = library();
    let moved = home.ok(&in_shop(&["promote", "look", "--kind", "skill", "--to", "global"]));
    contains(&moved, &["skill look"]);
    contains(&home.read(".config/masque/personas.toml"), &["[skills.look]", "Look twice."]);
}

#[test]
fn a_bundle_goes_to_another_library() {
    let home = library();
    let bundle = home.ok(&in_shop(&["export", "reviewer", "other"]));
    contains(&bundle, &["[personas.reviewer]", "[personas.other]", "[parts.calm]", "[skills.look]"]);
    let told = home.ok(&in_shop(&["export", "reviewer", "other", "--output", "bundle.toml"]));
    contains(&told, &["wrote bundle.toml"]);
    assert_eq!(home.read("bundle.toml"), bundle);
    let json: Value = home.json(&in_shop(&["export", "look", "--kind", "skill"]));
    contains(json["bundle"].as_str().unwrap(), &["[skills.look]"]);

    let other = Home::new();
    other.write("bundle.toml", &bundle);
    let preview = other.run(&["import", "bundle.toml"]);
    assert_eq!(preview.code, 5, "a script must not believe that it worked: {preview:#?}");
    contains(&preview.stdout, &["reviewer", "persona", "create"]);
    other.refused("needs_consent", &["import", "bundle.toml"]).offers("confirm");
    contains(&other.ok(&["import", "bundle.toml", "--dry-run"]), &["create", "nothing was imported"]);
    other.refused("not_found", &["show", "reviewer"]);
    contains(&other.ok(&["import", "bundle.toml", "--yes"]), &["imported 4 entities into shared"]);
    assert_eq!(
        other.json(&["show", "reviewer"])["parts"],
        home.json(&in_shop(&["show", "reviewer"]))["parts"]
    );
    contains(&other.ok(&["import", "bundle.toml", "--yes"]), &["unchanged", "nothing to import"]);
    let history = other.json(&["history", "reviewer"]);
    assert_eq!(history["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_whole_library_is_exported_into_one_file() {
    let home = library();
    home.ok(&["create", "skill", "ours", "--content", "Of the team.", "--scope", "shared"]);
    home.ok(&["create", "skill", "mine", "--content", "Of the user.", "--scope", "global"]);
    let told = home.ok(&in_shop(&["export", "--all", "--output", "all.toml"]));
    contains(&told, &["wrote all.toml"]);
    let all = home.read("all.toml");
    contains(&all, &["[personas.reviewer]", "[personas.other]", "[skills.ours]", "[skills.mine]"]);
    assert!(!all.contains("[personas.mentor]"), "every library has the builtins:\n{all}");
    let other = Home::new();
    other.write("all.toml", &all);
    other.ok(&["import", "all.toml", "--yes"]);
    assert_eq!(other.ok(&["export", "--all"]), all, "it is the same library");
    contains(&other.ok(&["import", "all.toml", "--yes"]), &["nothing to import"]);

    let shared = home.ok(&in_shop(&["export", "--all", "--scope", "shared"]));
    assert!(shared.contains("[skills.ours]") && !shared.contains("[skills.mine]"), "{shared}");
    home.ok(&["create", "skill", "look", "--content", "Another one."]);
    let hidden = home.json(&in_shop(&["export", "--all"]));
    assert_eq!(hidden["hidden"], json!([{ "scope": "shared", "kind": "skill", "name": "look" }]));
    contains(&home.run(&in_shop(&["export", "--all"])).stderr, &["skill look"]);
    home.refused("conflicting_fields", &["export", "--all", "reviewer"]);
    home.refused("missing_field", &["export"]);
    let empty = Home::new().run(&["export", "--all"]);
    assert_ne!(empty.stderr, "");
    assert_eq!(empty.ok(), "");
    assert_eq!(Home::new().json(&["export", "--all"])["bundle"], "");
}

#[test]
fn a_preview_names_the_fields_that_change() {
    let home = Home::new();
    home.ok(&["create", "skill", "look", "--content", "Look once.", "--tag", "eyes"]);
    let bundle = "[skills.look]\ncontent = \"Look twice.\"\n";
    let import = |flags: &[&str]| {
        let answer = home.run_with_input(&[&["import", "-", "--json"], flags].concat(), bundle);
        serde_json::from_str::<Value>(&answer.ok()).unwrap()
    };
    let plan = import(&["--dry-run"]);
    assert_eq!((&plan["imported"], &plan["scope"]), (&json!(false), &json!("shared")));
    let fields = json!([
        { "field": "content", "from": "Look once.", "to": "Look twice." },
        { "field": "tags", "from": ["eyes"] },
    ]);
    let item = json!({ "kind": "skill", "name": "look", "change": "update", "fields": fields });
    assert_eq!(plan["items"], json!([item]));
    let text = home.run_with_input(&["import", "-", "--dry-run"], bundle).ok();
    contains(&text, &["    content  Look once. → Look twice.\n", "    tags     eyes → (cleared)\n"]);
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look once.");
    assert_eq!(import(&["--yes", "--message", "from a friend"])["imported"], true);
    assert_eq!(home.json(&["show", "skill", "look"])["content"], "Look twice.");
    let history = home.json(&["history", "skill", "look"]);
    assert_eq!(history["items"][0]["message"], "from a friend");
    let text = home.run_with_input(&["import", "-", "--scope", "global", "--dry-run"], bundle).ok();
    contains(&text, &["create, overrides shared\n"]);
    let plan = import(&["--scope", "global", "--dry-run"]);
    assert_eq!((&plan["items"][0]["in_place_of"], plan.get("copied")), (&json!("shared"), None));
    let builtin = "[skills.steelman]\ncontent = \"Ours.\"\n[personas.ours]\nparts = [\"plain-tone\"]\n";
    let text = home.run_with_input(&["import", "-", "--dry-run"], builtin).ok();
    contains(
        &text,
        &["create, overrides the builtin\n", " → Ours.\n", "copied from the builtins: part plain-tone\n"],
    );
}

#[test]
fn import_refuses_an_empty_bundle() {
    let home = Home::new();
    for text in ["", "[persona.ours]\n"] {
        home.write("b.toml", text);
        home.refused("nothing_to_import", &["import", "b.toml", "--yes"]);
    }
}

#[test]
fn export_lists_missing_entities() {
    let home = library();
    home.write("shop/personas.toml", "[personas.reviewer]\nparts = [\"gone\"]\ntool_preset = \"lost\"\n");
    let exported = home.run(&in_shop(&["export", "reviewer"]));
    contains(&exported.stderr, &["part gone", "tool preset lost"]);
    contains(&exported.ok(), &["[personas.reviewer]\n", "\"gone\""]);
    let missing = json!([{ "kind": "part", "name": "gone" }, { "kind": "tool_preset", "name": "lost" }]);
    assert_eq!(home.json(&in_shop(&["export", "reviewer"]))["missing"], missing);
    assert_eq!(home.run(&["export", "critic"]).stderr, "");
    assert_eq!(home.json(&["export", "critic"]).get("missing"), None);
}

#[test]
fn a_preview_fits_the_width_and_places_warnings() {
    let home = Home::new();
    let long = "Look at every line of it, and then once more. ".repeat(4);
    home.ok(&["create", "skill", "look", "--content", &format!("{long}Twice."), "--description", "When."]);
    home.write(
        "b.toml",
        &format!(
            "[skills.look]\ncontent = \"{long}Once.\"\nsumary = \"x\"\ntags = [\"a\"]\n[mcp_servers.x]\n"
        ),
    );
    for width in [60, 80, 120] {
        let mut command = home.command();
        command.args(["import", "b.toml", "--dry-run"]).env("COLUMNS", width.to_string());
        let preview = CommandOutput::of(command.output().unwrap()).ok();
        let fields: Vec<&str> = preview.lines().filter(|line| line.contains(" → ")).collect();
        assert_eq!(fields.len(), 3, "{preview}");
        assert!(fields.iter().all(|line| line.chars().count() <= width), "{preview}");
        contains(fields[0], &["    content      …", "Twice. → …", "Once."]);
        contains(&preview, &["description  When. → (cleared)", "tags         (not set) → a"]);
    }
    let warned = home.ok(&["import", "b.toml", "--dry-run"]);
    contains(&warned, &["warning: b.toml:3:1: skill look: unknown key \"sumary\"", "[mcp_servers]"]);
    assert_eq!(warned.matches("warning").count(), 2, "{warned}");
}

#[test]
fn an_import_reads_included_texts() {
    let home = Home::new();
    home.write("in/prompts/x.md", "Speak slowly.\n");
    let bundle = "[parts.calm]\npart_type = \"tone\"\ncontent_file = \"prompts/x.md\"\n";
    home.write("in/bundle.toml", bundle);
    home.ok(&["import", "in/bundle.toml", "--yes"]);
    assert_eq!(home.json(&["show", "part", "calm"])["content"], "Speak slowly.\n");
    let piped = home.run_in_with_input("in", &["--json", "import", "-", "--yes"], bundle);
    piped.refused_with("include_not_allowed").offers("write_out");
}

#[test]
fn a_builtin_is_copied_not_moved() {
    let home = Home::new();
    let copied = home.json(&["promote", "mentor", "--to", "shared"]);
    assert_eq!((&copied["from"], &copied["removed"]), (&json!("builtin"), &json!([])), "{copied}");
    contains(&entities(&copied["carried"]), &["persona mentor"]);
}

#[test]
fn import_refuses_an_invalid_bundle() {
    let home = Home::new();
    home.write(
        "broken.toml",
        "[skills.look]\ncontent = \"x\"\n\n[parts.calm]\npart_type = \"tone\"\nsummary = 3\n",
    );
    home.refused("invalid_document", &["import", "broken.toml", "--yes"]).in_file("broken.toml").at(6, 11);
    home.refused("not_found", &["show", "skill", "look"]).offers("list_kind");
    home.refused("file_not_found", &["import", "nowhere.toml"]).in_file("nowhere.toml");
    home.refused("conflicting_fields", &["import", "broken.toml", "--yes", "--dry-run"])
        .about("field", "--yes");
    home.refused("not_found", &["export", "nobody"]).about("name", "nobody");
    home.refused("file_not_found", &["export", "mentor", "--output", "nowhere/x.toml"])
        .in_file("nowhere/x.toml");
}

#[test]
fn import_asks_for_confirmation() {
    let home = Home::new();
    home.write("bundle.toml", "[skills.look]\ncontent = \"Look.\"\n");
    let ask = |answer: &str| {
        let mut command = home.command();
        command.args(["import", "bundle.toml"]);
        let mut terminal = Terminal::start(command);
        terminal.sees("create").sees("Import 1 entity into shared?").presses(answer).presses(ENTER);
        terminal.ends()
    };
    let (code, screen) = ask("n");
    assert_eq!(code, 0);
    contains(&screen, &["nothing was imported"]);
    home.refused("not_found", &["show", "skill", "look"]).offers("list_kind");
    let (code, screen) = ask("y");
    assert_eq!(code, 0);
    contains(&screen, &["imported 1 entity into shared"]);
    home.ok(&["show", "skill", "look"]);
    home.ok(&["delete", "skill", "look"]);
    let (code, screen) = ask(CONTROL_C);
    assert_eq!(code, 130, "{screen}");
    contains(&screen, &["cancelled; nothing was changed"]);
    home.refused("not_found", &["show", "skill", "look"]);
}

#[test]
fn promote_warns_about_placeholders() {
    let home = Home::new();
    home.write("shop/personas.toml", "[personas.team]\nsystem_prompt = \"For ${env.TEAM}.\"\n");
    let promote = |arguments: &[&str]| {
        let answer = home.run_in("shop", &[&["promote", "team", "--json"], arguments].concat()).ok();
        entities(&serde_json::from_str::<Value>(&answer).unwrap()["unfilled"])
    };
    assert_eq!(promote(&["--to", "shared"]), "persona team");
    assert_eq!(promote(&["--from", "shared", "--to", "project"]), "");
}

/// An import takes the same file sizes as a personas.toml in place.
#[test]
fn an_import_is_limited_like_a_file() {
    let home = Home::new();
    let mut bundle = "[skills.look]\ncontent = \"Look.\"\n#".to_owned();
    bundle.push_str(&"x".repeat(persona::limits::FILE_BYTES - bundle.len()));
    home.write("b.toml", &bundle);
    contains(&home.ok(&["import", "b.toml", "--yes"]), &["imported 1 entity into shared"]);
    bundle.push('x');
    home.write("b.toml", &bundle);
    home.refused("file_too_large", &["import", "b.toml", "--yes"]).in_file("b.toml");
}

#[test]
fn an_import_shows_no_progress_without_a_terminal() {
    let home = Home::new();
    let bundle: String = (0..500).map(|at| format!("[skills.s{at}]\ncontent = \"Look.\"\n")).collect();
    home.write("b.toml", &bundle);
    let imported = home.run(&["import", "b.toml", "--yes", "--json"]);
    assert_eq!(imported.stderr, "");
    let imported: Value = serde_json::from_str(&imported.stdout).unwrap();
    assert_eq!((&imported["imported"], imported["items"].as_array().unwrap().len()), (&json!(true), 500));
    let again = home.run(&["import", "b.toml", "--yes"]);
    assert_eq!(again.stderr, "");
    contains(&again.stdout, &["nothing to import: everything is already up to date"]);
}

/// The export of a persona of `init` is the file that `init` wrote.
#[test]
fn the_export_of_a_first_persona_imports_as_unchanged() {
    let home = Home::new();
    home.run_in("shop", &["init"]).ok();
    for names in [&["reviewer"][..], &["--all"]] {
        let bundle = home.run_in("shop", &[&["export"], names].concat()).ok();
        home.write("shop/r.toml", &bundle);
        let again = home.run_in("shop", &["import", "r.toml", "--yes"]).ok();
        contains(&again, &["unchanged", "nothing to import: everything is already up to date"]);
    }
}

#[test]
fn a_long_import_is_counted_before_the_question() {
    let home = Home::new();
    let bundle: String = (0..1_100).map(|at| format!("[skills.s{at}]\ncontent = \"Look.\"\n")).collect();
    home.write("b.toml", &bundle);
    let ask = |answer: &str| {
        let mut command = home.command();
        command.env("NO_COLOR", "1").args(["import", "b.toml"]);
        let mut terminal = Terminal::start(command);
        terminal.sees("create").sees("skill").sees("1,100").sees("Import 1,100 entities into shared?");
        terminal.presses(answer).presses(ENTER);
        terminal.ends()
    };
    let (code, screen) = ask("n");
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["--dry-run lists", "nothing was imported"]);
    assert!(!screen.contains("s17"), "{screen}");
    contains(&home.ok(&["import", "b.toml", "--dry-run"]), &["s17 ", "s1099 "]);
    let (code, screen) = ask("y");
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["imported 1,100 entities into shared"]);
}
