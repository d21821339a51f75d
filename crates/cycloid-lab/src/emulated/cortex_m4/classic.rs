//! The known figures of the classic table of time and memory, which comes from a Cortex-M4F at
//! 180 MHz: both halves of an RSA-2048 private operation, and the scratch of one half.
//!
//! The device ran from flash with wait states, which the model of cycles does not have.

use cycloid::modular::{Exponentiation, Reduction, Strategy, Window};

use crate::record::Classic;

/// Bytes of scratch of a strategy: fast, ladder, fixed windows of 2 to 6 bits, sliding windows of
/// 2 to 6 bits.
const MONTGOMERY: [usize; 12] =
    [1340, 1608, 2412, 3484, 5628, 9916, 18492, 2412, 2948, 4020, 6164, 10452];

/// Returns what is known of a strategy's row; `None` if nothing is.
pub(super) fn row(strategy: Strategy) -> Option<Classic> {
    let row = Classic { milliseconds: milliseconds(strategy), scratch: scratch(strategy) };
    (row != Classic::default()).then_some(row)
}

fn milliseconds(strategy: Strategy) -> Option<f64> {
    use Exponentiation::{FastVartime, FixedWindow, Ladder, ReducedMemoryVartime};
    let widest = |window: Window| window.bits() == 6;
    match (strategy.reduction, strategy.exponentiation) {
        (Reduction::BasicVartime, Ladder) => Some(1081.0),
        (Reduction::Montgomery, FastVartime) => Some(486.0),
        (Reduction::Montgomery, FixedWindow(window)) if widest(window) => Some(397.0),
        (Reduction::Montgomery, ReducedMemoryVartime(window)) if widest(window) => Some(386.0),
        _ => None,
    }
}

fn scratch(strategy: Strategy) -> Option<usize> {
    let place = Exponentiation::ALL.iter().position(|one| *one == strategy.exponentiation)?;
    match (strategy.reduction, place) {
        (Reduction::Montgomery, place) => MONTGOMERY.get(place).copied(),
        (Reduction::BarrettVartime, 0) => Some(1876),
        (Reduction::BarrettVartime, 1) => Some(2144),
        (Reduction::BarrettVartime, 2 | 7) => Some(2948),
        (Reduction::BarrettVartime, 6) => Some(19028),
        (Reduction::BarrettVartime, 11) => Some(10988),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_stay_empty() {
        let rows: Vec<Option<Classic>> = Strategy::ALL.map(row).into();
        let times = rows.iter().flatten().filter(|row| row.milliseconds.is_some()).count();
        let scratch = rows.iter().flatten().filter(|row| row.scratch.is_some()).count();
        assert_eq!((times, scratch), (4, 18));
        let best = rows[30].unwrap();
        assert_eq!(Strategy::ALL[30].to_string(), "Montgomery, 6b FW");
        assert_eq!((best.milliseconds, best.scratch), (Some(397.0), Some(18492)));
        assert_eq!(rows[1].unwrap(), Classic { milliseconds: Some(1081.0), scratch: None });
        assert_eq!(rows[0], None);
    }
}
