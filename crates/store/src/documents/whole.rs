//! A persona with everything that it refers to, as one document.

use persona::Kind;

use super::references::chain;
use super::{definition, linked_rows, meta, table};
use database::Dialect;

/// Everything that loading a persona needs, as one row: the bundle of the shared persona named
/// `$1` or null with its bases, the state of builtins and of inherited arcs under that name, and
/// the parts named in the JSON list `$2`.
pub(crate) fn load(dialect: Dialect) -> String {
    let row = dialect.object(&[
        ("bundle", bundle(dialect)),
        ("states", states(dialect)),
        ("parts", named(dialect, Kind::Part, "$2")),
    ]);
    format!("SELECT {}", dialect.text(&row))
}

/// Everything that a persona in a file needs of this database: like [`load`], for the shared base
/// that it ends in, and the pieces named in the JSON lists `$2` to `$6`.
pub(crate) fn gather(dialect: Dialect) -> String {
    let base_arc = format!(
        "(SELECT {} FROM agent_personas p JOIN persona_arc pa ON pa.persona_id = p.id \
         JOIN character_arcs c ON c.id = pa.arc_id WHERE p.name = $1)",
        loaded_arc(dialect, "c")
    );
    let arcs = dialect.array(
        &loaded_arc(dialect, "o"),
        &format!("character_arcs o WHERE {}", dialect.in_list("o.name", "$6")),
        "o.name",
    );
    let row = dialect.object(&[
        ("bundle", bundle(dialect)),
        ("parts", named(dialect, Kind::Part, "$2")),
        ("traits", named(dialect, Kind::Trait, "$3")),
        ("skills", named(dialect, Kind::Skill, "$4")),
        ("guardrails", named(dialect, Kind::Guardrail, "$5")),
        ("arcs", dialect.nested(&arcs)),
        ("base_arc", dialect.nested(&base_arc)),
    ]);
    format!("SELECT {}", dialect.text(&row))
}

/// The definitions of a kind whose names are in a JSON list.
fn named(dialect: Dialect, kind: Kind, list: &str) -> String {
    let rows = format!("{} o WHERE {}", table(kind), dialect.in_list("o.name", list));
    dialect.nested(&dialect.array(&definition(dialect, kind, "o"), &rows, "o.name"))
}

/// The shared persona named `$1` with all that it links and builds on.
fn bundle(dialect: Dialect) -> String {
    let mut fields = with_pieces(dialect, "p");
    fields.extend([
        ("bases", dialect.nested(&bases(dialect))),
        ("stage", dialect.nested(&active_stage(dialect))),
        ("compiled", dialect.nested(&compiled(dialect, "p"))),
    ]);
    dialect.nested(&format!("(SELECT {} FROM agent_personas p WHERE p.name = $1)", dialect.object(&fields)))
}

/// A persona's definition, and those of the pieces that it links.
fn with_pieces(dialect: Dialect, alias: &str) -> Vec<(&'static str, String)> {
    let pieces = |kind: Kind| {
        let rows = linked_rows(kind, alias);
        dialect.nested(&dialect.array(&definition(dialect, kind, "x"), &rows, "x.name"))
    };
    vec![
        ("persona", definition(dialect, Kind::Persona, alias)),
        ("meta", meta(dialect, alias)),
        ("parts", pieces(Kind::Part)),
        ("traits", pieces(Kind::Trait)),
        ("skills", pieces(Kind::Skill)),
        ("guardrails", pieces(Kind::Guardrail)),
    ]
}

/// The shared bases of the persona `p`, root first, as far as the chain stays in shared. One more
/// than a chain may have: the reader sees that it is too long, or runs in a circle.
fn bases(dialect: Dialect) -> String {
    let mut fields = with_pieces(dialect, "b");
    let arc = format!(
        "(SELECT {} FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id WHERE pa.persona_id = b.id)",
        loaded_arc(dialect, "c")
    );
    fields.push(("arc", dialect.nested(&arc)));
    let chain = chain(dialect, "s.name = $1");
    let list = dialect.array(
        &dialect.object(&fields),
        "chain JOIN agent_personas b ON b.id = chain.id WHERE chain.depth > 0",
        "chain.depth DESC",
    );
    // The array is a subquery in parentheses, after the chain that it reads.
    let list = format!("({chain} {})", &list[1..list.len() - 1]);
    let none = dialect.empty_list();
    format!("CASE WHEN p.extends IS NULL THEN {none} ELSE {list} END")
}

