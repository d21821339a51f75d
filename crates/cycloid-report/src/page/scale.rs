//! Maps values to positions on an axis, and chooses its ticks.

/// The kind of scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Linear, from zero.
    Linear,
    /// Logarithmic, with ticks at ones, twos and fives.
    Decimal,
    /// Logarithmic, with ticks at powers of two.
    Binary,
}

/// More ticks are thinned out.
const MOST_MARKS: usize = 8;

/// An axis of a plot: the values at its ends, and their positions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Creates a scale that includes all valid `values`, drawn between `from` and `to`; `None` if
    /// no value is valid.
    pub(super) fn new(kind: Kind, values: impl Iterator<Item = f64>) -> Option<Self> {
        let values = values.filter(|value| can_stand(kind, *value));
        let (low, high) = values.fold((f64::INFINITY, 0_f64), |(l, h), v| (l.min(v), h.max(v)));
        if !low.is_finite() {
            return None;
        }
        let (low, high) = match kind {
            Kind::Linear if high == 0.0 => (0.0, 1.0),
            Kind::Linear => (0.0, high * 1.06),
            _ => {
                let margin = (high / low).powf(0.05).clamp(1.06, 1.5);
                (low / margin, high * margin)
            }
        };
        let in_range = low.is_finite() && high.is_finite() && (low > 0.0 || kind == Kind::Linear);
        in_range.then_some(Self { kind, low, high, from: 0.0, to: 1.0 })
    }

    /// Returns the same scale drawn between these positions.
    pub(super) fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Returns whether `value` is on the axis.
    pub(super) fn has(&self, value: f64) -> bool {
        can_stand(self.kind, value) && value >= self.low && value <= self.high
    }

    /// Returns the position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = match self.kind {
            Kind::Linear => (value - self.low) / (self.high - self.low),
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        self.from + share * (self.to - self.from)
    }

    /// Returns round values on the axis, in rising order.
    pub(super) fn marks(&self) -> Vec<f64> {
        let marks = match self.kind {
            Kind::Linear => self.even(),
            Kind::Binary => {
                let powers = (-40..60).map(|exponent| 2_f64.powi(exponent));
                self.thinned(powers.filter(|value| self.has(*value)).collect())
            }
            Kind::Decimal => {
                let decades = (-12..16).map(|exponent| 10_f64.powi(exponent));
                let steps: &[f64] = match (self.high / self.low).log10() {
                    decades if decades < 2.2 => &[1.0, 2.0, 5.0],
                    decades if decades < 3.2 => &[1.0, 3.0],
                    _ => &[1.0],
                };
                let all = decades.flat_map(|decade| steps.iter().map(move |step| step * decade));
                self.thinned(all.filter(|value| self.has(*value)).collect())
            }
        };
        // A short range may contain no power.
        if marks.len() < 3 && self.kind == Kind::Decimal { self.even() } else { marks }
    }

    /// Returns four to eight values at even distances of one, two or five units.
    fn even(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / 5.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = match rough / unit {
            r if r < 1.5 => unit,
            r if r < 3.5 => 2.0 * unit,
            r if r < 7.5 => 5.0 * unit,
            _ => 10.0 * unit,
        };
        let first = (self.low / step).ceil();
        let values = (0..=MOST_MARKS).map(|i| (first + i as f64) * step);
        values.filter(|value| *value >= self.low && *value <= self.high).collect()
    }

    /// Keeps every second, third, … of `values`, so that there are not too many.
    fn thinned(&self, values: Vec<f64>) -> Vec<f64> {
        let every = values.len().div_ceil(MOST_MARKS).max(1);
        values.into_iter().step_by(every).collect()
    }
}

/// Returns whether a value is valid on an axis of that kind; a record may hold any number.
fn can_stand(kind: Kind, value: f64) -> bool {
    let range = match kind {
        Kind::Linear => 0.0..=1e15,
        _ => 1e-12..=1e15,
    };
    range.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(kind: Kind, values: &[f64]) -> Scale {
        Scale::new(kind, values.iter().copied()).unwrap().between(0.0, 100.0)
    }

    #[test]
    fn places() {
        let linear = scale(Kind::Linear, &[5.0, 100.0 / 1.06]);
        assert!((linear.at(0.0), linear.at(50.0).round()) == (0.0, 50.0));
        let binary = scale(Kind::Binary, &[1.0, 64.0]);
        assert!((binary.at(8.0) - 50.0).abs() < 1e-9);
        // Reversed, as on an axis that goes up.
        let up = Scale::new(Kind::Decimal, [1.0, 100.0].into_iter()).unwrap().between(80.0, 0.0);
        assert!((up.at(10.0) - 40.0).abs() < 1e-9 && up.at(1.0) > up.at(2.0));
    }

    #[test]
    fn round_marks() {
        assert_eq!(scale(Kind::Binary, &[1.0, 64.0]).marks(), [1., 2., 4., 8., 16., 32., 64.]);
        assert_eq!(scale(Kind::Linear, &[9.0]).marks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        let decades = scale(Kind::Decimal, &[1.0, 1e5]).marks();
        assert_eq!(decades, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        let ones_twos_fives = scale(Kind::Decimal, &[10.0, 120.0]).marks();
        assert_eq!(ones_twos_fives.len(), 4);
        for (value, expected) in ones_twos_fives.iter().zip([10.0, 20.0, 50.0, 100.0]) {
            assert!((value - expected).abs() < 1e-9);
        }
        // Ticks exist even without a power of ten between the ends.
        assert!(scale(Kind::Decimal, &[610.0, 690.0]).marks().len() >= 3);
    }

    #[test]
    fn the_number_of_ticks_is_bounded_both_ways() {
        for kind in [Kind::Linear, Kind::Decimal, Kind::Binary] {
            for low in [1e-12, 1e-3, 0.99, 1.0, 7.7, 1e6, 9.9e14] {
                for factor in [1.0, 1.001, 1.3, 2.0, 9.0, 1e3, 1e9, 1e27] {
                    let Some(scale) = Scale::new(kind, [low, low * factor].into_iter()) else {
                        continue;
                    };
                    let marks = scale.marks();
                    let least = if kind == Kind::Binary { 0 } else { 1 };
                    assert!(
                        (least..=9).contains(&marks.len()),
                        "{kind:?} {low} {factor}: {marks:?}"
                    );
                    assert!(marks.iter().all(|mark| scale.at(*mark).is_finite()));
                    assert!(marks.is_sorted());
                }
            }
        }
    }

    #[test]
    fn invalid_values_are_omitted() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 1e300];
        assert_eq!(Scale::new(Kind::Linear, odd.into_iter()), None);
        assert_eq!(Scale::new(Kind::Decimal, [0.0].into_iter()), None);
        let scale = Scale::new(Kind::Decimal, [f64::NAN, -3.0, 0.0, 5.0].into_iter()).unwrap();
        assert!(scale.has(5.0) && !scale.has(0.0) && !scale.has(f64::NAN));
    }
}
