//! Inputs of the operations that test personas.

use llm::ModelRef;
use persona::{Name, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::RevisionText;

/// The inputs, the models and the budget of a test.
#[derive(Debug, Clone, Default)]
pub struct TestOptions {
    pub inputs: Option<Vec<Name>>,
    pub samples: Option<u32>,
    pub model: Option<ModelRef>,
    pub judge: Option<ModelRef>,
    pub max_calls: Option<u64>,
    pub max_tokens: Option<u64>,
    pub max_cost: Option<f64>,
    pub fresh: bool,
}

/// Declares an input with the fields of [`TestOptions`] after its own.
macro_rules! tests {
    ($($(#[$meta:meta])* $name:ident as $raw:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)+ })+) => {
        $(#[derive(Debug, Clone, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(inline)]
        struct $raw {
            $($(#[$field_meta])* $field: $type,)+
            /// Test inputs to run; default: all of the persona's
            inputs: Option<Vec<Name>>,
            /// Runs of each input, from 1 to 100; default: the input's own number, else 1
            samples: Option<u32>,
            /// `provider/model` in place of the persona's own
            model: Option<ModelRef>,
            /// `provider/model` that judges; default: the persona's `fidelity.judge`, else the tested model
            judge: Option<ModelRef>,
            /// End after so many calls of the persona's model and the judge together
            max_calls: Option<u64>,
            /// End after so many tokens
            max_tokens: Option<u64>,
            /// End at this cost, where prices are known
            max_cost: Option<f64>,
            /// Ignore the replies and verdicts of earlier runs
            #[serde(default)]
            fresh: bool,
        }

        $(#[$meta])*
        #[derive(Debug, Clone)]
        pub struct $name {
            $(pub $field: $type,)+
            pub options: TestOptions,
        }

        impl From<$raw> for $name {
            fn from(raw: $raw) -> Self {
                let $raw {
                    $($field,)+ inputs, samples, model, judge, max_calls, max_tokens, max_cost, fresh,
                } = raw;
                let options =
                    TestOptions { inputs, samples, model, judge, max_calls, max_tokens, max_cost, fresh };
                Self { $($field,)+ options }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $raw::deserialize(deserializer).map(Self::from)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $raw::json_schema(generator)
            }
        })+
    };
}

tests! {
    /// A test of one version of a persona.
    TestPersona as RawTest {
        persona: Name,
        /// A revision or tag; default: the persona as it is now
        revision: Option<RevisionText>,
        scope: Option<Scope>,
        /// Run the inputs without the persona too, and report what it adds
        #[serde(default)]
        lift: bool,
    }

    /// A comparison of two versions of a persona.
    CompareTests as RawComparison {
        persona: Name,
        /// A revision or tag; default: the tag production
        a: Option<RevisionText>,
        /// A revision or tag; default: the persona as it is now
        b: Option<RevisionText>,
        scope: Option<Scope>,
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByTest {
    pub id: Uuid,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTests {
    /// Only runs of this persona
    pub persona: Option<Name>,
    /// 1 to 100, by default 20
    pub limit: Option<u32>,
}
