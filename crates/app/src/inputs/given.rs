//! What callers give for a field, and how it changes the field.
//!
//! The inputs that create and update a kind come from the description of its fields: see
//! `declare!` for the types and `build!` and `give!` for what becomes of them.

use persona::{Aggregation, BaseRef, MergeMode, Name, PartType, PlanPersona, Severity, TraitType};

use super::{Choice, PlanFields};

/// A field that callers can set.
pub trait Given: Sized {
    /// What they send. Empty texts and lists clear the field.
    type Input;

    fn give(&mut self, given: Self::Input) -> Result<(), String>;
}

impl Given for Option<String> {
    type Input = String;

    fn give(&mut self, given: String) -> Result<(), String> {
        *self = Some(given).filter(|text| !text.is_empty());
        Ok(())
    }
}

/// Reads a reference; an empty text is none.
macro_rules! references {
    ($($type:ty),+) => {
        $(impl Given for Option<$type> {
            type Input = String;

            fn give(&mut self, given: String) -> Result<(), String> {
                *self = match given.as_str() {
                    "" => None,
                    text => Some(text.parse::<$type>().map_err(|error| error.to_string())?),
                };
                Ok(())
            }
        })+
    };
}

references!(Name, BaseRef);

impl Given for Option<Aggregation> {
    type Input = Choice<Aggregation>;

    fn give(&mut self, Choice(given): Choice<Aggregation>) -> Result<(), String> {
        *self = given;
        Ok(())
    }
}

/// As an empty text does, 0 takes back what was set.
impl Given for Option<u32> {
    type Input = u32;

    fn give(&mut self, given: u32) -> Result<(), String> {
        *self = Some(given).filter(|number| *number > 0);
        Ok(())
    }
}

impl<T> Given for Vec<T> {
    type Input = Self;

    fn give(&mut self, given: Self) -> Result<(), String> {
        *self = given;
        Ok(())
    }
}

macro_rules! words {
    ($($type:ty),+) => {
        $(impl Given for $type {
            type Input = Self;

            fn give(&mut self, given: Self) -> Result<(), String> {
                *self = given;
                Ok(())
            }
        })+
    };
}

words!(MergeMode, PartType, Severity, TraitType);

/// Only what is given changes; nothing at all clears the plan.
impl Given for Option<PlanPersona> {
    type Input = PlanFields;

    fn give(&mut self, given: PlanFields) -> Result<(), String> {
        if given == PlanFields::default() {
            *self = None;
            return Ok(());
        }
        let mut plan = self.take().unwrap_or_default();
        let PlanFields { instruction, model, tool_preset } = given;
        if let Some(instruction) = instruction.flatten() {
            plan.instruction.give(instruction)?;
        }
        if let Some(model) = model.flatten() {
            plan.model.give(model)?;
        }
        if let Some(tool_preset) = tool_preset.flatten() {
            plan.tool_preset.give(tool_preset).map_err(|error| format!("tool_preset: {error}"))?;
        }
        *self = Some(plan).filter(|plan| *plan != PlanPersona::default());
        Ok(())
    }
}

/// Declares an input from the fields of a kind, for `persona::part_fields!` and its like. It takes
/// `create` or `update`, the macro that makes the type, its name, and fields to put before and
/// after; what is linked is not among a kind's own fields.
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
            { $($fields)* $(#[doc = $note])? $field: Option<<$type as $crate::inputs::Given>::Input>, }
            $after
        } $($rest)* }
    };
}
pub(super) use declare;

/// Gives an entity the fields that an input has, for `persona::part_fields!` and its like; ends the
/// function with an error where one cannot be read.
macro_rules! give {
    ({ $entity:expr, $input:expr }) => {};
    ({ $entity:expr, $input:expr } own $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        if let Some(given) = $input.$field {
            let field = stringify!($field).to_owned();
            let wrong = |message: String| $crate::inputs::InputError::Value { field, message };
            $crate::inputs::Given::give(&mut $entity.$field, given).map_err(wrong)?;
        }
        give! { { $entity, $input } $($rest)* }
    };
    ({ $entity:expr, $input:expr } required $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        if let Some(given) = $input.$field {
            $entity.$field = given;
        }
        give! { { $entity, $input } $($rest)* }
    };
    ({ $entity:expr, $input:expr } $taken:ident $note:tt $field:ident: $type:ty; $($rest:tt)*) => {
        give! { { $entity, $input } $($rest)* }
    };
}
pub(crate) use give;

/// Makes an entity of an input that creates one, likewise.
macro_rules! build {
    ({ $kind:ident, $input:expr } $($taken:ident $note:tt $field:ident: $type:ty;)+) => {{
        let mut entity = $kind { $($field: build!(@$taken $input, $field)),+ };
        $(build!(@give $taken entity, $input, $field);)+
        entity
    }};
    (@key $input:expr, $field:ident) => { $input.$field.clone() };
    (@required $input:expr, $field:ident) => { $input.$field };
    (@$taken:ident $input:expr, $field:ident) => { Default::default() };
    (@give own $entity:ident, $input:expr, $field:ident) => {
        if let Some(given) = $input.$field {
            let field = stringify!($field).to_owned();
            let wrong = |message: String| $crate::inputs::InputError::Value { field, message };
            $crate::inputs::Given::give(&mut $entity.$field, given).map_err(wrong)?;
        }
    };
    (@give $taken:ident $entity:ident, $input:expr, $field:ident) => {};
}
pub(crate) use build;
