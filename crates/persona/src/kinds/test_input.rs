//! Test inputs: inputs to test a persona with, and the expected answers.

use crate::field::{self, kind};
use crate::limits::EXPECTATIONS;
use crate::{Name, Tags};

kind! {
    /// An input to test a persona with, and expectations of the answer.
    #[derive(Eq)]
    TestInput = TestInput, test_input_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The purpose of the input, and the kind of persona that it is for.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> = field::long("The text that the persona receives.").searched();
        /// Expectations of a good answer.
        #[serde(default)]
        own expectations: Vec<String> = field::texts(EXPECTATIONS, "Expectations of a good answer.").searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}
