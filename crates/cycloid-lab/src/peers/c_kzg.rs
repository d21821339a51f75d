//! c-kzg, compiled in: KZG commitments in C on blst.

use super::Library;

pub(super) struct CKzg;

impl Library for CKzg {
    fn version(&self) -> String {
        env!("CYCLOID_VERSION_C_KZG").into()
    }
}
