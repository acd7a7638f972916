//! Test inputs: inputs to test a persona with, and the expected answers.

use super::expectation::Expectation;
use crate::check::Checked;
use crate::field::{self, kind};
use crate::limits::{EXPECTATIONS, SAMPLES, TEST_TURNS};
use crate::{Name, Tags};

kind! {
    /// An input to test a persona with, and expectations of the answer.
    TestInput = TestInput, test_input_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The purpose of the input, and the kind of persona that it is for.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> = field::long("The text that the persona receives.").searched();
        /// Expectations of a good answer.
        #[serde(default)]
        own expectations: Vec<Expectation> = field::list(
            EXPECTATIONS,
            &Expectation::ITEM,
            "Expectations of a good answer: propositions for a judge, or tables with one check each.",
        )
        .searched();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
        /// The user's messages after the first answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        own turns: Vec<String> = field::texts(
            TEST_TURNS,
            "Further messages of the user. Each follows an answer of the persona.",
        )
        .says_something()
        .searched();
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own("0 clears it") samples: Option<u32> = field::whole(
            1,
            SAMPLES as i64,
            "How often a test runs the input.",
        )
        .unset(1.0);
    }
}

impl TestInput {
    fn check_together(&self) -> Checked {
        self.expectations.iter().enumerate().try_for_each(|(at, expectation)| match expectation {
            Expectation::Text(_) => Ok(()),
            Expectation::Table(table) => table.check(&format!("expectations[{at}]")),
        })
    }
}
