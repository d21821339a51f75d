//! What someone may do who writes to the database and does not know the keys.

use super::*;
