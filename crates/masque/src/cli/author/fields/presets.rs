//! The fields of presets and test inputs that read well as flags; the rest stands in a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use serde::{Serialize, Serializer};

use super::{AboutFields, Fields, list, read_into};
use crate::failure::Result;

#[derive(Debug, Args, Serialize)]
pub(crate) struct BiasProfileFields {
    #[command(flatten)]
    #[serde(flatten)]
    about: AboutFields,
    /// How much to lean to a category, from 0 to 10; 1 changes nothing. Repeat it for more
    #[arg(long = "multiplier", value_name = "CATEGORY=N")]
    #[serde(serialize_with = "map")]
    multipliers: Option<Vec<Multiplier>>,
}

impl Fields for BiasProfileFields {}

/// `search=1.5` as a flag.
#[derive(Debug, Clone)]
struct Multiplier {
    category: String,
    value: f64,
}

impl FromStr for Multiplier {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parsed = text.split_once('=').and_then(|(category, value)| {
            let value = value.trim().parse().ok().filter(|value: &f64| value.is_finite())?;
            Some(Self { category: category.trim().to_owned(), value })
        });
        parsed.ok_or("write a category and a number, as in search=1.5")
    }
}

fn map<S: Serializer>(
    multipliers: &Option<Vec<Multiplier>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let pairs = multipliers.iter().flatten().map(|pair| (pair.category.as_str(), pair.value));
    multipliers.as_ref().map(|_| pairs.collect::<BTreeMap<_, _>>()).serialize(serializer)
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct ContextPresetFields {
    #[command(flatten)]
    #[serde(flatten)]
    about: AboutFields,
    /// The tokens that its files may take
    #[arg(long, value_name = "N")]
    token_budget: Option<u32>,
}

impl Fields for ContextPresetFields {}

#[derive(Debug, Args, Serialize)]
pub(crate) struct TestInputFields {
    /// What it tries, in a sentence
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// What is said to the persona
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// The content, from a file; "-" for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "content")]
    #[serde(skip)]
    content_file: Option<PathBuf>,
    /// What a good answer does; repeat it for more
    #[arg(long = "expectation", value_name = "TEXT")]
    #[serde(serialize_with = "list")]
    expectations: Option<Vec<String>>,
    /// A tag; repeat it for more
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(serialize_with = "list")]
    tags: Option<Vec<String>>,
}

impl Fields for TestInputFields {
    fn read_files(&mut self) -> Result<()> {
        read_into(&mut self.content, self.content_file.as_ref())
    }
}
