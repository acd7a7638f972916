//! A bounded map that forgets what was not used for long.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// Two maps: a use moves an entry into the young one. Once that is half full, the old one is dropped and
/// the young one grows old.
#[derive(Debug)]
pub(super) struct Generations<K, V> {
    young: HashMap<K, (V, u64)>,
    old: HashMap<K, (V, u64)>,
    young_weight: u64,
    most: u64,
}

impl<K: Eq + Hash + Clone, V: Clone> Generations<K, V> {
    pub(super) fn new(most: u64) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), young_weight: 0, most: most / 2 }
    }

    pub(super) fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (value, weight) = self.old.remove(key)?;
        self.insert(key.clone(), value.clone(), weight);
        Some(value)
    }

    /// An entry heavier than half of the map is not kept.
    pub(super) fn insert(&mut self, key: K, value: V, weight: u64) {
        if weight > self.most {
            return;
        }
        if self.young_weight.saturating_add(weight) > self.most {
            self.old = mem::take(&mut self.young);
            self.young_weight = 0;
        }
        self.young_weight += weight;
        if let Some((_, before)) = self.young.insert(key, (value, weight)) {
            self.young_weight -= before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entries_stay_and_the_map_is_bounded() {
        let mut map = Generations::new(10);
        for number in 0..100 {
            map.insert(number, number, 1);
            assert_eq!(map.get(&0), Some(0), "after {number}");
            assert!(map.young.len() + map.old.len() <= 10);
        }
        assert_eq!(map.get(&50), None);
        map.insert(200, 200, 6);
        assert_eq!(map.get(&200), None, "too heavy");
    }
}
