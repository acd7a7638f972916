//! Inheritance, as one-line scripts.

use persona::{Assembled, Name, assemble};

use crate::script::{Toks, check, check_places, check_refused, read};

mod chains;

/// Asserts the fields, root's and all: `field=value`, in the order of a definition.
#[track_caller]
fn check_fields(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    let assembled = assemble(&bundle, &request, &Toks).unwrap_or_else(|error| panic!("{script}: {error}"));
    assert_eq!(fields(&assembled), expected, "\n  script: {script}");
}

fn fields(assembled: &Assembled<'_>) -> String {
    let it = &assembled.persona;
    let models: Vec<&str> = it.preferred_models.iter().map(|model| model.model.as_str()).collect();
    let examples: Vec<&str> = it.examples.iter().map(|example| example.persona.as_str()).collect();
    let names = |names: &[Name]| names.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
    let plan = it.plan_persona.clone().unwrap_or_default();
    let name = |name: &Option<Name>| name.as_ref().map(Name::to_string);
    let list = |text: String| Some(text).filter(|text| !text.is_empty());
    [
        ("display_name", it.display_name.clone()),
        ("description", it.description.clone()),
        ("summary", it.summary.clone()),
        ("detail", it.detail.clone()),
        ("author", it.author.clone()),
        ("license", it.license.clone()),
        ("prompt", it.system_prompt.clone()),
        ("greetings", list(it.greetings.join(","))),
        ("models", list(models.join(","))),
        ("examples", list(examples.join(","))),
        ("tool_preset", name(&it.tool_preset)),
        ("bias_profile", name(&it.bias_profile)),
        ("context_preset", name(&it.context_preset)),
        ("aggregation", it.aggregation_strategy.map(|it| it.to_string())),
        ("rounds", it.max_tool_rounds.map(|it| it.to_string())),
        ("plan.instruction", plan.instruction),
        ("plan.model", plan.model),
        ("plan.tool_preset", name(&plan.tool_preset)),
        ("arc", name(&it.arc)),
        ("inputs", list(names(&it.test_inputs))),
        ("tags", list(it.tags.join(","))),
    ]
    .into_iter()
    .filter_map(|(field, value)| Some(format!("{field}={}", value?.replace('\n', "/").replace(' ', "_"))))
    .collect::<Vec<_>>()
    .join(" ")
}

#[test]
fn a_persona_has_its_bases_parts() {
    check("own tone=warm >", "tone=warm");
    check("own tone=warm > > ", "tone=warm");
    check("> own tone=warm", "tone=warm");
    check("own tone=warm > own goal=win", "tone=warm goal=win");
    check("own tone=warm > own goal=win > own voice=low", "voice=low tone=warm goal=win");
    check("own tone=a > own goal=b > own voice=c > own flaw=d", "tone=a goal=b voice=c flaw=d");
}

#[test]
fn the_strongest_layer_supplies_a_type() {
    check("own tone=warm > own tone=dry", "tone=dry");
    check("own tone=warm tone=wry > own tone=dry", "tone=dry");
    check("own tone=warm > own tone=dry tone=cold", "tone=cold tone=dry");
    check("own tone=warm goal=win > own tone=dry", "tone=dry goal=win");
    check("own tone=warm > own tone=dry > own tone=cold", "tone=cold");
    check("own tone=warm > > own tone=cold", "tone=cold");
    check("own tone=warm > own tone=dry >", "tone=dry");
    check("own tone=a goal=a1 > own tone=b voice=b1 > own voice=c", "goal=a1 tone=b voice=c");
    check("own tone=a goal=b voice=c > own tone=d goal=e voice=f", "tone=d goal=e voice=f");
}

