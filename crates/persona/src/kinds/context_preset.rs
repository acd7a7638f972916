//! Context presets: the files for the prompt, and how much of each.

use crate::check::{BrokenRule, Checked, invalid};
use crate::field::{self, Described, TableType, described, kind};
use crate::limits::CONTEXT_ENTRIES;
use crate::{ContextView, Name, Tags};

kind! {
    /// The files for the prompt, and how much of each.
    #[derive(Eq)]
    ContextPreset = ContextPreset, context_preset_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The files that the persona sees, in a sentence.").searched();
        /// Later entries override earlier ones.
        #[serde(default)]
        own entries: Vec<ContextEntry> = field::list(
            CONTEXT_ENTRIES,
            &ContextEntry::ITEM,
            "Files, and how much of each. Later entries override earlier ones.",
        );
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own token_budget: Option<u32> =
            field::whole(1, u32::MAX as i64, "Maximum number of tokens for all files together.");
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

described! {
    /// Some files and the view of them. Has exactly one of `glob` and `path`.
    #[derive(Eq)]
    #[serde(deny_unknown_fields)]
    #[schemars(inline)]
    ContextEntry {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        glob: Option<String> =
            field::path("A glob of files, relative to the project: `src/**/*.rs`.").searched();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String> = field::path("One file, relative to the project.").searched();
        #[serde(default)]
        view: ContextView = field::word(
            ContextView::words,
            "How much of the files to show: `full`, `summary`, `skeleton` (signatures without bodies), `outline` \
             (names and headings), `none`.",
        )
        .implied_word("full");
    }
}

impl ContextEntry {
    const ITEM: TableType = TableType::new("ContextEntry", Self::FIELDS, "");
}

impl ContextPreset {
    fn check_together(&self) -> Checked {
        let wrong = self.entries.iter().position(|entry| entry.glob.is_some() == entry.path.is_some());
        match wrong {
            Some(at) => invalid(format!("entries[{at}]"), BrokenRule::EitherOf("glob", "path")),
            None => Ok(()),
        }
    }
}
