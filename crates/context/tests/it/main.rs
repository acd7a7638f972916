//! The crate from outside: projects in temporary directories, and sources of each language.

mod fitting;
mod selecting;
mod tree;
mod walking;