#[test]
fn append_adds_instead() {
    check("own tone=warm > append tone=wry", "tone=warm tone=wry");
    check("own tone=warm > append tone=wry > append tone=shy", "tone=warm tone=wry tone=shy");
    check("own tone=warm > append tone=wry > own tone=dry", "tone=dry");
    check("own tone=warm > own tone=dry > append tone=wry", "tone=dry tone=wry");
    check("append tone=warm > own tone=dry", "tone=dry");
    check("append tone=warm > append tone=wry", "tone=warm tone=wry");
    check("own tone=warm goal=win > append tone=wry voice=low", "tone=warm goal=win voice=low tone=wry");
    check("own tone=warm > append", "tone=warm");
    // Whatever their names and orders, own parts follow the base's of their type.
    check("own tone=warm@5 > append tone=apt@0", "tone=warm tone=apt");
    check(
        "own tone=z@0 goal=y@1 > append tone=a@0 goal=b@1 voice=c@2",
        "tone=z tone=a goal=y goal=b voice=c",
    );
    // A part of another type has the order that it is given; without one it comes last.
    check("own tone=z@10 goal=y@30 > append voice=c@20", "tone=z voice=c goal=y");
    check("own tone=z@10 goal=y@30 > append voice=c@0 flaw=d@1", "tone=z goal=y voice=c flaw=d");
    check_places("own tone=z@3 > append tone=a@0 goal=b@9", "base:tone=z@3/0 own:tone=a@3/0 own:goal=b@9/0");
    // The mode of one layer says nothing about the next.
    check("own tone=a > append tone=b > own goal=c > append tone=d", "tone=a goal=c tone=b tone=d");
}

#[test]
fn a_part_that_is_linked_again_is_there_once_as_the_stronger_layer_has_it() {
    check_places("own tone=warm@1/5 > append tone=warm@3/7", "own:tone=warm@3/7");
    check_places("own tone=warm@1/5 > own tone=warm@3/7", "own:tone=warm@3/7");
    check_places(
        "own tone=warm@1/5 tone=wry@2/5 > append tone=warm@3/7",
        "base:tone=wry@2/5 own:tone=warm@3/7",
    );
    check_places(
        "own tone=warm@1 > append tone=warm@2 > append goal=win@1",
        "own:goal=win@1/0 base:tone=warm@2/0",
    );
    // Each layer means its own definition by the name: the texts have different lengths.
    check("own tone=warm*5 > append tone=warm*2 | max 9", "tone=warm | 2 tokens");
    check("own tone=warm*5 > append goal=win*2 | max 9", "tone=warm goal=win | 7 tokens");
}

#[test]
fn parts_of_all_personas_are_sorted_by_order_then_name() {
    check_places("own tone=b@2 > own goal=a@1", "own:goal=a@1/0 base:tone=b@2/0");
    check_places("own tone=b@1 > own goal=a@2", "base:tone=b@1/0 own:goal=a@2/0");
    check_places("own tone=b@1 > own goal=a@1", "own:goal=a@1/0 base:tone=b@1/0");
    check_places("own tone=a@1 > own goal=b@1", "base:tone=a@1/0 own:goal=b@1/0");
    check_places(
        "own identity=i@10 goal=g@30 > own tone=t@20 > own voice=v@25 flaw=f@-1",
        "own:flaw=f@-1/0 base:identity=i@10/0 base:tone=t@20/0 own:voice=v@25/0 base:goal=g@30/0",
    );
    // A part that replaces a base's has the place of its own link, not the slot of the other.
    check_places("own tone=warm@1 goal=win@2 > own tone=dry@3", "base:goal=win@2/0 own:tone=dry@3/0");
}

#[test]
fn priorities_are_those_of_the_links() {
    check_places("own tone=warm@1/9 > own tone=dry@1/2", "own:tone=dry@1/2");
    check_places("own tone=warm@1/9 > append tone=dry@2/2", "base:tone=warm@1/9 own:tone=dry@2/2");
    check(
        "own tone=warm@1/9 goal=win@2/1 > append voice=low@3/5 | limit 2",
        "tone=warm voice=low | limit win",
    );
    check("own tone=warm@1/1 > append tone=dry@2/9 | limit 1", "tone=dry | limit warm");
}

