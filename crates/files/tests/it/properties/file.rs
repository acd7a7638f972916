//! Files made of fragments, in the many styles in which people write them.

use proptest::prelude::*;

/// A stretch of the file, and whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) owner: Owner,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    Nobody,
    Entry(String),
    /// A blank line or a comma between entries, which may go with one of them.
    Gap,
}

#[derive(Debug, Clone)]
pub(crate) struct File {
    crlf: bool,
    bom: bool,
    final_newline: bool,
    shared: Shared,
    entries: Vec<Fragment>,
}

/// How personas without headers of their own are written.
#[derive(Debug, Clone)]
enum Shared {
    None,
    /// `personas.x.summary = …` before the first header.
    Root(Vec<u16>),
    /// `x.summary = …` and `y = { … }` below `[personas]`.
    Section(Vec<u16>),
    /// `personas = { x = { … } }`; then no persona has a header.
    Inline(Vec<u16>),
}

#[derive(Debug, Clone)]
struct Fragment {
    style: u8,
    /// One bit for each thing that may be there or not.
    features: u16,
    gap: u8,
}

pub(crate) fn file() -> impl Strategy<Value = File> {
    let few = || prop::collection::vec(any::<u16>(), 1..4);
    let shared = prop_oneof![
        4 => Just(Shared::None),
        1 => few().prop_map(Shared::Root),
        2 => few().prop_map(Shared::Section),
        1 => few().prop_map(Shared::Inline),
    ];
    let fragment = (0..7_u8, any::<u16>(), 0..5_u8);
    let fragment = fragment.prop_map(|(style, features, gap)| Fragment { style, features, gap });
    let entries = prop::collection::vec(fragment, 0..6);
    let flags = (any::<bool>(), prop::bool::weighted(0.1), prop::bool::weighted(0.8));
    (flags, shared, entries).prop_map(|((crlf, bom, final_newline), shared, entries)| File {
        crlf,
        bom,
        final_newline,
        shared,
        entries,
    })
}

impl File {
    pub(crate) fn chunks(&self) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let loose = |text: String| Chunk { owner: Owner::Nobody, text };
        if self.bom {
            chunks.push(loose("\u{feff}".into()));
        }
        chunks.extend([loose("# A file of personas.\n".into()), blank()]);
        let personas_have_headers = !matches!(self.shared, Shared::Inline(_));
        chunks.extend(self.shared.chunks());
        for (index, fragment) in self.entries.iter().enumerate() {
            let name = format!("entry-{index}");
            let fragment_chunks = match fragment.style {
                0 | 1 | 6 if !personas_have_headers => vec![part(&name, fragment.features)],
                0 => vec![persona(&name, fragment.features)],
                1 => scattered(&name, fragment.features, index),
                2 => vec![part(&name, fragment.features)],
                3 => vec![arc(&name, fragment.features)],
                4 => vec![tool_preset(&name, fragment.features)],
                5 => vec![inline_stages(&name, fragment.features)],
                _ => vec![persona_of_tables(&name, fragment.features)],
            };
            chunks.extend(fragment_chunks);
            match fragment.gap {
                // A comment between two entries that touch belongs to the lower one.
                0 if fragment.style == 0 && fragment.features & (1 << 12) != 0 => chunks.push(blank()),
                0 => {}
                1 => chunks.push(blank()),
                2 => chunks.extend([blank(), loose(format!("# loose {index}\n")), blank()]),
                3 => chunks.extend([blank(), blank()]),
                _ => chunks.extend([
                    blank(),
                    loose(format!("  # loose {index} \n# and {index} more\n")),
                    blank(),
                ]),
            }
        }
        if self.crlf {
            chunks.iter_mut().for_each(|chunk| chunk.text = chunk.text.replace('\n', "\r\n"));
        }
        if !self.final_newline {
            while chunks.last().is_some_and(|chunk| chunk.text.trim().is_empty()) {
                chunks.pop();
            }
            if let Some(last) = chunks.last_mut() {
                last.text.truncate(last.text.trim_end_matches(['\r', '\n']).len());
            }
        }
        chunks
    }

    pub(crate) fn text(&self) -> String {
        self.chunks().into_iter().map(|chunk| chunk.text).collect()
    }

    /// Line ends and the mark at the beginning stay what they are.
    pub(crate) fn style_stays(&self, text: &str) -> Result<(), TestCaseError> {
        prop_assert_eq!(text.starts_with('\u{feff}'), self.bom);
        if !self.text().contains('\n') {
            return Ok(());
        }
        if self.crlf {
            prop_assert!(!text.replace("\r\n", "").contains('\n'), "a line ends with LF alone:\n{:?}", text);
        } else {
            prop_assert!(!text.contains('\r'));
        }
        Ok(())
    }
}

