//! The inputs of a run, with their expectations.

use fidelity::Expectation;
use persona::{AssemblyRequest, Bundle, Kind, Name, TestInput, limits};

use super::pieces::find_input;
use crate::inputs::TestOptions;
use crate::{Error, Library, Result, TestError, ValueError};

/// An input with its expectations.
#[derive(Debug)]
pub(super) struct PlannedInput {
    pub(super) input: TestInput,
    pub(super) expectations: Vec<Expectation>,
    pub(super) samples: u32,
}

/// The inputs to run: the named ones, or all of the persona's.
pub(super) async fn planned_inputs(
    library: &Library,
    persona: &Name,
    bundle: &Bundle,
    options: &TestOptions,
) -> Result<Vec<PlannedInput>> {
    if let Some(samples) = options.samples
        && !(1..=limits::SAMPLES).contains(&samples)
    {
        let (high, value) = (limits::SAMPLES as usize, samples as usize);
        return Err(ValueError::OutOfRange { field: "samples", low: 1, high, value }.into());
    }
    let linked = library.assemble(bundle, &AssemblyRequest::default()).await?.persona.test_inputs.clone();
    let names = options.inputs.clone().filter(|names| !names.is_empty()).unwrap_or(linked);
    if names.is_empty() {
        return Err(TestError::NoInputs { persona: persona.clone() }.into());
    }
    let mut planned: Vec<PlannedInput> = Vec::with_capacity(names.len());
    for name in names {
        if planned.iter().any(|known| known.input.name == name) {
            return Err(ValueError::NamedTwice { field: "inputs".to_owned(), name }.into());
        }
        let Some(stored) = find_input(library, bundle.meta.scope, &name).await? else {
            return Err(library.missing(Kind::TestInput, &name).await);
        };
        let input = stored.entity;
        if input.content.as_deref().is_none_or(|content| content.trim().is_empty()) {
            return Err(TestError::NoContent { input: name }.into());
        }
        let expectations = fidelity::expectations(&input).map_err(|source| Error::Invalid {
            kind: Kind::TestInput,
            name: name.clone(),
            source,
        })?;
        let samples = options.samples.or(input.samples).unwrap_or(1);
        planned.push(PlannedInput { input, expectations, samples });
    }
    Ok(planned)
}
