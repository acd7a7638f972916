//! Outcomes and notices as people read them, pinned in two snapshots. Other tests compare codes and
//! fields.

use crate::compose::edit;
use crate::home::{CommandOutput, Home};
use crate::rehearsed::Rehearsed;

/// A command with its output, without the paths of the home.
fn shown(home: &Home, command: &str, output: CommandOutput) -> String {
    let CommandOutput { code, stdout, stderr } = output;
    let text = format!("$ masque {command}\n{stdout}{stderr}");
    let text = text.replace(&home.path("").display().to_string(), "HOME/");
    if code == 0 { format!("{text}\n") } else { format!("{text}exit code {code}\n\n") }
}

/// Runs commands in the project `shop`, one after the other.
fn transcript(home: &Home, commands: &[&str]) -> String {
    let run = |command: &&str| {
        let arguments: Vec<&str> = command.split(' ').collect();
        shown(home, command, home.run_in("shop", &arguments))
    };
    commands.iter().map(run).collect()
}

#[test]
fn outcomes() {
    let home = Home::new();
    home.write("shop/bundle.toml", "[skills.look]\ncontent = \"Look.\"\n");
    let mut text = transcript(
        &home,
        &[
            "create part calm --part-type tone --summary Calm.",
            "create part calm --part-type tone --summary Calm.",
            "update part calm --summary Slow.",
            "update part calm --summary Slow.",
            "create persona guide --part calm --summary Guides.",
            "create persona team --summary ${env.TEAM}",
            "link guide skill steelman",
            "link guide skill steelman",
            "unlink guide skill steelman",
            "create arc growth",
            "arc add-stage growth guest",
            "arc assign guide growth",
            "arc unassign guide",
            "arc unassign guide",
            "rename part calm quiet",
            "duplicate guide guide2",
            "tag guide good",
            "rollback part quiet 1",
            "rollback part quiet 1",
            "promote guide --from shared --to global --move",
            "delete part quiet",
            "delete part quiet --force",
            "delete part quiet",
            "import bundle.toml --yes",
            "import bundle.toml --yes",
            "new reviewer --template code_reviewer",
            "conflicts",
            "list parts --query zzzzqqqq",
            "search zzzzqqqq",
            "db prune --keep 1",
        ],
    );
    home.write("shop/personas.toml", "[personas.clerk]\nparts = [\"gone\"]\n\n[skills.odd]\ncontent = 5\n");
    text += &transcript(&home, &["export clerk", "show skill look", "delete skill odd", "show clerk --flat"]);
    for (script, arguments) in [
        ("true", &["skill", "look"][..]),
        (": > \"$1\"", &["skill", "look"]),
        ("sed -i s/Look/See/ \"$1\"", &["skill", "look"]),
        ("sed -i s/See/Se\u{200b}e/ \"$1\"", &["skill", "look"]),
        ("exit 3", &["skill", "look"]),
        ("sed -i 's/^summary = .*/summary = \"Mine.\"/' \"$1\"", &["mentor"]),
    ] {
        text += &shown(&home, &format!("edit {}", arguments.join(" ")), edit(&home, script, arguments));
    }
    insta::assert_snapshot!(text);
}

const SCRIPT: &str = r#"
[[reply]]
when = { tool_result_of = "write_file" }
text = "Done."

[[reply]]
when = { last_user = "write" }
say = [{ tool = "write_file", input = { path = "out.txt", content = "x" } }]

[[reply]]
when = { last_user = "refuse" }
text = "No."
stop = "refusal"

[[reply]]
text = "You said {{last_user}}."
"#;

#[test]
fn runs() {
    let rehearsed = Rehearsed::new(SCRIPT);
    let home = &rehearsed.home;
    let config = home.read(".config/masque/config.toml");
    let keyless = "[providers.k]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"KKEY\"\n";
    home.write(".config/masque/config.toml", &format!("{config}\n{keyless}"));
    let personas = home.read(".config/masque/personas.toml");
    let picky = "\n[personas.picky]\nsummary = \"P\"\npreferred_models = [{ provider = \"k\", model = \"m\" }, { provider = \"nowhere\", model = \"m\" }, { provider = \"test\", model = \"m\" }]\n";
    home.write(".config/masque/personas.toml", &format!("{personas}{picky}"));
    let mut text = String::new();
    for arguments in [
        &["run", "worker", "hi"][..],
        &["run", "worker", "write"],
        &["run", "worker", "write", "--approve", "read"],
        &["run", "worker", "write", "--approve", "all"],
        &["run", "worker", "refuse"],
        &["run", "picky", "hi"],
        &["run", "worker", "hi", "--model", "k/m"],
        &["sessions", "show", "ffff"],
        &["sessions", "delete", "ffff"],
    ] {
        text += &shown(home, &arguments.join(" "), rehearsed.run(arguments));
    }
    for input in ["hi\n/mode plan\n/nonsense\n", "/plan\n"] {
        text += &shown(
            home,
            &format!("chat worker < {input:?}"),
            rehearsed.run_with_input(&["chat", "worker"], input),
        );
    }
    home.write("work/personas.toml", "[mcp_servers.mark]\ncommand = \"touch\"\nargs = [\"started\"]\n");
    text += &shown(home, "run worker hi", rehearsed.run(&["run", "worker", "hi"]));
    let home = Home::new();
    text += &shown(&home, "models", home.run(&["models"]));
    home.write(".config/masque/config.toml", keyless);
    text += &shown(&home, "run mentor hi", home.run(&["run", "mentor", "hi"]));
    insta::assert_snapshot!(text);
}