fn blank() -> Chunk {
    Chunk { owner: Owner::Gap, text: "\n".into() }
}

fn owned(name: &str, text: String) -> Chunk {
    Chunk { owner: Owner::Entry(name.to_owned()), text }
}

fn on(features: u16, bit: u8, text: &str) -> &str {
    if features & (1 << bit) == 0 { "" } else { text }
}

impl Shared {
    fn chunks(&self) -> Vec<Chunk> {
        let loose = |text: &str| Chunk { owner: Owner::Nobody, text: text.into() };
        let names = |prefix: &str, count: usize| -> Vec<String> {
            (0..count).map(|index| format!("{prefix}-{index}")).collect()
        };
        match self {
            Self::None => Vec::new(),
            Self::Root(features) => {
                let chunks =
                    names("root", features.len()).into_iter().zip(features).map(|(name, features)| {
                        let comment = on(*features, 0, "# on the root\n");
                        let second = on(*features, 1, &format!("personas.{name}.tags = ['a', 'b'] # tags\n"))
                            .to_owned();
                        let third =
                            on(*features, 2, &format!("personas . {name} . plan_persona.model = 'm'\n"))
                                .to_owned();
                        owned(
                            &name,
                            format!(
                                "{comment}personas.{name}.summary = \"Of {name}.\" # why\n{second}{third}"
                            ),
                        )
                    });
                chunks.chain([blank()]).collect()
            }
            Self::Section(features) => {
                let chunks =
                    names("below", features.len()).into_iter().zip(features).map(|(name, features)| {
                        let comment = on(*features, 0, "  # in the section\n");
                        let text = if features & 2 == 0 {
                            let second = on(*features, 2, &format!("{name}.odd_{name} = 1\n")).to_owned();
                            let third =
                                on(*features, 3, &format!("  {name}.parts = [ \"a\" , 'b' ]\n")).to_owned();
                            format!("{comment}{name}.summary = \"Of {name}.\"\n{second}{third}")
                        } else {
                            let more = on(*features, 4, ", odd = [1], tags = ['t',]");
                            format!("{comment}{name} = {{ summary = \"Of {name}.\"{more} }} # inline\n")
                        };
                        owned(&name, text)
                    });
                [loose("[personas] # all of them\n")].into_iter().chain(chunks).chain([blank()]).collect()
            }
            Self::Inline(features) => {
                let count = features.len();
                let items = names("inline", count).into_iter().zip(features).enumerate().map(
                    |(index, (name, features))| {
                        let more = on(*features, 0, ", tags = [\"x\"]");
                        let text = format!("{name} = {{ summary = 'Of {name}.'{more} }}");
                        let comma = if index + 1 < count { loose(", ") } else { loose(" }\n\n") };
                        [owned(&name, text), Chunk { owner: Owner::Gap, ..comma }]
                    },
                );
                let space = Chunk { owner: Owner::Gap, ..loose(" ") };
                [loose("personas = {"), space].into_iter().chain(items.flatten()).collect()
            }
        }
    }
}

fn persona(name: &str, features: u16) -> Chunk {
    let bit = |bit, text| on(features, bit, text);
    owned(
        name,
        format!(
            "{}[personas.{}]{}\n{}summary = \"Of {name}.\"{}\n{}{}{}{}{}{}{}{}",
            bit(0, "# Above the header.\n# Second line.\n"),
            if features & 2 == 0 { name.to_owned() } else { format!(" \"{name}\" ") },
            bit(2, "  # beside the header"),
            bit(3, "\n# on the summary\n"),
            bit(4, "   # beside the summary"),
            bit(5, "unknown_key = { a = 1 } # not ours\n"),
            bit(6, "system_prompt = '''\nYou are \\ \"one\".\n# no comment\n'''\n"),
            bit(
                7,
                "parts = [\n  \"a\", # first, of course\n  # second\n  { name = 'b', priority = 3 },\n  \"c\"\n]\n"
            ),
            bit(8, "preferred_models = [ { provider = \"p\",  model='m', temperature = 1 } ]\n"),
            bit(9, "\n  tags   =  [\"x\",\"y\"]\n"),
            bit(10, "plan_persona.model = \"m\"\n# dotted\nplan_persona.instruction = \"Plan.\"\n"),
            bit(11, "traits = []\nparts_mode = \"replace\"\n"),
            bit(12, "# below the last line\n"),
        ),
    )
}

