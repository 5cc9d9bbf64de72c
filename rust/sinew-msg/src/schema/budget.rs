//! How much a text may become.

use super::SchemaError;
use crate::signature::MAX_SIGNATURE;

/// Bytes that are left of a signature: so no small text becomes a type without end.
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new() -> Budget {
        Budget(MAX_SIGNATURE)
    }

    /// For a name that the signature has, and at least two signs with it.
    pub(super) fn take(&mut self, name: &str) -> Result<(), SchemaError> {
        let left = self.0.checked_sub(name.len() + 2);
        self.0 = left.ok_or_else(|| {
            SchemaError(format!("the type has a signature of more than {MAX_SIGNATURE} bytes, the most that sinew takes"))
        })?;
        Ok(())
    }
}
