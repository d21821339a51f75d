//! A source as a flat list of words, without comments, strings and brackets.

use std::str::FromStr as _;

use proc_macro2::{TokenStream, TokenTree};

use super::tree::File;
use crate::process::Failure;

/// An identifier, or one character of punctuation.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) line: usize,
}

/// Returns the words of a source.
pub(super) fn words(file: &File) -> Result<Vec<Word>, Failure> {
    let tokens = TokenStream::from_str(&file.text).map_err(|error| {
        Failure::new(format!("{}:{}: {error}", file.path, error.span().start().line))
    })?;
    let mut words = Vec::new();
    add(tokens, &mut words);
    Ok(words)
}

fn add(tokens: TokenStream, words: &mut Vec<Word>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => add(group.stream(), words),
            TokenTree::Literal(_) => {}
            word => words.push(Word { text: word.to_string(), line: word.span().start().line }),
        }
    }
}