/// A persona whose lists and tables have headers of their own.
fn persona_of_tables(name: &str, features: u16) -> Chunk {
    let bit = |bit, text: &str| on(features, bit, text).replace("NAME", name);
    let mut text = bit(0, "[personas.NAME]\nsummary = \"S\"\n\n");
    text.push_str(&bit(1, "# a model\n[[personas.NAME.preferred_models]]\nprovider = 'p' # who\nmodel = 'm'\n\n[[personas.NAME.preferred_models]]\nprovider = 'q'\nmodel = 'n'\ntop_p = 0.5\n"));
    text.push_str(&bit(2, "[[personas.NAME.parts]]\nname = \"a\"\n[[personas.NAME.parts]]\n# b\nname = \"b\"\norder = 7\nodd = true\n"));
    text.push_str(&format!("\n# planning\n[personas.{name}.plan_persona]\nmodel = \"m\"\n"));
    text.push_str(&bit(3, "mystery = 1\n"));
    owned(name, text)
}

/// A persona whose tables stand apart, with another entry between them.
fn scattered(name: &str, features: u16, index: usize) -> Vec<Chunk> {
    let between = format!("between-{index}");
    vec![
        owned(name, format!("[personas.{name}]\n{}summary = \"S\"\n", on(features, 0, "tags = ['t']\n"))),
        blank(),
        part(&between, features >> 4),
        blank(),
        owned(
            name,
            format!(
                "{}[personas.{name}.plan_persona]\n{}model = \"m\"\n",
                on(features, 1, "# far away\n"),
                on(features, 2, "mystery = 1\n"),
            ),
        ),
    ]
}

fn part(name: &str, features: u16) -> Chunk {
    let bit = |bit, text| on(features, bit, text);
    owned(
        name,
        format!(
            "{}[parts.{name}]\npart_type = \"tone\"{}\ncontent = \"\"\"{}\nSay \\\"it\\\" \\\n   plainly.\n\"\"\"\n{}",
            bit(0, "#on the part\n"),
            bit(1, " # tone"),
            bit(2, "\n"),
            bit(3, "  \ntags = [\n]\n"),
        ),
    )
}

fn arc(name: &str, features: u16) -> Chunk {
    let bit = |bit, text: &str| on(features, bit, text).replace("NAME", name);
    let mut text = bit(0, "# the arc\n[arcs.NAME]\nsummary = 's'\n\n");
    text.push_str(&format!("# stage one\n[[arcs.{name}.stages]]\nname = \"one\"{}\n", bit(1, " # start")));
    text.push_str(&bit(2, "order = 4\nparts = [\"a\"]\n"));
    text.push_str(&bit(3, "\n[[arcs.NAME.stages]] # next\nname = \"two\"\nodd = 'x'\n"));
    text.push_str(&bit(
        4,
        "\n# stage three\n[[arcs.NAME.stages]]\nname = \"three\"\ncondition = \"\"\"\nWhen\nready.\"\"\"\n",
    ));
    owned(name, text)
}

fn inline_stages(name: &str, features: u16) -> Chunk {
    let bit = |bit, text| on(features, bit, text);
    owned(
        name,
        format!(
            "[arcs.{name}]\nstages = [\n  {{ name = \"one\"{} }}, # start\n{}]\n",
            bit(0, ", order = 3"),
            bit(1, "  # end\n  { name = \"two\", odd = 1, parts = ['p'] }\n"),
        ),
    )
}

fn tool_preset(name: &str, features: u16) -> Chunk {
    let bit = |bit, text: &str| on(features, bit, text).replace("NAME", name);
    let mut text = bit(0, "[tool_presets.NAME]\ndescription = 'd'\n");
    if features & 2 == 0 {
        text.push_str(&format!("[tool_presets.{name}.categories]\nfiles = [\"read\", {{ name = \"write\", approval = \"ask\" }}]\n"));
        text.push_str(&bit(2, "\"web pages\" = ['fetch*'] # quoted\n"));
    } else {
        text.push_str(&format!("[[tool_presets.{name}.categories.files]]\nname = \"read\"\n"));
        text.push_str(&bit(2, "# why\n[[tool_presets.NAME.categories.files]]\nname = \"write\"\nweight = 5\n[tool_presets.NAME.categories.files.parameter_bias]\npath = 'short'\n"));
    }
    owned(name, text)
}
