//! An index of the objects in memory: by handle, by label and by identifier.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use crate::attribute::{Template, cka};
use crate::object::Object;

/// Objects with an index, so that a search by label or identifier need not scan them all.
#[derive(Debug, Default)]
pub(super) struct Index {
    objects: BTreeMap<u64, Arc<Object>>,
    by_label: HashMap<Box<[u8]>, Vec<u64>>,
    by_identifier: HashMap<Box<[u8]>, Vec<u64>>,
}

/// Adds a handle to those of a value, which ascend. A new object has the greatest one.
fn add(to: &mut HashMap<Box<[u8]>, Vec<u64>>, value: Option<&[u8]>, id: u64) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        let ids = to.entry(value.into()).or_default();
        let place = ids.partition_point(|other| *other < id);
        ids.insert(place, id);
    }
}

fn take(from: &mut HashMap<Box<[u8]>, Vec<u64>>, value: Option<&[u8]>, id: u64) {
    let Some(value) = value else { return };
    if let Some(ids) = from.get_mut(value) {
        if let Ok(place) = ids.binary_search(&id) {
            ids.remove(place);
        }
        if ids.is_empty() {
            from.remove(value);
        }
    }
}

impl Index {
    /// Inserts an object, replacing any with the same handle.
    pub(super) fn insert(&mut self, object: Arc<Object>) {
        self.remove(object.id);
        add(&mut self.by_label, object.attributes.get(cka::LABEL), object.id);
        add(&mut self.by_identifier, object.attributes.get(cka::ID), object.id);
        self.objects.insert(object.id, object);
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, id: u64) -> Option<Arc<Object>> {
        let object = self.objects.remove(&id)?;
        take(&mut self.by_label, object.attributes.get(cka::LABEL), id);
        take(&mut self.by_identifier, object.attributes.get(cka::ID), id);
        Some(object)
    }

    /// Returns the object with this handle.
    pub(super) fn get(&self, id: u64) -> Option<&Arc<Object>> {
        self.objects.get(&id)
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Finds the objects with these attributes that `visible` accepts, in ascending order: at most
    /// `most` of those with handles greater than `after`.
    pub(super) fn find(
        &self,
        template: &Template,
        after: u64,
        most: usize,
        visible: impl Fn(&Object) -> bool,
    ) -> Vec<u64> {
        let matches = |object: &Arc<Object>| visible(object) && object.attributes.matches(template);
        let candidates = match (template.get(cka::LABEL), template.get(cka::ID)) {
            (_, Some(identifier)) if !identifier.is_empty() => self.by_identifier.get(identifier),
            (Some(label), _) if !label.is_empty() => self.by_label.get(label),
            _ => {
                let all = self.objects.range((Bound::Excluded(after), Bound::Unbounded));
                let all = all.filter(|(_, object)| matches(object));
                return all.map(|(id, _)| *id).take(most).collect();
            }
        };
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        let following = &candidates[candidates.partition_point(|id| *id <= after)..];
        let found = following.iter().filter(|id| self.objects.get(id).is_some_and(matches));
        found.copied().take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Returns an object with a label and an identifier; 0 stands for none.
    fn object(id: u64, label: u8, identifier: u8) -> Arc<Object> {
        let mut attributes = Template::new();
        for (number, value) in [(cka::LABEL, label), (cka::ID, identifier)] {
            attributes.set(number, vec![value; usize::from(value > 0)]);
        }
        Object::new(id, 1, attributes, None).into()
    }

    fn template(label: Option<u8>, identifier: Option<u8>) -> Template {
        let mut template = Template::new();
        for (number, value) in [(cka::LABEL, label), (cka::ID, identifier)] {
            if let Some(value) = value {
                template.set(number, vec![value; usize::from(value > 0)]);
            }
        }
        template
    }

    proptest! {
        /// Against a list of all objects that is searched from the front.
        #[test]
        fn pages_together_are_all_objects_in_order(
            steps in prop::collection::vec((1..40_u64, 0..3_u8, 0..3_u8, 0..4_u8), 0..80),
            label in prop::option::of(0..3_u8),
            identifier in prop::option::of(0..3_u8),
            most in 1..6_usize,
        ) {
            let (mut index, mut model) = (Index::default(), BTreeMap::new());
            for (id, label, identifier, action) in steps {
                if action == 0 {
                    let there = model.remove(&id).is_some();
                    prop_assert_eq!(index.remove(id).is_some(), there);
                } else {
                    index.insert(object(id, label, identifier));
                    model.insert(id, (label, identifier));
                }
            }
            let visible = |object: &Object| !object.id.is_multiple_of(5);
            let is_wanted = |wanted: Option<u8>, value| wanted.is_none_or(|wanted| wanted == value);
            let expected = model.iter().filter(|(id, (its_label, its_identifier))| {
                !id.is_multiple_of(5)
                    && is_wanted(label, *its_label)
                    && is_wanted(identifier, *its_identifier)
            });
            let expected: Vec<u64> = expected.map(|(id, _)| *id).collect();
            let template = template(label, identifier);
            let (mut found, mut after) = (Vec::<u64>::new(), 0);
            loop {
                let page = index.find(&template, after, most, visible);
                prop_assert!(page.len() <= most && page.iter().all(|id| *id > after));
                found.extend(&page);
                let Some(last) = page.last() else { break };
                after = *last;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
