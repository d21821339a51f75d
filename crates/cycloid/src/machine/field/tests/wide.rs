//! Unreduced products, and numbers a₀ + a₁·i with i² = −1, compared with integers.

use super::*;

/// Checks words in memory, and sums of products that are reduced once.
struct WideAgainstIntegers;

impl<P: Dense> WideTask<P> for WideAgainstIntegers {
    type Output = ();

    fn run<A: Wide<P>>(self, f: A) {
        let p = integer(P::MODULUS);
        let samples: Vec<BigUint> = samples::<P>().iter().map(|sample| sample % &p).collect();
        let n = samples.len();
        let r = BigUint::from(1u8) << (64 * P::MODULUS.as_ref().len());
        let samples = &samples;
        let values = |i: usize| (0..A::WIDTH).map(move |w| &samples[(i + 7 * w) % n]);
        let element = |i: usize| {
            let numbers: Vec<_> = values(i).map(number::<P>).collect();
            f.load(&numbers)
        };
        let check = |what: &str, element: &A::Element, expected: &dyn Fn(usize) -> BigUint| {
            let mut numbers = std::vec![P::Words::ZERO; A::WIDTH];
            f.store(element, &mut numbers);
            for (w, number) in numbers.iter().enumerate() {
                assert_eq!(integer(number), expected(w) % &p, "{} {} {what} {w}", P::NAME, A::NAME);
            }
            f.export(element, &mut numbers);
            for (w, number) in numbers.iter().enumerate() {
                assert_eq!(integer(number), expected(w) * &r % &p, "{what} exported");
            }
        };
        for i in 0..n {
            let x: Vec<&BigUint> = values(i).collect();
            let y: Vec<&BigUint> = values(i * i + 1).collect();
            let (a, b) = (element(i), element(i * i + 1));
            let words: Vec<_> = x.iter().map(|x| number::<P>(&(*x * &r % &p))).collect();
            check("import", &f.import(&words), &|w| x[w].clone());
            let [u, v] = [x[0], y[0]].map(number::<P>);
            assert_eq!(integer(P::add_words(&u, &v)), (x[0] + y[0]) % &p, "{} sum", P::NAME);
            assert_eq!(integer(P::sub_words(&u, &v)), (x[0] + &p - y[0]) % &p, "{}", P::NAME);
            check("shared import", &f.import_shared(&words[0]), &|_| x[0].clone());
            // In the backend's own form at unordered places, none of them a multiple of eight.
            let places: Vec<_> = (0..A::WIDTH).map(|w| 3 + (w * 5 % 8) * (A::PACKED + 1)).collect();
            let mut memory = std::vec![u64::MAX; 8 * (A::PACKED + 1) + 3];
            f.scatter(&a, &mut memory, &places);
            check("packed", &f.gather(&memory, &places), &|w| x[w].clone());
            f.scatter(&b, &mut memory, &places[..1]);
            check("one of them", &f.gather(&memory, &places), &|w| {
                if w == 0 { y[w] } else { x[w] }.clone()
            });
            let (product, square) = (f.mul_wide(&a, &b), f.mul_wide(&a, &a));
            check("product", &f.reduce_wide(&product), &|w| x[w] * y[w]);
            check("square", &f.reduce_wide(&square), &|w| x[w] * x[w]);
            check("sum of products", &f.sum_of_products([&a, &b], [&a, &a]), &|w| {
                x[w] * y[w] + x[w] * x[w]
            });
            check("difference", &f.difference_of_products([&a, &b], [&b, &b]), &|w| {
                x[w] * y[w] + (&p - y[w]) * y[w]
            });
            // As many as allowed, as intermediate and final values, with both signs.
            let (mut sum, mut difference) = (square, f.sub_wide(&product, &square));
            for _ in 0..19 {
                sum = f.add_wide(&f.add_wide(&sum, &product), &square);
                difference = f.sub_wide(&f.sub_wide(&difference, &square), &square);
            }
            for _ in 0..11 {
                sum = f.sub_wide(&f.sub_wide(&sum, &product), &square);
                difference = f.add_wide(&f.add_wide(&difference, &square), &square);
            }
            check("sum", &f.reduce_wide(&sum), &|w| x[w] * x[w] * 9u8 + x[w] * y[w] * 8u8);
            check("difference", &f.reduce_wide(&difference), &|w| {
                x[w] * y[w] + (&p - x[w]) * x[w] * 17u8
            });
        }
    }
}

