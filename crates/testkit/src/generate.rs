//! A library made from a seed: the same seed makes the same definitions, in any order, one at a time.

use persona::{Guardrail, Name, Part, PartLink, PartType, Persona, Severity, Skill, Tags, Trait, TraitType};
use rand::rngs::StdRng;
use rand::seq::index;
use rand::{Rng, SeedableRng as _};

use crate::prose;

/// Parts that one persona links.
const PARTS_LINKED: usize = 6;
const TRAITS_LINKED: usize = 2;

const TAGS: &[&str] = &[
    "review",
    "writing",
    "teaching",
    "support",
    "planning",
    "security",
    "research",
    "play",
    "draft",
    "stable",
    "team-a",
    "team-b",
    "team-c",
    "español",
    "日本語",
    "experimental",
];

/// Definitions generated from a seed, each on request. Nothing is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generated {
    seed: u64,
    personas: u64,
}

/// A library of so many personas and the pieces that they link.
pub fn generate(seed: u64, personas: u64) -> Generated {
    Generated { seed, personas }
}

/// Keeps the streams of random numbers of different kinds apart.
#[derive(Clone, Copy)]
enum Stream {
    Persona = 1,
    Part,
    Trait,
    Skill,
    Guardrail,
}

impl Generated {
    pub fn persona_count(&self) -> u64 {
        self.personas
    }

    /// A tenth of the personas, within reason.
    pub fn part_count(&self) -> u64 {
        (self.personas / 10).clamp(60, 50_000)
    }

    /// How many traits there are, and as many skills and guardrails.
    pub fn piece_count(&self) -> u64 {
        (self.personas / 100).clamp(20, 1_000)
    }

    pub fn persona_name(&self, index: u64) -> Name {
        name(&format!("p{index:07}"))
    }

    pub fn personas(&self) -> impl Iterator<Item = Persona> + '_ {
        (0..self.personas).map(|index| self.persona(index))
    }

    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        (0..self.part_count()).map(|index| self.part(index))
    }

    pub fn traits(&self) -> impl Iterator<Item = Trait> + '_ {
        (0..self.piece_count()).map(|index| self.trait_(index))
    }

    pub fn skills(&self) -> impl Iterator<Item = Skill> + '_ {
        (0..self.piece_count()).map(|index| self.skill(index))
    }

    pub fn guardrails(&self) -> impl Iterator<Item = Guardrail> + '_ {
        (0..self.piece_count()).map(|index| self.guardrail(index))
    }

    pub fn persona(&self, index: u64) -> Persona {
        let mut random = self.random(Stream::Persona, index);
        let mut persona = Persona::new(self.persona_name(index));
        persona.display_name = Some(format!("{} {index}", capitalised(prose::word(&mut random))));
        persona.description = Some(prose::text(&mut random, 40, 100));
        persona.summary = random.random_bool(0.8).then(|| prose::text(&mut random, 60, 160));
        persona.system_prompt = Some(prose::text(&mut random, 120, 400));
        persona.tags = tags(&mut random);
        let parts = distinct(&mut random, self.part_count(), PARTS_LINKED).into_iter().enumerate();
        persona.parts = parts
            .map(|(order, part)| PartLink {
                name: part_name(part),
                order: order as i32,
                priority: random.random_range(0..10),
            })
            .collect();
        persona.traits =
            distinct(&mut random, self.piece_count(), TRAITS_LINKED).into_iter().map(trait_name).collect();
        persona.skills = vec![skill_name(random.random_range(0..self.piece_count()))];
        persona.guardrails = vec![guardrail_name(random.random_range(0..self.piece_count()))];
        persona
    }

    pub fn part(&self, index: u64) -> Part {
        let mut random = self.random(Stream::Part, index);
        Part {
            name: part_name(index),
            part_type: part_type(index),
            description: random.random_bool(0.5).then(|| prose::text(&mut random, 30, 80)),
            summary: Some(prose::text(&mut random, 40, 120)),
            content: Some(prose::text(&mut random, 200, 800)),
            tags: tags(&mut random),
        }
    }

    pub fn trait_(&self, index: u64) -> Trait {
        let mut random = self.random(Stream::Trait, index);
        Trait {
            name: trait_name(index),
            trait_type: TraitType::ALL[index as usize % TraitType::ALL.len()],
            description: Some(prose::text(&mut random, 30, 80)),
            instruction: Some(prose::text(&mut random, 60, 200)),
            tags: tags(&mut random),
        }
    }

    pub fn skill(&self, index: u64) -> Skill {
        let mut random = self.random(Stream::Skill, index);
        Skill {
            name: skill_name(index),
            description: Some(prose::text(&mut random, 30, 80)),
            content: Some(prose::text(&mut random, 200, 800)),
            tags: tags(&mut random),
        }
    }

    pub fn guardrail(&self, index: u64) -> Guardrail {
        let mut random = self.random(Stream::Guardrail, index);
        Guardrail {
            name: guardrail_name(index),
            severity: Severity::ALL[index as usize % Severity::ALL.len()],
            description: Some(prose::text(&mut random, 30, 80)),
            content: Some(prose::text(&mut random, 100, 300)),
            deny_tools: if random.random_bool(0.3) { vec!["shell*".to_owned()] } else { Vec::new() },
            tags: tags(&mut random),
        }
    }

    fn random(&self, stream: Stream, index: u64) -> StdRng {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&index.to_le_bytes());
        seed[16] = stream as u8;
        StdRng::from_seed(seed)
    }
}

