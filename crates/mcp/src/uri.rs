//! Addresses of resources: parsed once, printed in one form.

use std::fmt;

use persona::{Kind, Name};

/// The view of a persona that an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// The persona in full, as JSON.
    Whole,
    Manifest,
    /// The merged prompt, as markdown.
    Compiled,
}

impl Aspect {
    pub(crate) const EVERY: [Self; 3] = [Self::Whole, Self::Manifest, Self::Compiled];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Manifest => "/manifest",
            Self::Compiled => "/compiled",
        }
    }
}

/// The address of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceUri {
    Persona(Name, Aspect),
    Part(Name),
    Trait(Name),
    Guardrail(Name),
    /// A skill's `SKILL.md`.
    Skill(Name),
}

impl ResourceUri {
    /// Parses an address. `None` if no resource can have it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (name, path) = match rest.split_once('/') {
            Some((name, path)) => (name, Some(path)),
            None => (rest, None),
        };
        let name = Name::parse(name).ok()?;
        match (scheme, path) {
            ("persona", None) => Some(Self::Persona(name, Aspect::Whole)),
            ("persona", Some("manifest")) => Some(Self::Persona(name, Aspect::Manifest)),
            ("persona", Some("compiled")) => Some(Self::Persona(name, Aspect::Compiled)),
            ("part", None) => Some(Self::Part(name)),
            ("trait", None) => Some(Self::Trait(name)),
            ("guardrail", None) => Some(Self::Guardrail(name)),
            ("skill", Some("SKILL.md")) => Some(Self::Skill(name)),
            ("skill", Some(path)) => {
                (path.strip_suffix("/SKILL.md") == Some(&*lawful_name(&name))).then_some(Self::Skill(name))
            }
            _ => None,
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Persona(..) => Kind::Persona,
            Self::Part(_) => Kind::Part,
            Self::Trait(_) => Kind::Trait,
            Self::Guardrail(_) => Kind::Guardrail,
            Self::Skill(_) => Kind::Skill,
        }
    }

    pub(crate) const fn name(&self) -> &Name {
        match self {
            Self::Persona(name, _)
            | Self::Part(name)
            | Self::Trait(name)
            | Self::Guardrail(name)
            | Self::Skill(name) => name,
        }
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Persona(name, aspect) => write!(f, "persona://{name}{}", aspect.suffix()),
            Self::Part(name) => write!(f, "part://{name}"),
            Self::Trait(name) => write!(f, "trait://{name}"),
            Self::Guardrail(name) => write!(f, "guardrail://{name}"),
            // The last directory must be the skill's name as the Skills extension allows it;
            // a name that is not allowed there becomes the directory above.
            Self::Skill(name) => match lawful_name(name) {
                lawful if lawful == name.as_str() => write!(f, "skill://{name}/SKILL.md"),
                lawful => write!(f, "skill://{name}/{lawful}/SKILL.md"),
            },
        }
    }
}

/// A skill's name as the Skills extension allows it: lower-case letters, digits and single
/// hyphens inside. Every name starts with a letter or a digit, so the result is not empty.
pub(crate) fn lawful_name(name: &Name) -> String {
    let words = name.as_str().split(['-', '_']).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_parses_to_itself() {
        for text in [
            "persona://code_reviewer",
            "persona://code_reviewer/manifest",
            "persona://code_reviewer/compiled",
            "part://calm-tone",
            "trait://curious",
            "guardrail://no-secrets",
            "skill://code-review/SKILL.md",
            "skill://Code_Review_/code-review/SKILL.md",
        ] {
            let uri = ResourceUri::parse(text).expect(text);
            assert_eq!(uri.to_string(), text);
        }
    }

    #[test]
    fn the_short_form_of_a_skill_parses() {
        let uri = ResourceUri::parse("skill://code_review/SKILL.md").expect("by our name");
        assert_eq!(uri.to_string(), "skill://code_review/code-review/SKILL.md");
    }

    #[test]
    fn anything_else_is_not_an_address() {
        for text in [
            "",
            "persona",
            "persona://",
            "persona://a/b",
            "persona://a/manifest/",
            "part://a/b",
            "skill://a",
            "skill://a/b/SKILL.md",
            "skill://a/../SKILL.md",
            "file:///etc/passwd",
            "persona://a%2Fb",
            "PERSONA://a",
            "test://static-text",
        ] {
            assert_eq!(ResourceUri::parse(text), None, "{text}");
        }
    }
}
