//! Computes the Pareto front of two costs.

/// Returns the indices of the non-dominated `points` by rising first cost: no other point is at
/// least as good in both costs and better in one. Of equal points, the first is kept.
pub(super) fn front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| {
        let ((x, y), (u, v)) = (points[*a], points[*b]);
        x.total_cmp(&u).then(y.total_cmp(&v))
    });
    let mut least = f64::INFINITY;
    order.retain(|i| {
        let better = points[*i].1 < least;
        least = least.min(points[*i].1);
        better
    });
    order
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn the_front_consists_of_non_dominated_points() {
        let points =
            [(4.0, 1.0), (1.0, 9.0), (2.0, 9.0), (2.0, 5.0), (2.0, 5.0), (3.0, 6.0), (9.0, 1.0)];
        assert_eq!(front(&points), [1, 3, 0]);
        assert!(front(&[]).is_empty());
    }

    #[test]
    fn the_front_agrees_with_the_definition() {
        // A small number generator with many equal outputs.
        let mut state = 7_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 28)
        };
        for _ in 0..200 {
            let points: Vec<(f64, f64)> = (0..12).map(|_| (number(), number())).collect();
            let dominated =
                |p: (f64, f64)| points.iter().any(|q| q.0 <= p.0 && q.1 <= p.1 && *q != p);
            let mut expected: Vec<(f64, f64)> =
                points.iter().copied().filter(|point| !dominated(*point)).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            expected.dedup();
            let found: Vec<(f64, f64)> = front(&points).into_iter().map(|i| points[i]).collect();
            assert_eq!(found, expected);
        }
    }
}
