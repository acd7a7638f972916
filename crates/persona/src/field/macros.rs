//! Macros that define a type together with the descriptions of its fields.

/// Defines a type and describes its fields, line by line: a field, its type, what it is.
macro_rules! described {
    (
        $(#[$meta:meta])*
        $type:ident {
            $($(#[$field_meta:meta])* $field:ident: $field_type:ty = $described:expr;)+
        }
    ) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        pub struct $type {
            $($(#[$field_meta])* pub $field: $field_type,)+
        }

        impl $crate::field::Described for $type {
            const TYPE_NAME: &'static str = stringify!($type);
            const FIELDS: &'static [$crate::Field] = &[$($described.named(stringify!($field))),+];

            fn values(&self) -> Vec<(&'static $crate::Field, &dyn $crate::field::AnyValue)> {
                let mut fields = Self::FIELDS.iter();
                [$(&self.$field as &dyn $crate::field::AnyValue),+]
                    .into_iter()
                    .filter_map(|value| Some((fields.next()?, value)))
                    .collect()
            }

            fn values_mut(&mut self) -> Vec<(&'static $crate::Field, &mut dyn $crate::field::AnyValue)> {
                let mut fields = Self::FIELDS.iter();
                [$(&mut self.$field as &mut dyn $crate::field::AnyValue),+]
                    .into_iter()
                    .filter_map(|value| Some((fields.next()?, value)))
                    .collect()
            }
        }

        $crate::field::value::table!($type);
    };
}
pub(crate) use described;

/// Defines a kind: as [`described`], and how it fulfils [`Entity`](crate::Entity). A line begins
/// with the inputs that take the field: `own` for create and update, `linked` for create alone, and
/// `key` for the name. `$fields` becomes a macro that hands the fields to another one.
macro_rules! kind {
    (
        $(#[$meta:meta])*
        $type:ident = $kind:ident, $fields:ident {
            $($(#[$field_meta:meta])* $taken:ident $(($note:literal))? $field:ident: $field_type:ty = $described:expr;)+
        }
    ) => {
        $crate::field::described! {
            $(#[$meta])*
            #[serde(deny_unknown_fields)]
            $type {
                $($(#[$field_meta])* $field: $field_type = $described.taken($crate::field::taken!($taken));)+
            }
        }

        impl $crate::Entity for $type {
            const KIND: $crate::Kind = $crate::Kind::$kind;

            fn name(&self) -> &$crate::Name {
                &self.name
            }

            fn set_name(&mut self, name: $crate::Name) {
                self.name = name;
            }

            fn tags(&self) -> &$crate::Tags {
                &self.tags
            }

            fn check_whole(&self) -> Result<(), $crate::Invalid> {
                #[allow(unused_imports, reason = "a type may have a method of its own")]
                use $crate::check::Together as _;
                self.check_together()
            }
        }

        /// Calls a macro with the fields of the kind, after whatever it is given in brackets.
        #[macro_export]
        macro_rules! $fields {
            ($callback:ident, $first:tt) => {
                $callback! { $first $($taken ($($note)?) $field: $field_type;)+ }
            };
        }
    };
}
pub(crate) use kind;

macro_rules! taken {
    (linked) => {
        $crate::field::Input::Linked
    };
    ($other:ident) => {
        $crate::field::Input::Own
    };
}
pub(crate) use taken;

/// Makes an entity with its name and what is required, for the macro that hands on its fields.
macro_rules! blank {
    ({ $type:ident $given:tt } $($taken:ident $note:tt $field:ident: $field_type:ty;)+) => {
        $type { $($field: $crate::field::blank!(@$taken $given)),+ }
    };
    (@key ($name:ident)) => { $name };
    (@key ($name:ident, $required:ident)) => { $name };
    (@required ($name:ident, $required:ident)) => { $required };
    (@$taken:ident $given:tt) => { Default::default() };
}
pub(crate) use blank;
