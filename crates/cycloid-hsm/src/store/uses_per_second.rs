//! The uses of keys with a rate limit, which the daemons on one server count together.
//!
//! A row counts a key's uses in one second of the server's clock. It is not sealed: whoever can
//! write to the database can begin a count again. So each daemon also keeps the limit by itself.
//!
//! The table is not logged by the server: a count does not wait for its disk, and begins again after
//! a crash, which takes longer than a second.

use std::time::Duration;

use super::database::{Access, Transaction, Value};
use super::keystore::Store;
use crate::Result;

const TABLE: &str = "CREATE UNLOGGED TABLE uses_per_second (
    name TEXT PRIMARY KEY,
    second BIGINT NOT NULL,
    used BIGINT NOT NULL
)";

/// Returns the row of a key, which no other transaction changes until this one ends, and the time
/// in milliseconds, read after that.
const LOCK: &str = "INSERT INTO uses_per_second VALUES ($1, 0, 0)
    ON CONFLICT (name) DO UPDATE SET used = uses_per_second.used
    RETURNING second, used, floor(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";

/// A row that was not used for this many seconds may go,
const FORGOTTEN_AFTER: u64 = 10;
/// together with all such rows, when another one is made: so programs that make many keys leave few.
const FORGET: &str = "DELETE FROM uses_per_second WHERE second < $1 AND name <> $2";

const COUNT: &str = "UPDATE uses_per_second SET second = $2, used = $3 WHERE name = $1";

/// Uses of a key that a daemon may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Their number.
    pub uses: u64,
    /// Whether no more are left in this second.
    pub last: bool,
    /// The rest of the second, in which they must be made.
    pub rest: Duration,
}

impl Store {
    /// Takes `wanted` uses of a key, or as many as are left of its `limit` in this second. All
    /// daemons together take no more. The key's identity is any bytes; the server sees a keyed
    /// fingerprint of it.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    ///
    /// # Panics
    /// On a database without a server, which has one daemon.
    pub fn take_uses(&self, identity: &[u8], limit: u64, wanted: u64) -> Result<Allowance> {
        assert!(self.is_remote(), "a single daemon counts by itself");
        let name = self.fingerprint(identity)?.name;
        let mut transaction = self.database.begin(Access::Write)?;
        if !transaction.has_table("uses_per_second")? {
            create(&mut transaction)?;
        }
        let values = [Value::Text(&name)];
        let row = transaction
            .one(LOCK, &values, |mut row| Ok((row.number()?, row.number()?, row.number()?)))?;
        let (counted, used, now) = row.unwrap_or_default();
        let second = now / 1000;
        if counted == 0 {
            let before = Value::number(second.saturating_sub(FORGOTTEN_AFTER));
            transaction.execute(FORGET, &[before, Value::Text(&name)])?;
        }
        let used = if counted == second { used } else { 0 };
        let uses = limit.saturating_sub(used).min(wanted);
        let used = used.saturating_add(uses);
        let count = [Value::Text(&name), Value::number(second), Value::number(used)];
        transaction.execute(COUNT, &count)?;
        transaction.commit()?;
        let rest = Duration::from_millis(1000 - now % 1000);
        Ok(Allowance { uses, last: used >= limit, rest })
    }
}

/// Creates the table, unless another daemon has.
fn create(transaction: &mut Transaction<'_>) -> Result<()> {
    transaction.lock()?;
    if !transaction.has_table("uses_per_second")? {
        transaction.run(TABLE)?;
    }
    Ok(())
}
