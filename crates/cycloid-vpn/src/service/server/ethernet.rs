//! A server whose tunnel carries Ethernet: the VLANs of its clients, and the age of the hardware
//! addresses behind them.

use std::time::Duration;

use super::Program;
use crate::config::{self, DeviceType, PerClient, VlanAccept};
use crate::net::data_path::Vlans;
use crate::proto::server::PeerId;

/// Returns the settings of the device's VLANs for the data path.
pub(super) fn vlans(config: &config::Server) -> Option<Vlans> {
    let config::Vlans { accept, native } = config.vlans?;
    let (tagged, untagged) = match accept {
        VlanAccept::All => (true, true),
        VlanAccept::Tagged => (true, false),
        VlanAccept::Untagged => (false, true),
    };
    Some(Vlans { tagged, untagged, native })
}

/// Returns how old a hardware address becomes, and how often that is checked.
pub(super) fn ages(config: &config::Server) -> Option<(Duration, Duration)> {
    config.stale_routes.filter(|_| config.common.tunnel.device_type == DeviceType::Tap)
}

impl Program<'_> {
    /// Applies a client's own settings once it is in the data path.
    pub(super) fn enter_network(&mut self, id: PeerId, name: &str, own: &PerClient) {
        match (self.config.vlans, own.vlan) {
            (Some(vlans), own) => self.handle.set_vlan(id.0, own.unwrap_or(vlans.native)),
            (None, Some(_)) => {
                self.context.warn(&format!("{name}: vlan-pvid has no effect without vlan-tagging"));
            }
            (None, None) => {}
        }
        if let Some(most) = own.max_routes {
            self.handle.limit_hardware_addresses_of(id.0, most as usize);
        }
    }

    /// Forgets hardware addresses that have been silent for too long, when it is time.
    pub(super) fn forget_stale(&mut self, now: Duration) {
        if let (Some(due), Some((age, every))) = (self.stale_due, ages(self.config))
            && now >= due
        {
            self.handle.forget_hardware_addresses(age);
            self.stale_due = Some(now + every);
        }
    }
}