/// Checks products of a₀ + a₁·i whose parts are edge cases of the words in memory: every
/// `stride`-th choice of four of them.
struct ComplexAgainstIntegers {
    stride: usize,
}

impl<P: Dense> WideTask<P> for ComplexAgainstIntegers {
    type Output = usize;

    fn run<A: Wide<P>>(self, f: A) -> usize {
        let p = integer(P::MODULUS);
        let limbs = P::MODULUS.as_ref().len();
        let r = BigUint::from(1u8) << (64 * limbs);
        let r_inverse = r.modpow(&(&p - 2u8), &p);
        // All limbs are ones except the top one, which is one less than the prime's.
        let ones = (&p >> (64 * (limbs - 1)) << (64 * (limbs - 1))) - 1u8;
        let mut edges: Vec<BigUint> = [0u8, 1, 2].into_iter().map(BigUint::from).collect();
        edges.extend([&p - 1u8, &p - 2u8, &p >> 1, ones, &r % &p]);
        edges.extend(samples::<P>().iter().rev().take(3).map(|sample| sample % &p));
        let n = edges.len();
        let edge = |part: usize, i: usize, lane: usize| &edges[(i / n.pow(part as u32) + lane) % n];
        let mut checked = 0;
        for i in (0..n.pow(4)).step_by(self.stride) {
            let [a, b] = [0, 2].map(|part| {
                [part, part + 1].map(|part| {
                    let words: Vec<_> =
                        (0..A::WIDTH).map(|lane| number::<P>(edge(part, i, lane))).collect();
                    f.import(&words)
                })
            });
            let check = |what: &str, product: [A::Element; 2], square: bool| {
                for (part, element) in product.iter().enumerate() {
                    let mut words = std::vec![P::Words::ZERO; A::WIDTH];
                    f.export(element, &mut words);
                    for (lane, words) in words.iter().enumerate() {
                        let [x0, x1, y0, y1] = [0, 1, 2, 3].map(|at| edge(at, i, lane));
                        let [y0, y1] = if square { [x0, x1] } else { [y0, y1] };
                        let sum = [x0 * y0 + (&p - x1) * y1, x0 * y1 + x1 * y0];
                        let expected = &sum[part] * &r_inverse % &p;
                        assert_eq!(integer(words), expected, "{} {} {what} {i}", P::NAME, A::NAME);
                    }
                }
            };
            check("product", f.mul_complex(&a, &b), false);
            check(
                "unreduced product",
                f.mul_complex_wide(&a, &b).map(|w| f.reduce_wide(&w)),
                false,
            );
            check("square", f.square_complex(&a), true);
            check("unreduced", f.reduce_complex_wide(&f.mul_complex_wide(&a, &a)), true);
            // (a + b)² − b² − 2·a·b.
            let quartic = f.square_quartic(&a, &b);
            let bb = f.square_complex(&b);
            let turned = [f.sub(&bb[0], &bb[1]), f.add(&bb[0], &bb[1])];
            check("first", [0, 1].map(|part| f.sub(&quartic[0][part], &turned[part])), true);
            let both = [0, 1].map(|part| f.add_factor(&a[part], &b[part]));
            let mut rest = f.mul_complex_wide(&both, &both);
            f.sub_complex_wide(&mut rest, &f.mul_complex_wide(&b, &b));
            let rest = f.reduce_complex_wide(&rest);
            check("second", [0, 1].map(|part| f.sub(&rest[part], &quartic[1][part])), true);
            // a·b + a·a − a·a, and (a·b − b·a) + a·a.
            let sum = f.sum_of_complex_products([&a, &b], [&a, &a]);
            check("sum of products", f.sub_complex(&sum, &f.square_complex(&a)), false);
            let none = f.difference_of_complex_products([&a, &b], [&b, &a]);
            check("difference of products", f.add_complex(&none, &f.square_complex(&a)), true);
            let difference = f.difference_of_complex_products([&a, &b], [&b, &b]);
            let sum = f.add_complex(&difference, &f.square_complex(&b));
            check("other difference of products", sum, false);
            check("product with itself", f.mul_complex(&a, &a), true);
            let export = |element: &A::Element| {
                let mut words = std::vec![P::Words::ZERO; A::WIDTH];
                f.export(element, &mut words);
                words.iter().map(|words| integer(*words)).collect::<Vec<_>>()
            };
            let agrees =
                |what: &str, found: [A::Element; 2], [real, imaginary]: [A::Element; 2]| {
                    let found = found.each_ref().map(export);
                    let expected = [export(&real), export(&imaginary)];
                    assert_eq!(found, expected, "{} {} {what} {i}", P::NAME, A::NAME);
                };
            let each = |work: &dyn Fn(usize) -> A::Element| [work(0), work(1)];
            let turned = |a: &[A::Element; 2]| [f.sub(&a[0], &a[1]), f.add(&a[0], &a[1])];
            let thrice = |at: usize| f.add(&f.double(&a[at]), &a[at]);
            agrees("sum", f.add_complex(&a, &b), each(&|at| f.add(&a[at], &b[at])));
            agrees("difference", f.sub_complex(&a, &b), each(&|at| f.sub(&a[at], &b[at])));
            agrees("turned", f.turn_complex(&a), turned(&a));
            let expected = each(&|at| f.add(&a[at], &turned(&b)[at]));
            agrees("sum with a turned number", f.add_turned(&a, &b), expected);
            let expected = each(&|at| f.add(&thrice(at), &f.double(&b[at])));
            agrees("3a + 2b", f.thrice_more(&a, &b), expected);
            let expected = each(&|at| f.sub(&thrice(at), &f.double(&b[at])));
            agrees("3a - 2b", f.thrice_less(&a, &b), expected);
            let [mut product, mut square] = [a, a];
            product = f.mul_complex(&product, &b);
            square = f.square_complex(&square);
            let reduced = |wide: [A::Wide; 2]| wide.map(|part| f.reduce_wide(&part));
            let whole = [f.mul_complex_wide(&a, &b), f.mul_complex_wide(&a, &a)];
            let mut turned = whole[0];
            f.add_turned_wide(&mut turned, &whole[1]);
            f.sub_both_wide(&mut turned, &whole[0], &whole[1]);
            let [real, imaginary] = reduced(turned);
            check("product with 1 + i", [imaginary, f.negate(&real)], true);
            f.add_complex_wide(&mut turned, &whole[0]);
            let [real, imaginary] = reduced(turned);
            check("sum", [f.add(&real, &square[1]), f.sub(&imaginary, &square[0])], false);
            // Of four residues each: (2a + 2b)² − 3(a + b)².
            let once = [0, 1].map(|part| f.add_factor(&a[part], &b[part]));
            let twice = once.map(|part| f.add_factor(&part, &part));
            let mut four = f.mul_complex_wide(&twice, &twice);
            let one = f.mul_complex_wide(&once, &once);
            f.sub_both_wide(&mut four, &one, &one);
            let four = [0, 1].map(|part| f.sub_wide(&four[part], &one[part]));
            let both = [0, 1].map(|part| f.add(&a[part], &b[part]));
            let expected = f.square_complex(&both);
            for (part, expected) in reduced(four).iter().zip(&expected) {
                let equal = f.equal(part, expected);
                assert!((0..A::WIDTH).all(|lane| equal.at(lane).reveal()), "{} {i}", A::NAME);
            }
            check("product in place", product, false);
            check("square in place", square, true);
            checked += 1;
        }
        checked
    }
}

pub(super) fn all_backends<P: Dense>() {
    for backend in words::Backend::available() {
        P::run_one_wide(backend, WideAgainstIntegers);
        assert!(P::run_one_wide(backend, ComplexAgainstIntegers { stride: 1 }) > 10_000);
    }
    for backend in lanes::tests::backends() {
        P::run_eight_wide(backend, WideAgainstIntegers);
        assert!(P::run_eight_wide(backend, ComplexAgainstIntegers { stride: 97 }) > 100);
    }
}
