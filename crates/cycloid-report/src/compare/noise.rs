//! Estimates the size of a difference and of the noise, and derives the verdict.
//!
//! All values are natural logarithms of times or of ratios of times. A difference is therefore
//! relative, and a standard deviation of 0.01 is one per cent.

use std::f64::consts::FRAC_PI_2;

use super::comparison::{Row, Table, Verdict};
use super::counts;
use super::rows::{self, Pair};
use cycloid_lab::measure::statistics;
use cycloid_lab::record::{Ratio, Record, Table as Recorded};

/// The number of standard errors from which a difference is significant. Fewer than one of ten
/// thousand unchanged rows is that far off by chance.
const CRITICAL: f64 = 4.0;

/// The number of standard errors on either side that contain a value in 95 of 100 cases.
const CONFIDENT: f64 = 1.96;

/// Allowance for estimating a standard deviation from few differences, which may make it far too
/// small: the estimate grows by this divided by its degrees of freedom, relative to its size. The
/// result bounds the quantiles of Student's t.
const DOUBT: f64 = 4.0;

/// A significant difference exceeds the movement of the farthest unchanged row by this factor: the
/// tails of the noise are heavier than its standard deviation shows.
const FARTHEST: f64 = 2.0;

/// The factor on the critical difference if a side has only one run, because then nothing shows
/// whether a difference recurs.
const ALONE: f64 = 1.5;

/// The assumed movement of a row between runs if nothing measures it.
const ASSUMED: f64 = 0.05;

/// The share of the pairs of runs in which a significant difference must recur.
const RECURRENCE: f64 = 0.8;

/// The least number of runs per side for a verdict without unchanged rows.
const FEWEST_RUNS: usize = 3;

/// The baseline of a table: its unchanged rows in every run of each side.
struct Scale {
    /// The number of unchanged rows.
    unchanged: usize,
    /// The mean logarithm of their ratios to the reference, run by run.
    levels: [Vec<f64>; 2],
    /// Their movements relative to each other.
    residuals: Spread,
}

/// A sum of squared differences, its degrees of freedom, and the largest difference.
#[derive(Clone, Copy, Default)]
struct Spread {
    squares: f64,
    freedom: f64,
    farthest: f64,
}

impl Spread {
    fn add(self, other: Self) -> Self {
        Self {
            squares: self.squares + other.squares,
            freedom: self.freedom + other.freedom,
            farthest: self.farthest.max(other.farthest),
        }
    }

    /// Collects the differences between repeated runs of a side.
    fn between(values: &[Vec<f64>; 2]) -> Self {
        let squares = values.iter().flat_map(|side| {
            let middle = mean(side);
            side.iter().map(move |value| (value - middle).powi(2))
        });
        let freedom = values.iter().map(|side| side.len() as f64 - 1.0).sum();
        Self { squares: squares.sum(), freedom, farthest: 0.0 }
    }

    /// Returns the standard deviation, or `None` without degrees of freedom.
    fn deviation(self) -> Option<Deviation> {
        (self.freedom > 0.0).then(|| Deviation {
            sigma: (self.squares / self.freedom).sqrt(),
            doubt: DOUBT / self.freedom,
        })
    }
}

/// A standard deviation and the relative allowance for its uncertainty.
#[derive(Clone, Copy)]
struct Deviation {
    sigma: f64,
    doubt: f64,
}

impl Deviation {
    const fn certain(sigma: f64) -> Self {
        Self { sigma, doubt: 0.0 }
    }

    fn scaled(self, by: f64) -> Self {
        Self { sigma: self.sigma * by, ..self }
    }

    /// Returns the smallest difference that is not chance.
    fn critical(self) -> f64 {
        CRITICAL * self.sigma * (1.0 + self.doubt)
    }

    /// Returns half of the 95 % interval.
    fn half_width(self) -> f64 {
        // At 95 %, Student's t is much closer to the normal distribution than in the far tails.
        CONFIDENT * self.sigma * (1.0 + self.doubt / 2.0)
    }
}

