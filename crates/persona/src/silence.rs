//! Finds personas whose prompt would be empty.

use std::collections::BTreeSet;

use crate::entity::Texts as _;
use crate::{Name, Persona};

/// True if neither a persona nor its bases, nearest first, give a prompt anything to say: no text
/// (`system_prompt`, `detail`, `summary` or `description`), no example, no arc, and no part, trait, skill or
/// guardrail that is not taken away again.
pub fn says_nothing<'a>(chain: impl IntoIterator<Item = &'a Persona>) -> bool {
    let chain: Vec<&Persona> = chain.into_iter().collect();
    let speaks = |persona: &&Persona| {
        !persona.whole().is_empty() || !persona.examples.is_empty() || persona.arc.is_some()
    };
    if chain.iter().any(speaks) {
        return false;
    }
    let mut pieces: [BTreeSet<&Name>; 4] = Default::default();
    for persona in chain.iter().rev() {
        let parts: Vec<&Name> = persona.parts.iter().map(|link| &link.name).collect();
        let Persona { traits, skills, guardrails, .. } = persona;
        let added = [parts, traits.iter().collect(), skills.iter().collect(), guardrails.iter().collect()];
        let Persona { remove_parts, remove_traits, remove_skills, remove_guardrails, .. } = persona;
        let removed = [remove_parts, remove_traits, remove_skills, remove_guardrails];
        for ((pieces, added), removed) in pieces.iter_mut().zip(added).zip(removed) {
            pieces.retain(|name| !removed.contains(name));
            pieces.extend(added);
        }
    }
    pieces.iter().all(BTreeSet::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entity as _, Example, PartLink};

    fn name(text: &str) -> Name {
        Name::parse(text).expect("a name")
    }

    fn persona(change: impl FnOnce(&mut Persona)) -> Persona {
        let mut persona = Persona::new(name("p"));
        change(&mut persona);
        persona
    }

    #[track_caller]
    fn check(expected: bool, change: impl FnOnce(&mut Persona)) {
        let persona = persona(change);
        assert_eq!(says_nothing([&persona]), expected, "{}", persona.name());
        let heir = Persona::new(name("heir"));
        assert_eq!(says_nothing([&heir, &persona]), expected, "an heir says what its base says");
    }

    #[test]
    fn every_text_of_a_prompt_counts() {
        check(true, |_| {});
        check(false, |it| it.system_prompt = Some("You plan.".to_owned()));
        check(false, |it| it.detail = Some("Plans.".to_owned()));
        check(false, |it| it.summary = Some("Plans.".to_owned()));
        check(false, |it| it.description = Some("A planner.".to_owned()));
        check(false, |it| it.parts.push(PartLink { name: name("calm"), order: 0, priority: 0 }));
        check(false, |it| it.traits.push(name("calm")));
        check(false, |it| it.skills.push(name("calm")));
        check(false, |it| it.guardrails.push(name("calm")));
        check(false, |it| it.arc = Some(name("growth")));
        let (user, persona) = ("Hi.".to_owned(), "Ahoy.".to_owned());
        check(false, |it| it.examples.push(Example { user, persona }));
    }

    #[test]
    fn other_fields_say_nothing() {
        for blank in [" \n", "\u{200B}", "\u{2060} \u{FEFF}\n", "\u{3164}"] {
            check(true, |it| it.system_prompt = Some(blank.to_owned()));
            check(true, |it| it.description = Some(blank.to_owned()));
        }
        check(true, |it| it.display_name = Some("Ada".to_owned()));
        check(true, |it| it.greetings.push("Hello.".to_owned()));
        check(true, |it| it.tool_preset = Some(name("read_only")));
        check(true, |it| it.tags.push("team".to_owned()));
    }

    #[test]
    fn a_piece_that_is_taken_away_says_nothing() {
        let base = persona(|it| it.traits.push(name("calm")));
        let heir = persona(|it| it.remove_traits.push(name("calm")));
        assert!(says_nothing([&heir, &base]));
        let last = persona(|it| it.traits.push(name("calm")));
        assert!(!says_nothing([&last, &heir, &base]));
    }
}
