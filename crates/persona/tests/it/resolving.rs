//! Which definition a name means, across scopes, as one-line scripts.
//!
//! A library is a row of scopes with `|` between them, each `scope: definition, definition`:
//!
//! - `a extends b parts x y arc w`: a persona with its base, parts and arc, each as far as it has one
//! - `part x`: a part; `arc w of x y`: an arc whose only stage has these parts
//!
//! The persona that is put together is the first one. The answer has a layer for the persona and
//! each of its bases, `scope:name(parts)`, and the stage that it is in.

use std::collections::BTreeMap;

use persona::catalog::{Catalog, PersonaState, build, complete, reach, resolve};
use persona::{
    AnyEntity, AsReport as _, Bundle, ChainError, CharacterArc, Kind, Name, Part, PartLink, PartType,
    Persona, PieceScope, Scope, Stage,
};

#[derive(Default)]
struct Library {
    entities: BTreeMap<(Scope, Kind, Name), AnyEntity>,
    first: Option<(Scope, Name)>,
}

impl Catalog for Library {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        self.entities.get(&(scope, kind, name.clone())).cloned()
    }
}

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn read(script: &str) -> Library {
    let mut library = Library::default();
    for scope in script.split(" | ") {
        let (scope, definitions) = scope.split_once(": ").expect("scope: definitions");
        let scope: Scope = scope.parse().expect("a scope");
        for definition in definitions.split(", ") {
            let words: Vec<&str> = definition.split(' ').collect();
            let entity = match words[..] {
                ["part", of] => part(of).into(),
                ["arc", of, "of", ref parts @ ..] => arc(of, parts).into(),
                [of, ref rest @ ..] => {
                    library.first.get_or_insert_with(|| (scope, name(of)));
                    persona(of, rest).into()
                }
                [] => unreachable!("a split has a first element"),
            };
            let entity: AnyEntity = entity;
            library.entities.insert((scope, entity.kind(), entity.name().clone()), entity);
        }
    }
    library
}

fn part(of: &str) -> Part {
    Part {
        name: name(of),
        part_type: PartType::Tone,
        description: None,
        summary: None,
        content: None,
        tags: Vec::new(),
    }
}

fn arc(of: &str, parts: &[&str]) -> CharacterArc {
    let parts = parts.iter().map(|part| name(part)).collect();
    let stage = Stage { name: name("only"), order: 0, description: None, condition: None, parts };
    CharacterArc { name: name(of), description: None, summary: None, stages: vec![stage], tags: Vec::new() }
}

fn persona(of: &str, rest: &[&str]) -> Persona {
    let mut persona = Persona::new(name(of));
    let mut field = "";
    for word in rest {
        match (field, *word) {
            (_, "extends" | "parts" | "arc") => field = word,
            ("extends", base) => persona.extends = Some(base.parse().expect("a base")),
            ("parts", part) => persona.parts.push(PartLink { name: name(part), order: 0, priority: 0 }),
            ("arc", arc) => persona.arc = Some(name(arc)),
            other => panic!("{other:?} means nothing"),
        }
    }
    persona
}

/// A layer with its parts, each with the scope that it was found in.
fn layer(scope: Scope, persona: &Name, parts: &[Part], scopes: &[PieceScope]) -> String {
    let found_in = |part: &Part| {
        let elsewhere = scopes.iter().find(|piece| piece.kind == Kind::Part && piece.name == part.name);
        elsewhere.map_or(scope, |piece| piece.scope)
    };
    let parts: Vec<String> = parts.iter().map(|part| format!("{}:{}", found_in(part), part.name)).collect();
    match parts.is_empty() {
        true => format!("{scope}:{persona}"),
        false => format!("{scope}:{persona}({})", parts.join(" ")),
    }
}

fn answer(bundle: &Bundle) -> String {
    let own = layer(bundle.meta.scope, &bundle.persona.name, &bundle.parts, &bundle.piece_scopes);
    let bases = bundle.bases.iter().rev();
    let bases = bases.map(|it| layer(it.meta.scope, &it.persona.name, &it.parts, &it.piece_scopes));
    let layers: Vec<String> = [own].into_iter().chain(bases).collect();
    let stage = bundle.stage.as_ref();
    let stage = stage.map(|it| format!(" | {}", layer(it.scope, &it.arc, &it.parts, &it.piece_scopes)));
    layers.join(" > ") + &stage.unwrap_or_default()
}