/// The arc `alias` with the parts of all its stages.
fn loaded_arc(dialect: Dialect, alias: &str) -> String {
    dialect.object(&[
        ("arc", definition(dialect, Kind::Arc, alias)),
        ("parts", dialect.nested(&arc_parts(dialect, alias))),
    ])
}

/// The parts of all stages of the arc `alias`.
fn arc_parts(dialect: Dialect, alias: &str) -> String {
    let rows = format!(
        "agent_parts y WHERE y.id IN (SELECT k.part_id FROM arc_stage_parts k JOIN arc_stages s ON s.id = k.stage_id WHERE s.arc_id = {alias}.id)"
    );
    dialect.array(&definition(dialect, Kind::Part, "y"), &rows, "y.name")
}

/// The stored state of personas named `$1` without a row of their own, and of inherited arcs.
fn states(dialect: Dialect) -> String {
    let rows = "persona_state z WHERE z.scope IN ('builtin', 'shared') AND z.origin = '' AND z.name = $1";
    dialect.nested(&dialect.array(&state(dialect), rows, "z.scope"))
}

/// The row `z` of stored state.
fn state(dialect: Dialect) -> String {
    dialect.object(&[
        ("scope", "z.scope".to_owned()),
        ("arc", "z.arc".to_owned()),
        ("stage", "z.stage".to_owned()),
        ("compiled", dialect.nested(&compiled(dialect, "z"))),
    ])
}

/// State, place and revision of the persona `$3` of the file `$2` of the scope `$1`.
pub fn file_state(dialect: Dialect) -> String {
    let state = format!(
        "(SELECT {} FROM persona_state z WHERE z.scope = $1 AND z.origin = $2 AND z.name = $3)",
        state(dialect)
    );
    let meta = dialect.object(&[
        ("scope", "e.scope".to_owned()),
        ("revision", "e.revision".to_owned()),
        ("created_at", dialect.time_text("e.created_at")),
        ("updated_at", dialect.time_text("e.updated_at")),
    ]);
    let meta = format!(
        "(SELECT {meta} FROM file_entries e \
         WHERE e.scope = $1 AND e.origin = $2 AND e.kind = 'persona' AND e.name = $3)"
    );
    let row = dialect.object(&[("state", dialect.nested(&state)), ("meta", dialect.nested(&meta))]);
    format!("SELECT {}", dialect.text(&row))
}

fn active_stage(dialect: Dialect) -> String {
    let parts = dialect.array(
        &definition(dialect, Kind::Part, "x"),
        "arc_stage_parts k JOIN agent_parts x ON x.id = k.part_id WHERE k.stage_id = s.id",
        "k.part_order, x.name",
    );
    let stage = dialect.object(&[
        ("arc", "c.name".to_owned()),
        ("stage", "s.name".to_owned()),
        ("order", "s.stage_order".to_owned()),
        ("of", "(SELECT count(*) FROM arc_stages t WHERE t.arc_id = c.id)".to_owned()),
        (
            "position",
            "(SELECT count(*) FROM arc_stages t WHERE t.arc_id = c.id AND (t.stage_order, t.name) <= (s.stage_order, s.name))"
                .to_owned(),
        ),
        ("description", "s.description".to_owned()),
        ("condition", "s.condition".to_owned()),
        ("parts", dialect.nested(&parts)),
    ]);
    format!(
        "(SELECT {stage} FROM persona_arc pa JOIN character_arcs c ON c.id = pa.arc_id \
         JOIN arc_stages s ON s.id = pa.current_stage_id WHERE pa.persona_id = p.id)"
    )
}

fn compiled(dialect: Dialect, alias: &str) -> String {
    let object = dialect.object(&[
        ("summary", format!("{alias}.compiled_summary")),
        ("detail", format!("{alias}.compiled_detail")),
        ("at", dialect.time_text(&format!("{alias}.compiled_at"))),
        ("fingerprint", format!("{alias}.compiled_fingerprint")),
    ]);
    format!("CASE WHEN {alias}.compiled_at IS NOT NULL THEN {object} END")
}
