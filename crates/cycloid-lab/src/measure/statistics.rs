//! Statistics of noisy samples: medians and means with bootstrap intervals.

use super::random::Random;

/// The number of resamples per interval.
const RESAMPLES: usize = 1000;

/// The share of the resamples that an interval covers.
pub const CONFIDENCE: f64 = 0.95;

/// A median, a mean or a ratio of means, with its interval at confidence [`CONFIDENCE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value for the samples.
    pub value: f64,
    /// The ends of the interval.
    pub interval: [f64; 2],
}

/// Returns the median of `samples`; for an even number, the mean of the middle two.
///
/// # Panics
/// If there are no samples, or if one is NaN.
pub fn median(samples: &[f64]) -> f64 {
    median_of_sorted(&sorted(samples))
}

/// Returns the least of `samples`, or infinity if there are none.
pub fn minimum(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns the median and its interval by the percentile bootstrap (Efron, 1979): the middle
/// [`CONFIDENCE`] of the medians of `RESAMPLES` samples drawn from `samples` with replacement.
///
/// The same samples give the same interval on every run.
///
/// # Panics
/// If there are no samples, or if one is NaN.
pub fn estimate(samples: &[f64]) -> Estimate {
    let sorted = sorted(samples);
    let n = sorted.len();
    let mut random = Random::new(n as u64);
    // Ranks represent the samples: they are half the size, and need no care for NaN when compared.
    let mut ranks = vec![0u32; n];
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            ranks.fill_with(|| random.below(n) as u32);
            let (below, middle, _) = ranks.select_nth_unstable(n / 2);
            let upper = sorted[*middle as usize];
            if n % 2 == 1 {
                upper
            } else {
                let lower = below.iter().max().expect("the number of samples is even and not 0");
                (sorted[*lower as usize] + upper) / 2.0
            }
        })
        .collect();
    Estimate { value: median_of_sorted(&sorted), interval: middle(&mut medians) }
}

/// Returns the mean of `samples`.
///
/// # Panics
/// If there are none.
pub fn mean(samples: &[f64]) -> f64 {
    assert!(!samples.is_empty(), "a mean needs samples");
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Returns the mean and its interval by the percentile bootstrap.
///
/// # Panics
/// As [`mean`].
pub fn estimate_mean(samples: &[f64]) -> Estimate {
    let mut random = Random::new(samples.len() as u64);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean_of_resample(samples, &mut random)).collect();
    Estimate { value: mean(samples), interval: middle(&mut means) }
}

/// Returns the mean of `samples` divided by the mean of the independent `others`, and its interval
/// by the percentile bootstrap.
///
/// # Panics
/// As [`mean`].
pub fn estimate_ratio_of_means(samples: &[f64], others: &[f64]) -> Estimate {
    let mut random = Random::new((samples.len() + others.len()) as u64);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| mean_of_resample(samples, &mut random) / mean_of_resample(others, &mut random))
        .collect();
    Estimate { value: mean(samples) / mean(others), interval: middle(&mut ratios) }
}

fn mean_of_resample(samples: &[f64], random: &mut Random) -> f64 {
    let sum: f64 = samples.iter().map(|_| samples[random.below(samples.len())]).sum();
    sum / samples.len() as f64
}

/// Returns the ends of the middle [`CONFIDENCE`] of the resampled values.
fn middle(resampled: &mut [f64]) -> [f64; 2] {
    resampled.sort_unstable_by(f64::total_cmp);
    let tail = ((1.0 - CONFIDENCE) / 2.0 * RESAMPLES as f64) as usize;
    [resampled[tail], resampled[RESAMPLES - 1 - tail]]
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    assert!(!samples.is_empty(), "a median needs samples");
    assert!(samples.iter().all(|x| !x.is_nan()), "a sample is not a number");
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[3.0, 1.0]), 2.0);
        assert_eq!(median(&[9.0, 1.0, 2.0]), 2.0);
        assert_eq!(minimum(&[9.0, 1.0, 2.0]), 1.0);
    }

    /// Simulates a time on a shared machine: small jitter, and occasionally a large delay.
    fn noisy(random: &mut Random, truth: f64) -> f64 {
        let uniform = |random: &mut Random| random.next() as f64 / 2f64.powi(64);
        let spike = if random.below(10) == 0 { uniform(random) } else { 0.0 };
        truth * (1.0 + 0.02 * uniform(random) + spike)
    }

    #[test]
    fn intervals_cover_the_median_as_often_as_they_claim() {
        // The median of `noisy(1)`; the spikes raise it slightly above the jitter's median.
        let mut random = Random::new(1);
        let population: Vec<f64> = (0..200_001).map(|_| noisy(&mut random, 1.0)).collect();
        let truth = median(&population);
        for size in [25, 200] {
            let trials = 300;
            let covered = (0..trials)
                .filter(|_| {
                    let samples: Vec<f64> = (0..size).map(|_| noisy(&mut random, 1.0)).collect();
                    let [low, high] = estimate(&samples).interval;
                    low <= truth && truth <= high
                })
                .count();
            let share = covered as f64 / f64::from(trials);
            assert!(share > 0.90, "{size} samples: {share}");
            assert!(share < 1.0, "{size} samples: the interval never misses");
        }
    }

    #[test]
    fn a_subject_against_itself_has_a_ratio_of_one() {
        let mut random = Random::new(2);
        let ratios: Vec<f64> =
            (0..2001).map(|_| noisy(&mut random, 40.0) / noisy(&mut random, 40.0)).collect();
        let estimate = estimate(&ratios);
        assert!((estimate.value - 1.0).abs() < 0.001, "{estimate:?}");
        assert!(estimate.interval[0] <= 1.0 && 1.0 <= estimate.interval[1], "{estimate:?}");
    }

    #[test]
    fn a_difference_of_one_per_cent_is_seen() {
        let mut random = Random::new(3);
        let ratios: Vec<f64> =
            (0..2001).map(|_| noisy(&mut random, 40.4) / noisy(&mut random, 40.0)).collect();
        let [low, high] = estimate(&ratios).interval;
        assert!(low > 1.005 && high < 1.015, "{low} {high}");
    }

    #[test]
    fn intervals_of_ratios_of_means_cover_them_as_often_as_they_claim() {
        // Times that vary as much as those of key generation: exponentially distributed.
        let mut random = Random::new(4);
        let mut time = |mean: f64| -mean * (1.0 - random.next() as f64 / 2f64.powi(64)).ln();
        let trials = 300;
        let covered = (0..trials)
            .filter(|_| {
                let slow: Vec<f64> = (0..60).map(|_| time(3.0)).collect();
                let fast: Vec<f64> = (0..200).map(|_| time(1.0)).collect();
                let [low, high] = estimate_ratio_of_means(&slow, &fast).interval;
                low <= 3.0 && 3.0 <= high
            })
            .count();
        let share = covered as f64 / f64::from(trials);
        assert!((0.88..1.0).contains(&share), "{share}");
    }

    #[test]
    fn means() {
        let estimate = estimate_mean(&[1.0, 2.0, 6.0]);
        assert_eq!(estimate.value, 3.0);
        assert!(estimate.interval[0] < 2.0 && estimate.interval[1] > 4.0, "{estimate:?}");
    }

    #[test]
    fn few_samples_give_wide_intervals() {
        assert_eq!(estimate(&[2.0]).interval, [2.0, 2.0]);
        let few = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(few.value, 3.0);
        assert!(few.interval[0] <= 2.0 && few.interval[1] >= 4.0, "{few:?}");
    }
}