/// Compares every row of the pairs with its baseline and returns the verdicts.
pub(super) fn judge(pairs: Vec<Pair<'_>>, alternate: bool, threshold: f64) -> Vec<Table> {
    let scales: Vec<Scale> = pairs.iter().map(Scale::of).collect();
    // Noise seen in one table of a suite is expected in all of its tables. A suite with too few
    // unchanged rows to show any noise uses the noise of all suites.
    let all = scales.iter().fold(Spread::default(), |sum, scale| sum.add(scale.residuals));
    let of_suite = |suite: &str| {
        let tables = pairs.iter().zip(&scales).filter(|(pair, _)| pair.suite == suite);
        tables.fold(Spread::default(), |sum, (_, scale)| sum.add(scale.residuals))
    };
    let repeated = |suite: &str| {
        let tables = pairs.iter().zip(&scales).filter(|(pair, _)| pair.suite == suite);
        let alone = tables.filter(|(_, scale)| scale.unchanged == 0);
        let rows = alone.flat_map(|(pair, scale)| pair.rows.iter().map(|r| scale.values(r, pair)));
        rows.fold(Spread::default(), |sum, values| sum.add(Spread::between(&values)))
    };
    let tables = pairs.iter().zip(&scales).map(|(pair, scale)| {
        let suite = of_suite(pair.suite);
        let wide = if suite.freedom > 0.0 { suite } else { all };
        let repeated = repeated(pair.suite);
        let judged = Judged { pair, scale, wide, repeated, alternate, threshold };
        Table {
            suite: pair.suite.into(),
            title: pair.title.clone(),
            unchanged: scale.unchanged,
            drift: drift(pair),
            rows: pair.rows.iter().map(|row| judged.row(row)).collect(),
        }
    });
    tables.collect()
}

impl Scale {
    fn of(pair: &Pair<'_>) -> Self {
        let unchanged: Vec<_> = pair.rows.iter().filter(|row| rows::is_unchanged(row)).collect();
        let levels = [0, 1].map(|side| {
            let runs = 0..pair.tables[side].len();
            runs.map(|run| mean_of(unchanged.iter().map(|row| ratio(row[side][run])))).collect()
        });
        let mut scale = Self { unchanged: unchanged.len(), levels, residuals: Spread::default() };
        if unchanged.len() > 1 {
            let residuals = unchanged.iter().map(|row| scale.difference(row, pair).abs());
            // A row is judged against the mean of the other rows; relative to that mean, each
            // unchanged row moved by this factor more.
            let others = unchanged.len() as f64 / (unchanged.len() as f64 - 1.0);
            let spread = |x: f64| Spread { squares: x * x, freedom: 1.0, farthest: others * x };
            let seen = residuals.map(spread);
            scale.residuals = seen.fold(Spread::default(), Spread::add);
            // Their mean is computed from the rows themselves.
            scale.residuals.freedom -= 1.0;
        }
        scale
    }

    /// Returns a row's value in each run of both sides: relative to the unchanged rows if there are
    /// any, else its own time.
    fn values(&self, row: &[Vec<&Record>; 2], pair: &Pair<'_>) -> [Vec<f64>; 2] {
        [0, 1].map(|side| {
            let records = row[side].iter().enumerate();
            records
                .map(|(run, record)| match self.unchanged {
                    0 => record.time.nanoseconds(pair.tables[side][run].statistic).ln(),
                    _ => ratio(record) - self.levels[side][run],
                })
                .collect()
        })
    }

    fn difference(&self, row: &[Vec<&Record>; 2], pair: &Pair<'_>) -> f64 {
        let [old, new] = self.values(row, pair).map(|values| statistics::median(&values));
        new - old
    }
}

/// The inputs of a verdict, except for the row.
struct Judged<'a> {
    pair: &'a Pair<'a>,
    scale: &'a Scale,
    /// The movements of unchanged rows relative to each other, in the whole suite.
    wide: Spread,
    /// The movements from run to run of rows in tables without unchanged rows, in the whole suite.
    repeated: Spread,
    alternate: bool,
    threshold: f64,
}

