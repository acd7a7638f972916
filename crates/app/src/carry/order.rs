//! The order in which entities are stored: what others refer to comes first.

use std::collections::{BTreeSet, HashMap};

use persona::{AnyEntity, Kind, Name, Scope};

use crate::{Result, ScopeError};

/// Sorts entities of a scope so that each follows all of them that it refers to. Fails on a circle.
pub(super) fn in_order_of_use(entities: Vec<AnyEntity>, scope: Scope) -> Result<Vec<AnyEntity>> {
    let places: HashMap<(Kind, Name), usize> = entities
        .iter()
        .enumerate()
        .map(|(at, entity)| ((entity.kind(), entity.name().clone()), at))
        .collect();
    let needs = |(at, entity): (usize, &AnyEntity)| -> BTreeSet<usize> {
        let here = entity.references().into_iter();
        let here = here.filter(|reference| reference.scope.is_none_or(|named| named == scope));
        let here = here.filter_map(|reference| places.get(&(reference.kind, reference.name)).copied());
        here.filter(|other| *other != at).collect()
    };
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); entities.len()];
    let mut open: Vec<usize> = Vec::with_capacity(entities.len());
    for (at, needed) in entities.iter().enumerate().map(needs).enumerate() {
        open.push(needed.len());
        needed.into_iter().for_each(|other| users[other].push(at));
    }
    let mut order: Vec<usize> = (0..entities.len()).filter(|at| open[*at] == 0).collect();
    let mut next = 0;
    while let Some(at) = order.get(next).copied() {
        for user in &users[at] {
            open[*user] -= 1;
            if open[*user] == 0 {
                order.push(*user);
            }
        }
        next += 1;
    }
    if order.len() < entities.len() {
        let left = entities.iter().zip(&open).filter(|(_, open)| **open > 0);
        return Err(
            ScopeError::Circle { names: left.map(|(entity, _)| entity.name().clone()).collect() }.into()
        );
    }
    let mut entities: Vec<Option<AnyEntity>> = entities.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|at| entities[at].take()).collect())
}

#[cfg(test)]
mod tests;
