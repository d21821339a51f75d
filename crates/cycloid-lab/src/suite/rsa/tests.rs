use super::*;

#[test]
fn lists_of_bits() {
    assert_eq!(Rsa::bits_from_list("2048, 8192,2176").unwrap(), [2048, 8192, 2176]);
    for wrong in ["1024", "2049", "2112", "8320", "abc", "", "2048,"] {
        assert!(Rsa::bits_from_list(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn lists_of_operations() {
    assert_eq!(Rsa::kinds_from_list("all").unwrap(), Kind::ALL);
    let two = [Kind::Later(Task::Sign), Kind::FirstUse];
    assert_eq!(Rsa::kinds_from_list("first-use, sign").unwrap(), two);
    let failure = Rsa::kinds_from_list("sign,encode").unwrap_err();
    assert_eq!(failure.message, "no operation is called 'encode'");
    assert!(failure.hint.contains("sign, pss, verify"));
}

#[test]
fn budgets_are_not_exceeded_and_too_small_ones_are_omitted() {
    for bits in [2048, 4096, 8192] {
        let least = Budget::Least.limbs(bits).unwrap();
        let full = Budget::Full.limbs(bits).unwrap();
        assert!(least < full);
        for bytes in [6 << 10, 16 << 10] {
            let limbs = Budget::Bytes(bytes).limbs(bits);
            assert!(limbs.is_none_or(|limbs| limbs * 8 <= bytes && limbs >= least && limbs < full));
        }
    }
    assert_eq!(Budget::Bytes(1 << 10).limbs(2048), None);
    assert_eq!(Budget::Bytes(1 << 20).limbs(2048), None);
}
