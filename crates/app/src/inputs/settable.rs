//! Fields of an entity that an input sets.
//!
//! The inputs that create and update a kind come from the description of its fields: `declare!`
//! makes the types, `build!` and `set_fields!` apply them.

use persona::{Aggregation, BaseRef, Fidelity, MergeMode, Name, PartType, PlanPersona, Severity, TraitType};

use super::{Choice, FidelityFields, PlanFields};
use crate::ValueError;

/// A field that callers can set.
pub trait Settable: Sized {
    /// The value that a caller sends. Empty texts and lists clear the field.
    type Input;

    /// Sets the field. An error names it as `field`.
    fn set(&mut self, input: Self::Input, field: &str) -> Result<(), ValueError>;
}

impl Settable for Option<String> {
    type Input = String;

    fn set(&mut self, input: String, _: &str) -> Result<(), ValueError> {
        *self = Some(input).filter(|text| !text.is_empty());
        Ok(())
    }
}

/// Parses a reference; an empty text clears it.
macro_rules! references {
    ($($type:ty, $field:ident => $error:expr;)+) => {
        $(impl Settable for Option<$type> {
            type Input = String;

            fn set(&mut self, input: String, $field: &str) -> Result<(), ValueError> {
                *self = match input.as_str() {
                    "" => None,
                    text => Some(text.parse::<$type>().map_err($error)?),
                };
                Ok(())
            }
        })+
    };
}

references! {
    Name, field => |source| ValueError::Name { field: field.to_owned(), source };
    BaseRef, _field => |source| ValueError::Base { source };
}

impl Settable for Option<Aggregation> {
    type Input = Choice<Aggregation>;

    fn set(&mut self, Choice(input): Choice<Aggregation>, _: &str) -> Result<(), ValueError> {
        *self = input;
        Ok(())
    }
}

/// 0 clears the field, as an empty text does.
impl Settable for Option<u32> {
    type Input = u32;

    fn set(&mut self, input: u32, _: &str) -> Result<(), ValueError> {
        *self = Some(input).filter(|number| *number > 0);
        Ok(())
    }
}

impl<T> Settable for Vec<T> {
    type Input = Self;

    fn set(&mut self, input: Self, _: &str) -> Result<(), ValueError> {
        *self = input;
        Ok(())
    }
}

macro_rules! words {
    ($($type:ty),+) => {
        $(impl Settable for $type {
            type Input = Self;

            fn set(&mut self, input: Self, _: &str) -> Result<(), ValueError> {
                *self = input;
                Ok(())
            }
        })+
    };
}

words!(MergeMode, PartType, Severity, TraitType);

/// Changes the given fields only; without any, the plan is cleared.
impl Settable for Option<PlanPersona> {
    type Input = PlanFields;

    fn set(&mut self, input: PlanFields, field: &str) -> Result<(), ValueError> {
        if input == PlanFields::default() {
            *self = None;
            return Ok(());
        }
        let mut plan = self.take().unwrap_or_default();
        let PlanFields { instruction, model, tool_preset } = input;
        if let Some(instruction) = instruction.flatten() {
            plan.instruction.set(instruction, &format!("{field}.instruction"))?;
        }
        if let Some(model) = model.flatten() {
            plan.model.set(model, &format!("{field}.model"))?;
        }
        if let Some(tool_preset) = tool_preset.flatten() {
            plan.tool_preset.set(tool_preset, &format!("{field}.tool_preset"))?;
        }
        *self = Some(plan).filter(|plan| *plan != PlanPersona::default());
        Ok(())
    }
}

/// Changes the given fields only; without any, all are cleared.
impl Settable for Option<Fidelity> {
    type Input = FidelityFields;