#[test]
fn removals_take_away_from_the_bases() {
    check("own tone=warm goal=win > remove parts:warm", "goal=win");
    check("own tone=warm tone=wry > remove parts:warm", "tone=wry");
    check("own tone=warm > remove parts:warm > own goal=win", "goal=win");
    check("own tone=warm > > remove parts:warm", "");
    check("own tone=warm > remove parts:warm > append tone=warm", "tone=warm");
    check("own tone=warm > remove parts:warm | own tone=dry", "tone=dry");
    check("own tone=warm > remove parts:warm | append tone=dry", "tone=dry");
    check("own tone=warm > remove parts:absent", "tone=warm");
    // It is about what is below: a layer's own link to the same part stands.
    check("own tone=warm@1 > remove parts:warm | append tone=warm@5", "tone=warm");
    check("remove parts:warm > own tone=warm", "tone=warm");
}

#[test]
fn stages_and_overrides_are_above_all_personas() {
    check("own tone=warm > own tone=dry | stage tone=cold", "tone=cold");
    check("own tone=warm > own goal=win | stage tone=cold", "tone=cold goal=win");
    check("own tone=warm > own goal=win | override tone=icy", "tone=icy goal=win");
    check("own tone=warm > append tone=dry | stage tone=cold | override tone=icy", "tone=icy");
    check_places(
        "own tone=warm@1/5 > append tone=dry@2/9 goal=win@3 | stage tone=cold",
        "stage:tone=cold@1/9 own:goal=win@3/5",
    );
    check_places("own tone=warm@4 > | stage goal=win", "base:tone=warm@4/0 stage:goal=win@5/0");
    check_refused("own tone=warm > own goal=win | override tone=?icy", "unknown_override overrides.tone=icy");
}

#[test]
fn filters_and_budgets_do_not_tell_layers_apart() {
    check("own tone=warm > own goal=win | types tone", "tone=warm | types win");
    check("own tone=warm@1/2*4 > own goal=win@2/1*4 | max 5", "tone=warm | max win | 4 tokens");
    check("traits calm*4 > own goal=win*4 | max 5", "goal=win | max trait:calm | 4 tokens");
    check(
        "guardrails honest*9 > own goal=win*4 | max 5",
        "guardrail:honest | max win | 9 tokens | over budget",
    );
}

#[test]
fn lists_are_unions_bases_first() {
    check("traits calm > traits kind", "trait:calm trait:kind");
    check("traits calm kind > traits kind wry", "trait:calm trait:kind trait:wry");
    check("traits b > traits a > traits c", "trait:b trait:a trait:c");
    check("skills sql > skills go", "skill:sql skill:go");
    check("guardrails honest:low > guardrails safe:critical", "guardrail:safe guardrail:honest");
    check("guardrails honest > guardrails safe", "guardrail:honest guardrail:safe");
    check("traits calm > own tone=dry", "tone=dry trait:calm");
    check_fields("tags a b > tags b c", "tags=a,b,c");
    check_fields("inputs x > inputs y x", "inputs=x,y");
}

#[test]
fn a_piece_that_two_layers_name_is_the_stronger_ones() {
    check("traits calm*5 > traits calm*2 | max 9", "trait:calm | 2 tokens");
    check("skills sql*5 > skills sql*2 | max 9", "skill:sql | 2 tokens");
    check("guardrails safe:low*5 > guardrails safe:critical*2 | max 9", "guardrail:safe | 2 tokens");
    check("traits calm*5 > traits kind*2 | max 9", "trait:calm trait:kind | 7 tokens");
    // It keeps the place that the base gave it.
    check("traits calm wry > traits wry calm", "trait:calm trait:wry");
}

#[test]
fn items_of_lists_are_taken_away() {
    check("traits calm kind > remove traits:calm", "trait:kind");
    check("skills sql > remove skills:sql", "");
    check("guardrails honest safe > remove guardrails:safe", "guardrail:honest");
    check("traits calm > remove traits:calm > traits kind", "trait:kind");
    check("traits calm > remove traits:calm > traits calm", "trait:calm");
    check("traits calm kind > remove traits:calm | traits calm", "trait:kind trait:calm");
    check("traits calm > remove skills:calm", "trait:calm");
    check("remove traits:calm > traits calm", "trait:calm");
    check_fields("tags a b > remove tags:a", "tags=b");
    check_fields("inputs x y > remove inputs:y", "inputs=x");
    check_fields("tags a > remove tags:a > tags b a", "tags=b,a");
}

