//! Key shares, and joint operations of t of n holders.

use cycloid::bls12_381::signature::{
    MinPk, MinSig, Scheme, SecretKey, Share, SignatureBackend, Variant, recover_public_key,
    recover_secret_key, recover_signature, share,
};
use cycloid::bls12_381::{Backend, Error};

use crate::support::{Generator, on_every_backend};

on_every_backend!(any_quorum, wrong_numbers);

fn shared<B: SignatureBackend<V>, V: Variant>(
    secret: &SecretKey<B, V>,
    threshold: usize,
    holders: usize,
) -> Vec<Share<B, V>> {
    let mut shares: Vec<_> = (0..holders).map(|_| None).collect();
    share(secret, threshold, &mut shares, &mut Generator(40)).expect("a threshold");
    shares.into_iter().map(|share| share.expect("every holder has one")).collect()
}

fn any_quorum<B: Backend>() {
    quorum_of::<B, MinPk>();
    quorum_of::<B, MinSig>();
}

fn quorum_of<B: SignatureBackend<V>, V: Variant>() {
    let scheme = Scheme::Basic;
    let secret = SecretKey::<B, V>::generate(&mut Generator(41)).expect("a sound generator");
    let signature = secret.sign(scheme, b"message");
    for (threshold, holders) in [(1, 1), (1, 3), (2, 3), (3, 5), (20, 20)] {
        let shares = shared(&secret, threshold, holders);
        assert!(shares.iter().map(|share| share.number).eq(1..=holders as u32));
        let signatures: Vec<_> =
            shares.iter().map(|share| (share.number, share.key.sign(scheme, b"message"))).collect();
        let keys: Vec<_> =
            shares.iter().map(|share| (share.number, share.key.public_key())).collect();
        for start in 0..=holders - threshold {
            let mut quorum = signatures[start..start + threshold].to_vec();
            quorum.reverse();
            assert_eq!(recover_signature(&quorum), Ok(signature));
            let key = recover_public_key(&keys[start..start + threshold]);
            assert_eq!(key, Ok(secret.public_key()));
            let key = recover_secret_key(&shares[start..start + threshold]).expect("a key");
            assert_eq!(key.to_bytes(), secret.to_bytes());
        }
        // More shares than needed give the same result, one fewer gives another.
        assert_eq!(recover_signature(&signatures), Ok(signature));
        if threshold > 1 {
            let fewer = recover_signature(&signatures[..threshold - 1]).expect("some");
            assert_ne!(fewer, signature);
            assert!(secret.public_key().verify(scheme, b"message", &fewer).is_err());
        }
        if threshold == 1 {
            assert!(shares.iter().all(|share| share.key.to_bytes() == secret.to_bytes()));
        }
    }
}

fn wrong_numbers<B: Backend>() {
    let secret = SecretKey::<B, MinPk>::generate(&mut Generator(42)).expect("a sound generator");
    for (threshold, holders) in [(0, 3), (4, 3), (1, 0)] {
        let mut shares: Vec<_> = (0..holders).map(|_| None).collect();
        let result = share(&secret, threshold, &mut shares, &mut Generator(43));
        assert_eq!(result, Err(Error::Threshold));
        assert!(shares.iter().all(Option::is_none));
    }
    let shares = shared(&secret, 2, 3);
    let sign = |share: &Share<B, MinPk>| share.key.sign(Scheme::Basic, b"message");
    let [first, second] = [sign(&shares[0]), sign(&shares[1])];
    assert_eq!(recover_signature::<B, MinPk>(&[]), Err(Error::Empty));
    assert_eq!(recover_signature(&[(1, first), (1, second)]), Err(Error::ShareNumber));
    assert_eq!(recover_signature(&[(1, first), (0, second)]), Err(Error::ShareNumber));
    let key = secret.public_key();
    assert_eq!(recover_public_key::<B, MinPk>(&[]), Err(Error::Empty));
    assert_eq!(recover_public_key(&[(2, key), (2, key)]), Err(Error::ShareNumber));
    assert_eq!(recover_secret_key::<B, MinPk>(&[]).err(), Some(Error::Empty));
    let mut shares = shares;
    shares[1].number = 1;
    assert_eq!(recover_secret_key(&shares).err(), Some(Error::ShareNumber));
}
