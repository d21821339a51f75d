//! The arkworks crates, compiled in: ark-bls12-381 on ark-ec, ark-ff and ark-poly.

use cycloid_lab::peers::Library;
use cycloid_lab::versions;

pub(super) struct Arkworks;

impl Library for Arkworks {
    fn version(&self) -> String {
        let [curve, field] = [versions::ARK_BLS12_381, versions::ARK_FF];
        format!("ark-bls12-381 {curve}, ark-ff {field}")
    }
}