#[test]
fn the_strongest_layer_that_sets_a_field_wins() {
    for field in [
        "display_name",
        "description",
        "summary",
        "detail",
        "author",
        "license",
        "models",
        "tool_preset",
        "bias_profile",
        "context_preset",
        "plan.instruction",
        "plan.model",
        "plan.tool_preset",
        "arc",
    ] {
        check_fields(&format!("set {field}=a >"), &format!("{field}=a"));
        check_fields(&format!("set {field}=a > set {field}=b"), &format!("{field}=b"));
        check_fields(&format!("set {field}=a > set {field}=b >"), &format!("{field}=b"));
        check_fields(&format!("set {field}=a > > set {field}=c"), &format!("{field}=c"));
        check_fields(&format!("> set {field}=c"), &format!("{field}=c"));
    }
    check_fields("set aggregation=full > set aggregation=skeleton", "aggregation=skeleton");
    check_fields("set aggregation=full >", "aggregation=full");
    check_fields("set summary=s detail=d > set summary=t", "summary=t detail=d");
}

#[test]
fn a_list_without_names_is_one_field() {
    check_fields("set greetings=a,b > set greetings=c", "greetings=c");
    check_fields("set greetings=a,b > set summary=s", "summary=s greetings=a,b");
    check_fields("set examples=a,b > set examples=c", "examples=c");
    check_fields("set examples=a,b > set summary=s", "summary=s examples=a,b");
    check_fields("set models=large,small > set models=tiny", "models=tiny");
    check_fields("set models=large,small > set summary=s", "summary=s models=large,small");
}

#[test]
fn a_system_prompt_replaces_or_follows_its_bases() {
    check_fields("prompt Be_kind. >", "prompt=Be_kind.");
    check_fields("prompt Be_kind. > prompt Be_brief.", "prompt=Be_brief.");
    check_fields("prompt Be_kind. > prompt+ Be_brief.", "prompt=Be_kind.//Be_brief.");
    check_fields("prompt a > prompt+ b > prompt+ c", "prompt=a//b//c");
    check_fields("prompt a > prompt b > prompt+ c", "prompt=b//c");
    check_fields("prompt a > prompt+ b > prompt c", "prompt=c");
    check_fields("prompt a > > prompt+ c", "prompt=a//c");
    check_fields("prompt+ a >", "prompt=a");
    check_fields("> prompt+ a", "prompt=a");
}

#[test]
fn a_plan_is_merged_key_by_key() {
    check_fields(
        "set plan.instruction=Think plan.model=m > set plan.model=n",
        "plan.instruction=Think plan.model=n",
    );
    check_fields(
        "set plan.instruction=a > set plan.model=b > set plan.tool_preset=c",
        "plan.instruction=a plan.model=b plan.tool_preset=c",
    );
    check_fields("set plan.model=a >", "plan.model=a");
}

#[test]
fn a_short_prompt_opens_with_the_inherited_summary_or_the_whole_prompt() {
    let opening = |script: &str| {
        let (bundle, _) = read(script);
        persona::compile(&bundle.assembled()).summary.trim_end().to_owned()
    };
    assert_eq!(opening("set description=Kind. >"), "Kind.");
    assert_eq!(opening("set description=Kind. > prompt Be_brief."), "Be brief.");
    assert_eq!(opening("set summary=Short. > set description=Kind."), "Short.");
    assert_eq!(opening("prompt Be_kind._Always. > prompt+ Be_brief."), "Be kind. Always.\n\nBe brief.");
}

#[test]
fn a_persona_keeps_its_own_name_place_and_stage() {
    let (bundle, _) = read("set arc=growth | scope shared 3 > scope project 8 | stage tone=cold");
    let assembled = bundle.assembled();
    assert_eq!(assembled.persona.name.as_str(), "someone");
    let view = persona::view(&assembled, &persona::AssemblyRequest::default(), "toks");
    assert_eq!((view.scope, view.revision), (Some(persona::Scope::Project), Some(8)));
    assert_eq!(view.arc.map(|arc| arc.stage.to_string()), Some("now".to_owned()));
}
