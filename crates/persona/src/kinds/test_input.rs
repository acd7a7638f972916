//! Test inputs: what a persona is tried with, and what is expected of it.

use crate::field::{self, kind};
use crate::limits::EXPECTATIONS;
use crate::{Name, Tags};

kind! {
    /// What a persona is tried with, and what is expected of it.
    #[derive(Eq)]
    TestInput = TestInput, test_input_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("What the input tries out, and for which kind of persona.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> = field::long("What the persona is given.").searched();
        /// What a good answer does, one expectation each.
        #[serde(default)]
        own expectations: Vec<String> = field::texts(EXPECTATIONS, "What a good answer does, one expectation each.").searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}
