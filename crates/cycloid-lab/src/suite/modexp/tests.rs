use super::*;

#[test]
fn lists_of_bits() {
    assert_eq!(ModExp::bits_from_list("1024, 64,16384", false).unwrap(), [1024, 64, 16384]);
    assert_eq!(ModExp::bits_from_list("2048,128", true).unwrap(), [2048, 128]);
    for wrong in ["0", "63", "16385", "abc", "", "1024,", "-1", "1e3"] {
        assert!(ModExp::bits_from_list(wrong, false).is_err(), "{wrong}");
    }
    assert!(ModExp::bits_from_list("2049", true).is_err());
    assert!(ModExp::bits_from_list("64", true).is_err());
}

#[test]
fn exponents() {
    assert_eq!(ModExp::exponent_from_text("full").unwrap(), Exponents::Full);
    assert_eq!(ModExp::exponent_from_text("65537").unwrap(), Exponents::F4);
    assert_eq!(ModExp::exponent_from_text("256").unwrap(), Exponents::Bits(256));
    for wrong in ["0", "-1", "65536", "half", ""] {
        assert!(ModExp::exponent_from_text(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn filters() {
    let count = |filter: &str| ModExp::strategies_from_filter(filter).unwrap().len();
    assert_eq!(count("all"), 36);
    assert_eq!(count("none"), 0);
    assert_eq!(count("Montgomery"), 12);
    assert_eq!(count("montgomery fw"), 5);
    assert_eq!(count("fw"), 15);
    assert_eq!(count("5b"), 6);
    assert_eq!(count("barrett ladder,montgomery fw,fw montgomery"), 6);
    for strategy in Strategy::ALL {
        let name = strategy.to_string().replace(',', "");
        assert_eq!(ModExp::strategies_from_filter(&name).unwrap(), [strategy]);
    }
    for wrong in ["", "7b", "montgomery,,fw", "montgomery barrett", "b"] {
        assert!(ModExp::strategies_from_filter(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn strategies_and_special_rows_are_marked() {
    use Method::{Batch, Other, Single};
    let rows_of = |crt: bool| {
        let modexp = ModExp {
            bits: vec![512],
            exponents: Exponents::F4,
            crt,
            strategies: Strategy::ALL[..1].to_vec(),
        };
        let plan = modexp.plan(Effort::Quick, &[]).remove(0);
        let Work::Subjects(prepare) = plan.work else { panic!() };
        let (setting, subjects) = prepare().unwrap();
        let rows: Vec<_> = subjects[1..]
            .iter()
            .map(|subject| (subject.label.clone(), subject.method, subject.operations_per_call))
            .collect();
        assert_eq!((subjects[0].method, &*subjects[setting.reference].label), (Other, REFERENCE));
        (setting.title(), rows)
    };
    let (title, rows) = rows_of(false);
    assert_eq!(title, "512-bit modulus, exponent 65537");
    let expected = [
        ("default", Single, 1),
        ("least scratch", Other, 1),
        ("variable-time", Other, 1),
        ("×8", Batch, 8),
    ];
    let expected =
        expected.map(|(label, method, operations)| (label.to_owned(), method, operations));
    assert_eq!(rows, expected);
    let (title, of_crt) = rows_of(true);
    let name = "CRT private key, 17-bit exponents (2 × 256 bits)";
    assert_eq!(title, format!("RSA-512: {name}"));
    assert_eq!(of_crt, expected);
}