/// The code of an error and the chain as far as it was followed.
fn refusal(error: &ChainError) -> String {
    let chain = match error {
        ChainError::Missing { chain, base, .. } | ChainError::Upwards(chain, base) => {
            format!("{chain} → {base}")
        }
        ChainError::Cycle { chain, back_to, .. } => format!("{chain} → {back_to}"),
        ChainError::TooDeep(chain) => chain.to_string(),
    };
    format!("{} {chain}", error.code())
}

#[track_caller]
fn check(script: &str, expected: &str) {
    let library = read(script);
    let (scope, name) = library.first.clone().expect("a persona");
    let found = match build(&library, scope, &name, PersonaState::default()) {
        Ok(bundle) => answer(&bundle.expect("it is there")),
        Err(error) => refusal(&error),
    };
    assert_eq!(found, expected, "\n  script: {script}");
}

#[test]
fn a_base_is_found_in_its_own_scope_or_a_weaker_one() {
    check("project: a extends b | shared: b", "project:a > shared:b");
    check("project: a extends b | global: b | shared: b", "project:a > global:b");
    check("project: a extends b, b | shared: b", "project:a > project:b");
    check("shared: a extends b, b | project: b", "shared:a > shared:b");
    check("shared: a extends b | project: b", "base_missing shared:a → b");
    // From where it was found, not from where the first one is.
    check("project: a extends b, c | shared: b extends c, c", "project:a > shared:b > shared:c");
    check("project: a extends a | shared: a", "base_cycle project:a → project:a");
}

#[test]
fn a_named_scope_is_the_only_one() {
    check("project: a extends shared:b, b | shared: b", "project:a > shared:b");
    check(
        "project: a extends shared:a | shared: a extends builtin:a | builtin: a",
        "project:a > shared:a > builtin:a",
    );
    check("project: a extends global:b | shared: b", "base_missing project:a → global:b");
    check("shared: a extends project:b | project: b", "out_of_reach shared:a → project:b");
}

#[test]
fn each_layer_finds_its_own_pieces() {
    check("project: a parts x | shared: part x", "project:a(shared:x)");
    check("project: a parts x, part x | shared: part x", "project:a(project:x)");
    check(
        "project: a extends b parts x, part x | shared: b parts x, part x",
        "project:a(project:x) > shared:b(shared:x)",
    );
    check("global: a parts x y | project: part x | builtin: part x, part y", "global:a(builtin:x builtin:y)");
    check("shared: a parts x | project: part x", "shared:a");
}

#[test]
fn an_arc_finds_its_parts_from_where_it_is() {
    check(
        "project: a arc w, part x | shared: arc w of x y, part x | builtin: part y",
        "project:a | shared:w(shared:x builtin:y)",
    );
    check("project: a extends b | global: b arc w | shared: arc w of x", "project:a > global:b | shared:w");
    // The nearest layer that walks one.
    check(
        "project: a extends b arc v, arc v of x, part x | shared: b arc w, arc w of x, part x",
        "project:a > shared:b | project:v(project:x)",
    );
}

#[test]
fn a_bundle_is_completed_where_it_ends() {
    let script = "shared: a extends b, b extends c | builtin: c parts x arc w, part x, arc w of x";
    let library = read(script);
    let whole = build(&library, Scope::Shared, &name("a"), PersonaState::default());
    let whole = whole.expect("a chain").expect("a persona");
    assert_eq!(answer(&whole), "shared:a > shared:b > builtin:c(builtin:x) | builtin:w(builtin:x)");
    // As a database answers that has the shared ones alone.
    let mut cut = whole.clone();
    cut.bases.remove(0);
    cut.stage = None;
    let completed = complete(&library, cut, &PersonaState::default()).expect("a chain");
    assert_eq!(completed, whole);
}

#[test]
fn a_name_reaches_down_and_never_up() {
    let reached =
        |from, named| reach(from, named).map(|scope| scope.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(reached(Scope::Project, None), "project global shared builtin");
    assert_eq!(reached(Scope::Shared, None), "shared builtin");
    assert_eq!(reached(Scope::Builtin, None), "builtin");
    assert_eq!(reached(Scope::Project, Some(Scope::Shared)), "shared");
    assert_eq!(reached(Scope::Shared, Some(Scope::Project)), "");
    let found = resolve(Scope::Project, None, |scope| (scope <= Scope::Global).then_some(scope.as_str()));
    assert_eq!(found, Some((Scope::Global, "global")));
}
