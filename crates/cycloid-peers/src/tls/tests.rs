use super::*;

#[test]
fn each_kind_negotiates_its_parameters_and_rejects_unknown_authorities() {
    for kind in Kind::ALL {
        let provider = Arc::new(cycloid_rustls::default_provider());
        let mut call = handshake::call(kind, &provider).unwrap();
        let mut result = [0; handshake::RESULT];
        assert_eq!(call(&[], &mut result), Ok(handshake::RESULT), "{kind:?}");
        assert_eq!(result[..2], u16::from(kind.version).to_be_bytes());
        assert_eq!(result[4..], u16::from(kind.group).to_be_bytes());
        assert!(call(handshake::STRANGER, &mut result).is_err(), "{kind:?}");
    }
}
