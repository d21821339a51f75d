//! The arkworks crates, compiled in: ark-bls12-381 on ark-ec, ark-ff and ark-poly.

use super::Library;

pub(super) struct Arkworks;

impl Library for Arkworks {
    fn version(&self) -> String {
        let [curve, field] =
            [env!("CYCLOID_VERSION_ARK_BLS12_381"), env!("CYCLOID_VERSION_ARK_FF")];
        format!("ark-bls12-381 {curve}, ark-ff {field}")
    }
}
