//! The planned tables of an emulated processor.

use crate::record::{Classic, LIBRARY, Method, Parameters};

/// The label of the row that ratios refer to.
pub(super) const REFERENCE: &str = "default";

/// A planned table.
pub(super) struct Planned {
    pub(super) suite: &'static str,
    pub(super) group: String,
    pub(super) name: String,
    /// The operation in records.
    pub(super) operation: &'static str,
    pub(super) parameters: Parameters,
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    /// The peers that have such operations, measured or not.
    pub(super) peers: Vec<&'static str>,
}

/// A planned row.
pub(super) struct Row {
    /// The library's name in records.
    pub(super) product: &'static str,
    /// The backend; none for a peer.
    pub(super) backend: Option<&'static str>,
    /// The name of the operation in the program that runs it.
    pub(super) operation: String,
    pub(super) group: String,
    pub(super) label: String,
    pub(super) method: Method,
    pub(super) constant_time: bool,
    pub(super) function: &'static str,
    /// The program that has the operation and little else.
    pub(super) flash: Option<&'static str>,
    pub(super) classic: Option<Classic>,
}

impl Planned {
    /// Returns a table without rows, with the processor's name on the command line and in words.
    pub(super) fn new(
        target: [&str; 2],
        suite: &'static str,
        group: &str,
        name: &str,
        operation: &'static str,
    ) -> Self {
        Self {
            suite,
            // No table of the host has such a group, so that nothing compares them.
            group: format!("{group} on {}", target[1]),
            name: name.into(),
            operation,
            parameters: [("target".to_owned(), target[0].into())].into(),
            rows: Vec::new(),
            notes: Vec::new(),
            peers: Vec::new(),
        }
    }

    /// Adds a parameter.
    pub(super) fn with(mut self, name: &str, value: impl Into<serde_json::Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Returns the names of the operations of a library, and of one of its backends.
    pub(super) fn operations(
        &self,
        product: &str,
        backend: Option<&str>,
    ) -> impl Iterator<Item = &str> {
        let fits = move |row: &&Row| row.product == product && row.backend == backend;
        self.rows.iter().filter(fits).map(|row| &*row.operation)
    }
}

impl Row {
    /// Returns the row of the library's usual method.
    pub(super) fn ours(backend: &'static str, operation: &str, function: &'static str) -> Self {
        let special = Self::special(backend, operation, REFERENCE, function);
        Self { method: Method::Single, ..special }
    }

    /// Returns the row of another method of the library.
    pub(super) fn special(
        backend: &'static str,
        operation: &str,
        label: &str,
        function: &'static str,
    ) -> Self {
        Self {
            product: LIBRARY,
            backend: Some(backend),
            operation: operation.into(),
            group: LIBRARY.into(),
            label: label.into(),
            method: Method::Other,
            constant_time: !operation.ends_with("verify"),
            function,
            flash: None,
            classic: None,
        }
    }

    /// Returns the row of a peer, whose time is not known to be constant.
    pub(super) fn of_peer(
        product: &'static str,
        operation: &str,
        label: &str,
        function: &'static str,
    ) -> Self {
        Self {
            product,
            backend: None,
            group: product.into(),
            method: Method::Single,
            constant_time: false,
            ..Self::special("", operation, label, function)
        }
    }

    /// Returns the same row with the program whose flash it shows.
    pub(super) fn with_flash(self, program: Option<&'static str>) -> Self {
        Self { flash: program, ..self }
    }
}
