//! Edit, new, duplicate and rename.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::home::{CommandOutput, Home, Refused, contains, entities, outcome};
use crate::terminal::{CONTROL_C, DOWN, ENTER, ESCAPE, Terminal};

/// Writes an editor: a shell script that gets the file as its last argument.
fn editor(home: &Home, script: &str) -> String {
    let path = home.write("editor.sh", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn edit(home: &Home, script: &str, arguments: &[&str]) -> CommandOutput {
    let mut command = home.command();
    command.env("EDITOR", editor(home, script)).arg("edit").args(arguments);
    CommandOutput::of(command.output().unwrap())
}

/// The file with the text of a failed edit, which the last line of the message names.
fn kept_text(refused: &Refused) -> String {
    let message = refused.0["message"].as_str().unwrap();
    let path = std::path::Path::new(message.rsplit(' ').next().unwrap());
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {message}"));
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    text
}

/// A library with one part.
fn library() -> Home {
    let home = Home::new();
    home.ok(&["create", "part", "calm", "--type", "tone", "--summary", "Calm."]);
    home
}

#[test]
fn edit_saves_a_change() {
    let home = library();
    let script = "basename \"$1\" > name; ls -ld \"$(dirname \"$1\")\" | cut -c1-10 > mode; sed -i s/Calm/Slow/ \"$1\"";
    let edited = edit(&home, script, &["part", "calm", "--message", "slower", "--json"]).ok();
    assert_eq!(outcome(&serde_json::from_str(&edited).unwrap()), "changed part shared:calm 2");
    assert_eq!(home.json(&["show", "part", "calm"])["summary"], "Slow.");
    assert_eq!(
        (home.read("name").as_str(), home.read("mode").as_str()),
        ("calm.part.toml\n", "drwx------\n")
    );
    assert_eq!(home.json(&["history", "part", "calm"])["items"][0]["message"], "slower");
}

#[test]
fn edit_changes_one_entry_of_a_file() {
    let home = Home::new();
    let before =
        "# Ours.\n[skills.look]\ncontent = \"Look.\" # twice\n\n[skills.hear]\ncontent = \"Hear.\"\n";
    home.write("shop/personas.toml", before);
    edit(&home, "sed -i s/Hear/Listen/ \"$1\"", &["skill", "hear", "--project", "shop"]).ok();
    assert_eq!(home.read("shop/personas.toml"), before.replace("Hear", "Listen"));
}

#[test]
fn edit_skips_unchanged_and_empty_texts() {
    let home = library();
    contains(&edit(&home, "true", &["part", "calm"]).ok(), &["nothing to change", "(shared, revision 1)"]);
    contains(&edit(&home, ": > \"$1\"", &["part", "calm"]).ok(), &["nothing to change"]);
    contains(&edit(&home, "rm \"$1\"", &["part", "calm"]).ok(), &["nothing to change"]);
    let json = edit(&home, "true", &["part", "calm", "--json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["changed"], false);
    edit(&home, "exit 3", &["part", "calm", "--json"]).refused_with("editor_failed");
    assert_eq!(home.json(&["show", "part", "calm"])["revision"], 1);
}

#[test]
fn an_error_opens_the_editor_again() {
    let home = library();
    let script = "\
if [ -e first ]; then cp \"$1\" second; sed -i 's/= 3/= \"Three.\"/' \"$1\"; else touch first; sed -i 's/\"Calm.\"/3/' \"$1\"; fi";
    contains(&edit(&home, script, &["part", "calm"]).ok(), &["saved part calm", "revision 2"]);
    let second = home.read("second");
    assert!(second.starts_with("# Not saved:\n#   calm.part.toml:"), "{second}");
    contains(&second, &["summary: ", "\n[parts.calm]\n"]);
    // The line number matches the text in the editor.
    let line: usize = second.split(':').nth(2).unwrap().parse().unwrap();
    contains(second.lines().nth(line - 1).unwrap(), &["summary = 3"]);
    assert_eq!(home.json(&["show", "part", "calm"])["summary"], "Three.");
}

/// An unknown key is an error: ignoring it would lose work.
#[test]
fn a_misspelled_key_opens_the_editor_again() {
    let home = Home::new();
    let before = "[personas.a]\nsummary = \"x\"\n";
    home.write("shop/personas.toml", before);
    let script = "\
if [ -e first ]; then cp \"$1\" second; sed -i s/^sytem/system/ \"$1\"; else touch first; sed -i 's/\"x\"/\"y\"/' \"$1\"; echo 'sytem_prompt = \"long work\"' >> \"$1\"; fi";
    contains(&edit(&home, script, &["a", "--project", "shop"]).ok(), &["saved persona a"]);
    let second = home.read("second");
    assert!(second.starts_with("# Not saved:\n#   a.persona.toml:"), "{second}");
    contains(&second, &["\"sytem_prompt\"", "\"system_prompt\""]);
    let line: usize = second.split(':').nth(2).unwrap().parse().unwrap();
    assert_eq!(second.lines().nth(line - 1).unwrap(), "sytem_prompt = \"long work\"");
    let shown = home.json(&["show", "a", "--detail", "--project", "shop"]);
    assert_eq!(shown["system_prompt"], "long work");
    // If the error stays, the text is saved.
    home.write("shop/personas.toml", before);
    let script = "grep -q sytem \"$1\" || echo 'sytem_prompt = \"long work\"' >> \"$1\"";
    let refused = edit(&home, script, &["a", "--project", "shop", "--json"]).refused_with("invalid_document");
    contains(&kept_text(&refused.in_file("a.persona.toml")), &["sytem_prompt = \"long work\""]);
    assert_eq!(home.read("shop/personas.toml"), before);
}

#[test]
fn a_repeated_error_keeps_the_text() {
    let home = library();
    let script = "echo x >> opened; echo 'sumary = \"x\" \"' >> \"$1\"; sed -i '$!{/^sumary/d}' \"$1\"";
    let refused = edit(&home, script, &["part", "calm", "--json"]).refused_with("invalid_document");
    contains(&kept_text(&refused), &["sumary = \"x\" \""]);
    assert_eq!(home.read("opened"), "x\nx\n", "the same error twice is enough");
    // A missing piece is an error of the text too, and an emptied file gives up.
    home.ok(&["create", "persona", "helper", "--part", "calm"]);
    let script =
        "if grep -q clam \"$1\"; then cp \"$1\" told; : > \"$1\"; else sed -i s/calm/clam/ \"$1\"; fi";
    contains(&edit(&home, script, &["helper"]).ok(), &["nothing to change"]);
    contains(&home.read("told"), &["# ", "clam", "\"calm\""]);
}

#[test]
fn edit_places_findings_in_included_texts() {
    let home = Home::new();
    home.write("shop/personas.toml", "[personas.guide]\nsystem_prompt_file = \"prompts/guide.md\"\n");
    home.write("shop/prompts/guide.md", "You guide.\nGu\u{200b}ide.\n");
    let edited = edit(&home, "echo 'summary = \"x\"' >> \"$1\"", &["guide", "--project", "shop"]);
    assert_eq!(edited.code, 0, "{edited:#?}");
    assert!(
        edited.stderr.starts_with("  prompts/guide.md\n  2:3  error    persona guide, system_prompt: "),
        "{}",
        edited.stderr
    );
}

#[test]
fn edit_prints_lint_findings() {
    let home = Home::new();
    let before = "[personas.guide]\nsummary = \"You guide.\"\n\n[personas.other]\nsummary = \"x\"\ntool_preset = \"nothing\"\n";
    home.write("shop/personas.toml", before);
    let guide =
        |script: &str, more: &[&str]| edit(&home, script, &[&["guide", "--project", "shop"], more].concat());
    let doubtful = guide("sed -i s/guide[.]/gu\u{200b}ide./ \"$1\"", &[]);
    assert_eq!(doubtful.code, 0, "a finding does not prevent the save");
    contains(&doubtful.stdout, &["guide", "project", "revision 2"]);
    let line = doubtful.stderr.strip_suffix('\n').unwrap();
    assert!(line.starts_with("  2:"), "{line}");
    contains(line, &["  error    persona guide, summary: ", " [hidden-unicode]"]);
    assert!(!line.contains('\n') && !line.contains("other"), "only the edited entity has findings: {line}");
    // Programs get one JSON value.
    let json = guide("sed -i s/You/So/ \"$1\"", &["--json"]);
    let told: Value = serde_json::from_str(&json.stderr).unwrap();
    contains(told["warnings"][0]["message"].as_str().unwrap(), &["persona guide, summary: "]);
    assert_eq!(told["warnings"].as_array().unwrap().len(), 1, "{told}");
    let good = guide("sed -i s/gu\u{200b}ide[.]/guide./ \"$1\"", &[]);
    assert_eq!(good.stderr, "", "without findings, nothing is printed");
    // A finding in the database has no place.
    let home = library();
    home.ok(&["create", "persona", "helper", "--part", "calm", "--summary", "You help."]);
    let hidden = edit(&home, "sed -i s/Calm/Ca\u{200b}lm/ \"$1\"", &["part", "calm"]);
    assert!(hidden.stderr.starts_with("  error    part calm, summary: "), "{hidden:#?}");
    contains(&hidden.stderr, &["[hidden-unicode]\n"]);
    contains(&hidden.ok(), &["calm", "shared", "revision 2"]);
}

/// After its findings, `edit` prints no general hint about lint.
#[test]
fn edit_prints_findings_once() {
    let home = Home::new();
    let before = "[personas.guide]\nsummary = \"You guide.\"\n\n[personas.other]\nsummary = \"x\"\ntool_preset = \"nothing\"\n";
    home.write("shop/personas.toml", before);
    let edit = |script: &str| {
        let mut command = home.command();
        command.env("EDITOR", editor(&home, script)).args(["edit", "guide", "--project", "shop"]);
        let (code, screen) = Terminal::start(command).ends();
        assert_eq!(code, 0, "{screen}");
        screen
    };
    let doubtful = edit("sed -i s/guide[.]/gu\u{200b}ide./ \"$1\"");
    contains(&doubtful, &["saved persona guide", "hidden-unicode"]);
    assert!(!doubtful.contains("run `masque lint`"), "{doubtful}");
    let good = edit("sed -i s/gu\u{200b}ide[.]/guide./ \"$1\"");
    contains(&good, &["saved persona guide", "1 error", "`masque lint`"]);
    assert!(!good.contains("hidden-unicode"), "{good}");
    contains(&edit("true"), &["nothing to change", "run `masque lint`"]);
}

#[test]
fn edit_refuses_a_stale_revision() {
    let home = library();
    let masque = env!("CARGO_BIN_EXE_masque");
    let script =
        format!("{masque} update part calm --summary Other. > /dev/null; sed -i s/Calm/Slow/ \"$1\"");
    let refused = edit(&home, &script, &["part", "calm", "--json"]).refused_with("stale_revision");
    contains(&kept_text(&refused.about("name", "calm").offers("read_again")), &["Slow."]);
    assert_eq!(home.json(&["show", "part", "calm"])["summary"], "Other.");
}

#[test]
fn edit_refuses_a_file_changed_meanwhile() {
    let home = Home::new();
    let file = home.write("shop/personas.toml", "[skills.look]\ncontent = \"Look.\" # well\n");
    let script = format!("sed -i s/Look/Stare/ '{}'; sed -i s/Look/Glance/ \"$1\"", file.display());
    let edited = edit(&home, &script, &["skill", "look", "--project", "shop", "--json"]);
    contains(&kept_text(&edited.refused_with("stale_revision").about("name", "look")), &["Glance."]);
    assert_eq!(home.read("shop/personas.toml"), "[skills.look]\ncontent = \"Stare.\" # well\n");
}

#[test]
fn a_builtin_is_edited_as_a_copy() {
    let home = Home::new();
    let script = "sed -i 's/^display_name = .*/display_name = \"Mine\"/' \"$1\"";
    contains(&edit(&home, script, &["mentor"]).ok(), &["mentor", "(shared, revision 1)"]);
    let shown = home.json(&["show", "mentor"]);
    assert_eq!((&shown["display_name"], &shown["scope"]), (&"Mine".into(), &"shared".into()));
    let in_global = edit(&home, script, &["code_reviewer", "--scope", "global"]).ok();
    contains(&in_global, &["code_reviewer", "(global, revision 1)"]);
    contains(&home.read(".config/masque/personas.toml"), &["[personas.code_reviewer]", "\"Mine\""]);
    let elsewhere = edit(&home, script, &["mentor", "--scope", "global", "--json"]);
    elsewhere.refused_with("in_other_scope").about("name", "mentor");
}

#[test]
fn vi_is_the_editor_of_last_resort() {
    let home = library();
    let vi = editor(&home, "sed -i s/Calm/Quiet/ \"$1\"");
    std::fs::create_dir(home.path("bin")).unwrap();
    std::os::unix::fs::symlink(vi, home.path("bin/vi")).unwrap();
    let edit = |path: String| {
        let mut command = home.command();
        command.args(["edit", "part", "calm"]).env("PATH", path);
        Terminal::start(command).ends()
    };
    let (code, screen) = edit(format!("{}:/usr/bin:/bin", home.path("bin").display()));
    assert_eq!(code, 0, "{screen}");
    assert_eq!(home.json(&["show", "part", "calm"])["summary"], "Quiet.");
    let (code, screen) = edit(home.path("nowhere").display().to_string());
    assert_eq!(code, 2, "{screen}");
    contains(&screen, &["no editor is set", "EDITOR"]);
}

#[test]
fn an_editor_must_be_set() {
    let home = library();
    home.refused("no_editor", &["edit", "part", "calm"]).offers("set_variable");
    let with = |name: &str, value: &str| {
        let mut command = home.command();
        command.env(name, value).args(["edit", "part", "calm", "--json"]);
        CommandOutput::of(command.output().unwrap())
    };
    with("EDITOR", "no-such-editor -x").refused_with("no_editor").offers("set_variable");
    with("EDITOR", "vi 'x").refused_with("invalid_config").about("field", "EDITOR");
    // VISUAL comes first and is a command line.
    let script = editor(&home, "test \"$1\" = --wait && sed -i s/Calm/Seen/ \"$2\"");
    let saved = with("VISUAL", &format!("'{script}' --wait")).ok();
    assert_eq!(serde_json::from_str::<Value>(&saved).unwrap()["changed"], true);
    edit(&home, "true", &["part", "clam", "--json"]).refused_with("not_found").suggests("calm");
}

#[test]
fn a_template_becomes_a_persona() {
    let home = Home::new();
    let created = home.run(&["new", "reviewer", "--template", "code_reviewer"]);
    contains(&created.stdout, &["reviewer (shared, revision 1)", "copied from the builtins"]);
    contains(&created.stderr, &["masque show reviewer", "masque edit reviewer"]);
    let (mine, template) = (home.json(&["show", "reviewer"]), home.json(&["show", "code_reviewer"]));
    assert_eq!((&mine["parts"], &mine["scope"]), (&template["parts"], &json!("shared")));
    let marked = |shown: &Value| shown["tags"].as_array().unwrap().contains(&json!("builtin"));
    assert!(marked(&template) && !marked(&mine), "{mine}");
    home.refused("already_exists", &["new", "reviewer", "--template", "code_reviewer"]).offers("update_it");
    home.refused("unknown_template", &["new", "x", "--template", "code_reviwer"]).suggests("code_reviewer");
    home.refused("no_terminal", &["new", "--template", "code_reviewer"]).offers("run");
    // A file sees the builtin pieces and needs no copies.
    let mut command = home.command();
    home.write("shop/personas.toml", "# Ours.\n");
    command.current_dir(home.path("shop")).args(["new", "ours", "--template", "mentor", "--json"]);
    let written: Value = serde_json::from_str(&CommandOutput::of(command.output().unwrap()).ok()).unwrap();
    assert_eq!((&written["scope"], written.get("copied")), (&json!("project"), None));
    contains(&home.read("shop/personas.toml"), &["# Ours.\n", "[personas.ours]"]);
}

#[test]
fn new_needs_a_terminal_for_questions() {
    let home = Home::new();
    for arguments in [&["new"][..], &["new", "x"]] {
        home.refused("no_terminal", arguments);
    }
}

#[test]
fn questions_make_a_persona() {
    let home = Home::new();
    home.write("shop/personas.toml", "[parts.dry]\npart_type = \"tone\"\nsummary = \"Dry.\"\n");
    let mut command = home.command();
    command.args(["new", "--project", "shop"]);
    let mut terminal = Terminal::start(command);
    terminal.sees("Scope:").sees("project: ").sees("shared: the database").presses(ENTER);
    terminal.sees("Name:").presses("two words").presses(ENTER).sees("contains ' '");
    terminal.presses(&"\x7f".repeat(9)).presses("helper").presses(ENTER);
    terminal.sees("Template:").sees("none").presses(ENTER);
    terminal.sees("Summary:").presses("You help.").presses(ENTER);
    terminal.sees("System prompt:").presses("Help people.").presses(ENTER);
    terminal.sees("Tone:").sees("dry: Dry.").presses("dry").presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["created persona helper (project, ", "masque edit helper"]);
    contains(
        &home.read("shop/personas.toml"),
        &["[personas.helper]", "summary = \"You help.\"", "system_prompt = \"Help people.\"", "\"dry\""],
    );
}

#[test]
fn questions_lead_to_a_template_too() {
    let home = Home::new();
    home.ok(&["create", "persona", "taken", "--summary", "T."]);
    let start = |arguments: &[&str]| {
        let mut command = home.command();
        command.arg("new").args(arguments);
        Terminal::start(command)
    };
    let mut terminal = start(&["taken", "--scope", "shared"]);
    terminal.sees("shared already has a persona taken").sees("Name:").presses("mine").presses(ENTER);
    terminal.sees("Template:").presses(DOWN).presses(ENTER);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    contains(&screen, &["created persona mine (shared, "]);
    assert!(!home.json(&["show", "mine"])["parts"].as_array().unwrap().is_empty());
    let mut terminal = start(&["--template", "mentor", "--scope", "global"]);
    terminal.sees("Name:").presses("guide").presses(ENTER);
    assert_eq!(terminal.ends().0, 0);
    contains(&home.read(".config/masque/personas.toml"), &["[personas.guide]"]);
    let mut terminal = start(&["other"]);
    terminal.sees("Scope:").presses(ESCAPE);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 1, "{screen}");
    contains(&screen, &["cancelled; nothing was changed"]);
    assert!(!screen.contains("error"), "{screen}");
    let mut terminal = start(&["other"]);
    terminal.sees("Scope:").presses(CONTROL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    contains(&screen, &["cancelled; nothing was changed"]);
    home.refused("not_found", &["show", "other"]);
}

#[test]
fn a_duplicate_is_independent() {
    let home = library();
    let copied = home.json(&["duplicate", "part", "calm", "calmer", "--message", "to try"]);
    assert_eq!(outcome(&copied), "created part shared:calmer 1");
    home.ok(&["update", "part", "calmer", "--summary", "Calmer."]);
    assert_eq!(home.json(&["show", "part", "calm"])["summary"], "Calm.");
    home.refused("already_exists", &["duplicate", "part", "calm", "calmer"]).offers("update_it");
    let teacher = home.json(&["duplicate", "mentor", "teacher"]);
    assert_eq!((&teacher["action"], &teacher["scope"]), (&json!("created"), &json!("shared")));
    assert!(!entities(&teacher["copied"]).is_empty(), "{teacher}");
    let across = home.json(&["duplicate", "part", "calm", "calm", "--from", "shared", "--scope", "global"]);
    assert_eq!(across["scope"], "global");
    contains(&home.read(".config/masque/personas.toml"), &["[parts.calm]"]);
    home.refused("not_found", &["duplicate", "nobody", "x"]).about("name", "nobody");
    home.refused("missing_field", &["duplicate", "calm"]);
    home.refused("unknown_word", &["duplicate", "prat", "calm", "x"]).suggests("part");
}

#[test]
fn references_follow_a_rename() {
    let home = library();
    home.ok(&["create", "persona", "helper", "--part", "calm"]);
    home.write("shop/personas.toml", "[personas.ours] # keep\nparts = [\"calm\"] # and this\n");
    let renamed =
        home.json(&["--project", "shop", "rename", "part", "calm", "quiet", "--message", "clearer"]);
    assert_eq!(outcome(&renamed), "changed part shared:quiet 2");
    contains(&entities(&renamed["followed"]), &["persona helper", "persona ours"]);
    assert_eq!(home.json(&["show", "helper"])["parts"][0]["name"], "quiet");
    contains(&home.read("shop/personas.toml"), &["[personas.ours] # keep\n", "\"quiet\""]);
    home.refused("not_found", &["show", "part", "calm"]).offers("list_kind");
    let history = home.json(&["history", "part", "quiet"]);
    assert_eq!(history["items"].as_array().unwrap().len(), 2, "the history survives: {history}");
    assert_eq!(outcome(&home.json(&["rename", "helper", "helper"])), "unchanged persona shared:helper 2");
    let builtin = home.json(&["rename", "part", "plain-tone", "plainer-tone"]);
    assert_eq!(entities(&builtin["copied"]), "part plain-tone");
    let json = home.json(&["--project", "shop", "rename", "ours", "theirs"]);
    assert_eq!((&json["name"], &json["followed"]), (&json!("theirs"), &Value::Null));
}

#[test]
fn rename_lists_references_it_cannot_update() {
    let home = library();
    home.write("shop/personas.toml", "[personas.ours]\nparts = [\"calm\"]\n");
    // Masque never writes to a file with errors.
    home.ok(&["--project", "shop", "list"]);
    home.write("shop/personas.toml", "[personas.ours]\nparts = [\"calm\"]\nsummary = \"x\n");
    let renamed = home.run(&["--project", "shop", "rename", "part", "calm", "quiet"]);
    assert_eq!(renamed.code, 0, "{renamed:#?}");
    contains(&renamed.stdout, &["  persona ours (project): "]);
}