impl Judged<'_> {
    fn row(&self, row: &[Vec<&Record>; 2]) -> Row {
        let values = self.scale.values(row, self.pair);
        let difference = self.scale.difference(row, self.pair);
        let recurrence = recurrence(&values, difference);
        let deviations = self.deviations(row, &values);
        let worst =
            |of: fn(Deviation) -> f64| deviations.iter().map(|d| of(*d)).fold(0.0, f64::max);
        let runs = row[0].len().min(row[1].len());
        let alone = if runs == 1 { ALONE } else { 1.0 };
        let critical = alone * worst(Deviation::critical).max(FARTHEST * self.wide.farthest);
        let half_width = worst(Deviation::half_width);
        let comparable = self.scale.unchanged > 0 || (self.alternate && runs >= FEWEST_RUNS);
        let threshold = self.threshold.ln_1p();
        let verdict = if !comparable {
            Verdict::NotEnoughData
        } else if difference.abs() >= threshold {
            match difference.abs() > critical && recurrence >= RECURRENCE {
                true if difference < 0.0 => Verdict::Faster,
                true => Verdict::Slower,
                false => Verdict::NotEnoughData,
            }
        } else if half_width <= threshold {
            Verdict::Same
        } else {
            Verdict::NotEnoughData
        };
        let record = row[1][0];
        let time = |side: usize| {
            let tables = row[side].iter().zip(&self.pair.tables[side]);
            let times = tables.map(|(record, table)| record.time.nanoseconds(table.statistic));
            statistics::median(&times.collect::<Vec<_>>())
        };
        Row {
            group: record.group.clone(),
            label: record.label.clone(),
            product: record.implementation.product.clone(),
            counted: counts::of(row),
            ours: record.is_ours(),
            versions: [0, 1].map(|side| row[side][0].implementation.version.clone()),
            time_ns: [time(0), time(1)],
            change: difference.exp(),
            interval: [difference - half_width, difference + half_width].map(f64::exp),
            resolution: critical.max(threshold).exp_m1(),
            recurrence,
            verdict: (!rows::is_unchanged(row)).then_some(verdict),
        }
    }

    /// Returns the standard error of the difference by every available estimate.
    fn deviations(&self, row: &[Vec<&Record>; 2], values: &[Vec<f64>; 2]) -> Vec<Deviation> {
        let mut deviations = vec![Deviation::certain(within(row)), self.control()];
        let repeated = |spread: Spread| Some(spread.deviation()?.scaled(share(values)));
        let between = repeated(Spread::between(values));
        let unchanged = self.scale.unchanged as f64;
        if self.scale.unchanged == 0 {
            // These times include the machine's drift, and a few runs may agree by chance.
            deviations.extend(repeated(self.repeated));
        } else {
            // The mean of the unchanged rows has an error, too.
            let level = (1.0 + 1.0 / unchanged).sqrt();
            let seen = [self.scale.residuals, self.wide].map(Spread::deviation);
            let seen: Vec<_> = seen.into_iter().flatten().map(|d| d.scaled(level)).collect();
            if seen.is_empty() && between.is_none() {
                deviations.push(Deviation::certain(ASSUMED * level));
            }
            // A table with few rows gives an uncertain estimate, but the suite's estimate is not.
            deviations.extend(seen.into_iter().map(|deviation| Deviation {
                doubt: deviation.doubt.min(DOUBT / self.wide.freedom.max(1.0)),
                ..deviation
            }));
        }
        deviations.extend(between);
        deviations
    }

    /// Returns the deviation of the controls: the distance from 1 or the width of the interval,
    /// whichever is larger.
    fn control(&self) -> Deviation {
        let side = |tables: &Vec<&Recorded>| {
            let of = |table: &&Recorded| {
                let Ratio { samples, median, .. } = table.control;
                let off = if samples == 0 { 0.0 } else { median.ln() };
                off.powi(2).max(variance(&table.control.interval))
            };
            tables.iter().map(of).sum::<f64>() / (tables.len() as f64).powi(2)
        };
        Deviation::certain(self.pair.tables.iter().map(side).sum::<f64>().sqrt())
    }
}

/// Returns the standard error given by the bootstrap intervals.
fn within(row: &[Vec<&Record>; 2]) -> f64 {
    let side = |records: &Vec<&Record>| {
        let of = |record: &&Record| match record.ratio.samples {
            0 => variance(&record.time.interval_ns),
            _ => variance(&record.ratio.interval),
        };
        records.iter().map(of).sum::<f64>() / (records.len() as f64).powi(2)
    };
    row.iter().map(side).sum::<f64>().sqrt()
}

/// Returns the variance that corresponds to a 95 % interval.
fn variance(interval: &[f64; 2]) -> f64 {
    ((interval[1] / interval[0]).ln() / (2.0 * CONFIDENT)).powi(2)
}

/// Returns the standard error of a difference divided by the standard deviation of a run.
fn share(values: &[Vec<f64>; 2]) -> f64 {
    // The median of normally distributed runs has π/2 times the variance of the mean.
    values.iter().map(|side| FRAC_PI_2 / side.len() as f64).sum::<f64>().sqrt()
}

/// Returns the share of the pairs of an old and a new run that differ in this direction.
fn recurrence(values: &[Vec<f64>; 2], difference: f64) -> f64 {
    let pairs = values[0].iter().flat_map(|old| values[1].iter().map(move |new| new - old));
    let agree = pairs.filter(|pair| pair * difference > 0.0).count();
    agree as f64 / (values[0].len() * values[1].len()) as f64
}

/// Returns the change of the times of the unchanged rows, new divided by old.
fn drift(pair: &Pair<'_>) -> Option<f64> {
    let unchanged = pair.rows.iter().filter(|row| rows::is_unchanged(row));
    let changes: Vec<f64> = unchanged
        .map(|row| {
            let [old, new] = [0, 1].map(|side| {
                let times = row[side].iter().zip(&pair.tables[side]);
                mean_of(times.map(|(r, table)| r.time.nanoseconds(table.statistic).ln()))
            });
            new - old
        })
        .collect();
    (!changes.is_empty()).then(|| mean(&changes).exp())
}

fn ratio(record: &Record) -> f64 {
    record.ratio.median.ln()
}

/// Returns the mean, or 0 for an empty slice.
pub(super) fn mean(values: &[f64]) -> f64 {
    mean_of(values.iter().copied())
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count == 0.0 { 0.0 } else { sum / count }
}