fn part_type(index: u64) -> PartType {
    PartType::ALL[index as usize % PartType::ALL.len()]
}

fn part_name(index: u64) -> Name {
    name(&format!("{}-{index:05}", part_type(index)))
}

fn trait_name(index: u64) -> Name {
    name(&format!("trait-{index:04}"))
}

fn skill_name(index: u64) -> Name {
    name(&format!("skill-{index:04}"))
}

fn guardrail_name(index: u64) -> Name {
    name(&format!("guardrail-{index:04}"))
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.as_str().chars()).collect()
}

fn tags(random: &mut StdRng) -> Tags {
    let count = random.random_range(0..4);
    index::sample(random, TAGS.len(), count).into_iter().map(|at| TAGS[at].to_owned()).collect()
}

/// Different numbers below `bound`.
fn distinct(random: &mut StdRng, bound: u64, count: usize) -> Vec<u64> {
    index::sample(random, bound as usize, count).into_iter().map(|at| at as u64).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use persona::Entity as _;

    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_library() {
        let (one, two) = (generate(7, 100), generate(7, 100));
        assert_eq!(one.personas().collect::<Vec<_>>(), two.personas().collect::<Vec<_>>());
        assert_eq!(one.persona(99), two.personas().last().expect("a hundred"));
        assert_ne!(generate(8, 100).persona(0), one.persona(0));
    }

    #[test]
    fn every_definition_is_valid_and_its_links_exist() {
        let library = generate(3, 200);
        let parts: BTreeSet<Name> = library.parts().map(|part| part.name).collect();
        let traits: BTreeSet<Name> = library.traits().map(|entity| entity.name).collect();
        library.parts().for_each(|part| {
            part.check().expect("lawful");
            let bytes = part.content.as_ref().map_or(0, String::len);
            assert!((150..=800).contains(&bytes), "{bytes}");
        });
        library.skills().for_each(|skill| skill.check().expect("lawful"));
        library.guardrails().for_each(|guardrail| guardrail.check().expect("lawful"));
        for persona in library.personas() {
            persona.check().expect("lawful");
            assert_eq!(persona.parts.len(), PARTS_LINKED);
            assert!(persona.parts.iter().all(|link| parts.contains(&link.name)));
            assert!(persona.traits.iter().all(|name| traits.contains(name)));
        }
        assert_eq!((generate(1, 9).part_count(), generate(1, 1_000_000).part_count()), (60, 50_000));
    }
}
