//! Bias profiles: a persona's preferences among categories of tools.

use std::collections::BTreeMap;

use crate::field::{self, Field, kind};
use crate::limits::{CATEGORIES, TAG_CHARS};
use crate::{Name, Tags};

kind! {
    /// A persona's preferences among categories of tools; 1 is neutral.
    BiasProfile = BiasProfile, bias_profile_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The tools that a persona with this bias uses more, and less.").searched().filled();
        /// Category → multiplier, from 0 to 10.
        #[serde(default)]
        own multipliers: BTreeMap<String, f64> = field::map(
            CATEGORIES,
            TAG_CHARS,
            &MULTIPLIER,
            "Category → multiplier for the weights of its tools, from 0 to 10; 1 is neutral. The categories are those \
             of the tool preset.",
        )
        .searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

const MULTIPLIER: Field = field::number(0.0, 10.0, "Multiplier for the weights of this category.");
