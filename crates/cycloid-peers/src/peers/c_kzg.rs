//! c-kzg, compiled in: KZG commitments in C on blst.

use cycloid_lab::peers::Library;
use cycloid_lab::versions;

pub(super) struct CKzg;

impl Library for CKzg {
    fn version(&self) -> String {
        versions::C_KZG.into()
    }
}
