use persona::{BaseRef, Persona};

use super::*;
use crate::{Code, Error};

/// Personas as `name` or `name>base`, or `name>scope:base`.
fn sorted(script: &str) -> std::result::Result<String, Error> {
    let persona = |word: &str| {
        let (name, base) = word.split_once('>').map_or((word, None), |(name, base)| (name, Some(base)));
        let mut persona = Persona::new(Name::parse(name).expect("a name"));
        persona.extends = base.map(|base| base.parse::<BaseRef>().expect("a base"));
        AnyEntity::from(persona)
    };
    let entities = script.split(' ').map(persona).collect();
    let sorted = in_order_of_use(entities, Scope::Shared)?;
    Ok(sorted.iter().map(|entity| entity.name().to_string()).collect::<Vec<_>>().join(" "))
}

#[test]
fn what_others_refer_to_comes_first() {
    for (script, expected) in [
        ("a", "a"),
        ("b a", "b a"),
        ("c>b b>a a", "a b c"),
        ("c>a b>a a", "a c b"),
        ("c>gone b", "c b"),
        ("a>a b", "a b"),
        ("b>builtin:a a>shared:c c", "b c a"),
    ] {
        assert_eq!(sorted(script).expect("an order"), expected, "{script}");
    }
}

#[test]
fn a_circle_is_refused() {
    assert_eq!(sorted("a>b b>a c").expect_err("a circle").code(), Code::BaseCycle);
    match sorted("a>b b>c c>a d>a e") {
        Err(Error::Scope(ScopeError::Circle { names })) => {
            assert_eq!(names.iter().map(Name::as_str).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        }
        other => panic!("{other:?}"),
    }
}

/// Each layer once was a pass over all entities.
#[test]
fn a_long_chain_is_sorted_in_one_pass() {
    let script: Vec<String> = (0..20_000).map(|at| format!("p{at}>p{}", at + 1)).collect();
    let order = sorted(&script.join(" ")).expect("an order");
    assert!(order.starts_with("p19999 p19998 ") && order.ends_with(" p1 p0"));
}
