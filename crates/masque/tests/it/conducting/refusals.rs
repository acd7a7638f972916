//! Files with mistakes, and ids that name no track or several.

use serde_json::{Value, json};

use super::site::{Site, ask, calls, ticket};
use crate::home::contains;

#[test]
fn without_a_file_the_remedy_is_to_write_one() {
    let site = Site::new(&[]);
    let refused = site.refused("file_not_found", &["conduct"]).in_file("work/track.toml").offers("run").0;
    contains(&refused.to_string(), &["masque conduct --draft EPIC.md --output track.toml"]);
    site.refused("file_not_found", &["conduct", "other.toml"]).in_file("other.toml");
    site.refused("file_not_found", &["conduct", "--dry-run"]).in_file("track.toml");
    let spoken = site.run(&["conduct"]);
    assert_eq!(spoken.code, 3, "{spoken:?}");
    contains(&spoken.stderr, &["error: there is no track file", "masque conduct --draft"]);
    // There is nothing to go on with either.
    site.refused("unknown_track", &["conduct", "--resume"]);
    site.refused("unknown_track", &["conduct", "resume"]);
}

const MISTAKEN: &str = r#"title = "Two words"
checks = "./check.sh"

[[tickets]]
id = "T1"
title = "Say more"

[[tickets]]
id = "T2"
title = "Say it again"
tier = 9

[[tickets]]
id = "T3"
"#;

/// Right by its types alone.
const MEANINGLESS: &str = r#"title = "Two words"
concurrency = 1000
scope = ["src/[a"]

[[tickets]]
id = "T1"
title = "Say more"
depends_on = ["T3"]

[[tickets]]
id = "t1"
title = ""

[[tickets]]
id = "T2"
title = "Say it again"
files = ["../secrets"]
"#;

/// The mistakes of a file, as `masque conduct` names them.
#[track_caller]
fn mistakes(site: &Site, text: &str, arguments: &[&str]) -> Vec<String> {
    site.write("track.toml", text);
    let refused = site.refused("invalid_track", arguments).in_file("track.toml").0;
    refused["candidates"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let site = Site::new(&[]);
    for arguments in [&["conduct"][..], &["conduct", "--dry-run"], &["conduct", "track.toml"]] {
        let found = mistakes(&site, MISTAKEN, arguments);
        let expected = [
            "2:1: checks: unknown key; did you mean \"check\"?",
            "11:8: tickets[1].tier: a tier is a number from 1 to 4, not 9",
            "13:1: tickets[2]: title is missing; add title = …",
        ];
        assert_eq!(found, expected);
    }
    let found = mistakes(&site, MEANINGLESS, &["conduct"]);
    let starts = [
        "2:1: concurrency: ",
        "3:10: scope[0]: ",
        "8:15: tickets[0].depends_on[0]: ",
        "11:1: tickets[1].id: ",
        "12:1: tickets[1].title: ",
        "17:10: tickets[2].files[0]: ",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    assert!(found.iter().zip(starts).all(|(mistake, start)| mistake.starts_with(start)), "{found:#?}");

    let spoken = site.run(&["conduct"]);
    assert_eq!(spoken.code, 2, "{spoken:?}");
    let lines: Vec<&str> = spoken.stderr.lines().collect();
    assert!(lines[0].starts_with("error: ") && lines[0].ends_with("track.toml has mistakes:"), "{lines:#?}");
    let shown: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(shown, found);
    // The same from standard input.
    let mut piped = site.command(&["conduct", "-"]);
    piped.stdin(std::fs::File::open(site.path("track.toml")).unwrap());
    let piped = crate::home::CommandOutput::of(piped.output().unwrap());
    assert_eq!(piped.code, 2, "{piped:?}");
    contains(&piped.stderr, &["standard input has mistakes:", "2:1: concurrency: "]);
    // Nothing was stored.
    assert_eq!(site.json(&["conduct", "list"])["items"], json!([]));
}

#[test]
fn a_command_is_no_file_and_takes_no_options_of_a_start() {
    let site = Site::new(&[]);
    // Global options may come before it.
    for arguments in
        [&["conduct", "--json", "list"][..], &["--json", "conduct", "list"], &["conduct", "list", "--json"]]
    {
        assert_eq!(site.ok(arguments), "{\"items\":[]}\n", "{arguments:?}");
    }
    for (arguments, option) in [
        (&["conduct", "--dry-run", "clean"][..], "--dry-run"),
        (&["conduct", "track.toml", "list"], "FILE"),
        (&["conduct", "--yes", "list"], "--yes"),
    ] {
        let refused = site.refused("conflicting_fields", arguments).0;
        contains(refused["message"].as_str().unwrap(), &[&format!("{option} cannot be used with COMMAND")]);
    }
}

#[test]
fn a_circle_of_tickets_is_printed() {
    let site = Site::new(&[]);
    let tickets = [ticket("T1", &["T3"]), ticket("T2", &["T1"]), ticket("T3", &["T2"])];
    site.write_track(&json!({ "tickets": tickets }));
    let refused = site.refused("track_cycle", &["conduct"]).in_file("track.toml").0;
    let message = refused["message"].as_str().unwrap();
    let circles = ["T1 → T3 → T2 → T1", "T2 → T1 → T3 → T2", "T3 → T2 → T1 → T3"];
    assert!(circles.iter().any(|circle| message.contains(circle)), "{message}");
    assert_eq!(site.run(&["conduct"]).code, 2);
    assert_eq!(site.run(&["conduct", "--dry-run"]).code, 2);
    assert_eq!(site.rehearsed.requests().len(), 0);
}

#[test]
fn a_part_of_an_id_names_a_track_if_it_names_one() {
    let site = Site::new(&[calls("worker", "# T1:", &[ask("May I?")])]);
    site.write_track(&json!({}));
    let ids: Vec<String> =
        (0..2).map(|_| site.conduct(7, &[]).last().unwrap()["id"].as_str().unwrap().to_owned()).collect();
    let title = |part: &str| site.json(&["conduct", "show", part])["id"].clone();
    for id in &ids {
        assert_eq!(title(id), Value::from(id.as_str()));
        assert_eq!(title(&id[id.len() - 8..]), Value::from(id.as_str()));
    }
    // Ids begin with the time, so their beginnings are alike.
    let refused = site.refused("ambiguous_track", &["conduct", "show", &ids[0][..6]]);
    refused.suggests(&ids[0]).suggests(&ids[1]).offers("did_you_mean");
    let unknown = "0193abcd-0000-7000-8000-000000000000";
    for arguments in [
        &["conduct", "show", unknown][..],
        &["conduct", "show", "ffffffff"],
        &["conduct", "log", unknown],
        &["conduct", "report", "ffffffff"],
        &["conduct", "--resume", unknown],
        &["conduct", "pause", "ffffffff"],
        &["conduct", "merge", unknown],
        &["conduct", "answer", unknown, "T1", "Yes."],
    ] {
        site.refused("unknown_track", arguments).offers("run");
    }
    site.refused("invalid_value", &["conduct", "show", "xyz"]).about("field", "ID");
    let id = ids[1].as_str();
    site.refused("unknown_ticket", &["conduct", "log", id, "T2"]).offers("run");
    site.refused("unknown_ticket", &["conduct", "answer", id, "T2", "Yes."]);
    site.refused("unknown_ticket", &["conduct", "cap", id, "--ticket", "T2", "--tokens", "5"]);
    site.refused("track_state", &["conduct", "accept", id, "T1"]);
}