    fn set(&mut self, input: FidelityFields, field: &str) -> Result<(), ValueError> {
        if input == FidelityFields::default() {
            *self = None;
            return Ok(());
        }
        let mut fidelity = self.take().unwrap_or_default();
        let FidelityFields { pass, judge, votes } = input;
        if let Some(pass) = pass {
            fidelity.pass = Some(pass).filter(|pass| *pass != 0.0);
        }
        if let Some(judge) = judge {
            fidelity.judge.set(judge, &format!("{field}.judge"))?;
        }
        if let Some(votes) = votes {
            fidelity.votes.set(votes, &format!("{field}.votes"))?;
        }
        *self = Some(fidelity).filter(|fidelity| *fidelity != Fidelity::default());
        Ok(())
    }
}

/// Declares an input from the fields of a kind, for `persona::part_fields!` and its like. Takes
/// `create` or `update`, the macro that makes the type, its name, and fields to put before and
/// after. Leaves out links.
macro_rules! declare {
    ({ $mode:ident $make:ident $name:ident { $($fields:tt)* } { $($after:tt)* } }) => {
        $make! { $name { $($fields)* $($after)* } }
    };
    ({ $mode:ident $make:ident $name:ident { $($fields:tt)* } $after:tt }
        key () $field:ident: $type:ty; $($rest:tt)*) => {
        declare! { { $mode $make $name { $($fields)* $field: $type, } $after } $($rest)* }
    };
    ({ create $make:ident $name:ident { $($fields:tt)* } $after:tt }
        required () $field:ident: $type:ty; $($rest:tt)*) => {
        declare! { { create $make $name { $($fields)* $field: $type, } $after } $($rest)* }
    };
    ({ update $make:ident $name:ident { $($fields:tt)* } $after:tt }
        required () $field:ident: $type:ty; $($rest:tt)*) => {
        declare! { { update $make $name { $($fields)* $field: Option<$type>, } $after } $($rest)* }
    };
    ({ $mode:ident $make:ident $name:ident $fields:tt $after:tt }
        linked () $field:ident: $type:ty; $($rest:tt)*) => {
        declare! { { $mode $make $name $fields $after } $($rest)* }
    };
    ({ $mode:ident $make:ident $name:ident { $($fields:tt)* } $after:tt }
        own ($($note:literal)?) $field:ident: $type:ty; $($rest:tt)*) => {
        declare! { {
            $mode $make $name
            { $($fields)* $(#[doc = $note])? $field: Option<<$type as $crate::inputs::Settable>::Input>, }
            $after
        } $($rest)* }
    };
}
pub(super) use declare;

/// Sets the fields of an entity that an input has, for `persona::part_fields!` and its like. Returns
/// from the function if a field cannot be set.
macro_rules! set_fields {
    ({ $entity:expr, $input:expr }) => {};
    ({ $entity:expr, $input:expr } own $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        if let Some(input) = $input.$field {
            $crate::inputs::Settable::set(&mut $entity.$field, input, stringify!($field))?;
        }
        set_fields! { { $entity, $input } $($rest)* }
    };
    ({ $entity:expr, $input:expr } required $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        if let Some(value) = $input.$field {
            $entity.$field = value;
        }
        set_fields! { { $entity, $input } $($rest)* }
    };
    ({ $entity:expr, $input:expr } $taken:ident $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        set_fields! { { $entity, $input } $($rest)* }
    };
}
pub(crate) use set_fields;

/// Makes an entity from an input that creates one.
macro_rules! build {
    ({ $kind:ident, $input:expr } $($taken:ident $note:tt $field:ident: $type:ty;)+) => {{
        let mut entity = $kind { $($field: build!(@$taken $input, $field)),+ };
        $(build!(@set $taken entity, $input, $field);)+
        entity
    }};
    (@key $input:expr, $field:ident) => { $input.$field.clone() };
    (@required $input:expr, $field:ident) => { $input.$field };
    (@$taken:ident $input:expr, $field:ident) => { Default::default() };
    (@set own $entity:ident, $input:expr, $field:ident) => {
        if let Some(input) = $input.$field {
            $crate::inputs::Settable::set(&mut $entity.$field, input, stringify!($field))?;
        }
    };
    (@set $taken:ident $entity:ident, $input:expr, $field:ident) => {};
}
pub(crate) use build;
