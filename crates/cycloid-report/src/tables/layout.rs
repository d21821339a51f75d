//! The layout of tables: grids, and lines of limited width.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table as Grid, TableStyle};

/// Creates a grid with a rule only under its header.
pub(super) fn ruled() -> Grid {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')))
        .set_content_arrangement(ContentArrangement::Disabled);
    grid
}

/// Aligns columns of numbers to the right, with `gap` spaces between them; the first column has
/// words.
pub(super) fn align(grid: &mut Grid, gap: u16) {
    let last = grid.column_count().saturating_sub(1);
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if i == last { 0 } else { gap }));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Shortens `line` to at most `width` characters; three dots mark the omission.
pub(crate) fn cut(line: &str, width: usize) -> String {
    match line.char_indices().nth(width) {
        None => line.into(),
        Some(_) => line.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
    }
}

/// Breaks `text` at spaces into lines of at most `width` characters.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is at least one line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines
}
