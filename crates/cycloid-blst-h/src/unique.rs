//! A set of messages that tells whether one occurs twice, in the caller's memory.

use std::hash::{BuildHasher, RandomState};

use crate::exports;
use crate::memory::slice;

/// A node of the tree; zero stands for no child, others are one more than an index.
struct Node {
    children: [usize; 2],
    hash: u64,
    message: *const u8,
    length: usize,
}

/// `blst_uniq`: a search tree by hashes, followed by its nodes. The hash has random keys, so that
/// nobody can choose messages that make the tree deep.
pub struct Tree {
    count: usize,
    hasher: RandomState,
}

exports! {
    fn blst_uniq_sizeof(n: usize) -> usize {
        size_of::<Tree>() + n * size_of::<Node>()
    }

    fn blst_uniq_init(tree: *mut Tree) {
        tree.write(Tree { count: 0, hasher: RandomState::new() });
    }

    fn blst_uniq_test(tree: *mut Tree, message: *const u8, length: usize) -> i32 {
        let nodes = tree.add(1).cast::<Node>();
        let bytes = slice(message, length);
        let hash = (*tree).hasher.hash_one(bytes);
        let mut link = None;
        let mut at = usize::from((*tree).count > 0);
        while at > 0 {
            let node = nodes.add(at - 1);
            let other = slice((*node).message, (*node).length);
            let side = match (hash, bytes).cmp(&((*node).hash, other)) {
                core::cmp::Ordering::Less => 0,
                core::cmp::Ordering::Equal => return 0,
                core::cmp::Ordering::Greater => 1,
            };
            link = Some((node, side));
            at = (*node).children[side];
        }
        nodes.add((*tree).count).write(Node { children: [0; 2], hash, message, length });
        (*tree).count += 1;
        if let Some((node, side)) = link {
            (*node).children[side] = (*tree).count;
        }
        1
    }
}
