//! An index of the objects in memory: by handle, by label and by identifier.

use std::collections::{BTreeMap, HashMap};
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

fn add(to: &mut HashMap<Box<[u8]>, Vec<u64>>, value: Option<&[u8]>, id: u64) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        to.entry(value.into()).or_default().push(id);
    }
}

fn take(from: &mut HashMap<Box<[u8]>, Vec<u64>>, value: Option<&[u8]>, id: u64) {
    let Some(value) = value else { return };
    if let Some(ids) = from.get_mut(value) {
        ids.retain(|other| *other != id);
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

    /// Finds all objects with these attributes that `visible` accepts, in no particular order.
    pub(super) fn find(&self, template: &Template, visible: impl Fn(&Object) -> bool) -> Vec<u64> {
        let matches = |object: &Arc<Object>| visible(object) && object.attributes.matches(template);
        let candidates = match (template.get(cka::LABEL), template.get(cka::ID)) {
            (_, Some(identifier)) if !identifier.is_empty() => self.by_identifier.get(identifier),
            (Some(label), _) if !label.is_empty() => self.by_label.get(label),
            _ => {
                let all = self.objects.values().filter(|object| matches(object));
                return all.map(|object| object.id).collect();
            }
        };
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        candidates.iter().filter(|id| self.objects.get(id).is_some_and(matches)).copied().collect()
    }
}
