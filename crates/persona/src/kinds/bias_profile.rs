//! Bias profiles: how much a persona leans to each category of tools.

use std::collections::BTreeMap;

use crate::field::{self, Field, kind};
use crate::limits::{CATEGORIES, TAG_CHARS};
use crate::{Name, Tags};

kind! {
    /// How much a persona leans to each category of tools; 1 changes nothing.
    BiasProfile = BiasProfile, bias_profile_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("What a persona with this bias does more, and what less.").searched().filled();
        /// Category → multiplier, from 0 to 10.
        #[serde(default)]
        own multipliers: BTreeMap<String, f64> = field::map(
            CATEGORIES,
            TAG_CHARS,
            &MULTIPLIER,
            "Category → multiplier of its tools' weights, from 0 to 10; 1 changes nothing. The categories are those \
             of the tool preset.",
        )
        .searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

const MULTIPLIER: Field = field::number(0.0, 10.0, "By how much the weights of this category count.");
