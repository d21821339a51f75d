//! The TUN or TAP device, with the kernel's segmentation offloads.
//!
//! Each read returns a ten-byte header (`virtio_net_hdr`) and one packet, which may be a
//! super-packet of up to 64 KiB that the reader splits into segments. Each write takes the same
//! format. A device may have several queues, one for each worker; the kernel keeps a flow in one
//! queue. A TAP device carries Ethernet frames, and has no offloads here.
//!
//! Source: Linux, `tuntap.rst`; VIRTIO 1.2, section 5.1.6 (the header).

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags};

use super::netlink::{Address, Link, Netlink};
use super::network::Network;
use super::{Error, kernel};

/// The file that makes devices.
pub(super) const CLONE: &str = "/dev/net/tun";

/// Bytes of the header before each packet.
pub const HEADER: usize = 10;

/// The longest read: the header and the longest packet.
pub const MAX_READ: usize = HEADER + 65535;

/// An open device. It disappears when all its queues are dropped, unless it is persistent.
#[derive(Debug)]
pub struct Tun {
    name: String,
    queues: Vec<Queue>,
}

/// An interface's settings.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The MTU in bytes.
    pub mtu: u32,
    /// The queue length in packets; `None` keeps the kernel's default.
    pub queue_length: Option<u32>,
    /// The hardware address of a TAP device; `None` keeps the kernel's random one.
    pub hardware_address: Option<[u8; 6]>,
    /// The IPv4 address, and its prefix or point-to-point peer.
    pub ipv4: Option<(Ipv4Addr, Ipv4Link)>,
    /// The IPv6 address and its prefix length.
    pub ipv6: Option<(Ipv6Addr, u8)>,
}

/// The link of an IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ipv4Link {
    /// A subnet with this prefix length.
    Subnet(u8),
    /// A point-to-point peer.
    PointToPoint(Ipv4Addr),
}

impl Tun {
    /// Opens or creates the TUN device `name` with this many queues (at least one). The name `tun`
    /// selects the first free of `tun0`, `tun1`, ….
    ///
    /// Requests super-packets up to `offload`. Older kernels may join only TCP, or nothing;
    /// [`Queue::offload`] returns the result.
    ///
    /// # Errors
    ///
    /// The kernel's refusal: missing privileges, a device in use, or another number of queues.
    pub fn open(name: &str, queues: usize, offload: Offload) -> Result<Self, Error> {
        Self::open_any(name, queues, Frames::Ip, offload)
    }

    /// Opens or creates the TAP device `name`, like [`Self::open`]. The name `tap` selects the
    /// first free of `tap0`, `tap1`, ….
    ///
    /// # Errors
    ///
    /// Those of [`Self::open`].
    pub fn open_ethernet(name: &str, queues: usize) -> Result<Self, Error> {
        Self::open_any(name, queues, Frames::Ethernet, Offload::None)
    }

    fn open_any(
        name: &str,
        queues: usize,
        frames: Frames,
        offload: Offload,
    ) -> Result<Self, Error> {
        let (kind, mode, first) = match frames {
            Frames::Ip => ("tun", libc::IFF_TUN, "tun%d"),
            Frames::Ethernet => ("tap", libc::IFF_TAP, "tap%d"),
        };
        let wanted = if name == kind { first } else { name };
        let mut flags = mode | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        if queues > 1 {
            flags |= libc::IFF_MULTI_QUEUE;
        }
        let failed = |cause: io::Error| match cause.kind() {
            io::ErrorKind::NotFound => Error::new(format!("open {CLONE}"), cause),
            _ => Error::new(format!("open the {} device {name}", kind.to_uppercase()), cause),
        };
        let open = |name: &str| Queue::open(name, flags, frames, offload).map_err(failed);
        let (first, name) = open(wanted)?;
        let mut queues_open = vec![first];
        for _ in 1..queues {
            queues_open.push(open(&name)?.0);
        }
        Ok(Self { name, queues: queues_open })
    }

    /// Returns queues without a device, which never have a packet and drop what is written.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn none(name: &str, queues: usize) -> Result<Self, Error> {
        let queues = (0..queues)
            .map(|_| Ok(Queue { discards: true, ..Queue::idle()? }))
            .collect::<io::Result<_>>()
            .map_err(|cause| Error::new("open a queue without a device", cause))?;
        Ok(Self { name: name.to_owned(), queues })
    }

    /// Returns the interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the MTU and the addresses, and brings the interface up.
    ///
    /// # Errors
    ///
    /// Those of [`configure`].
    pub fn configure(&self, configuration: &Configuration) -> Result<(), Error> {
        configure(&self.name, configuration)
    }

    /// Sets whether the device persists after this program ends.
    ///
    /// # Errors
    ///
    /// The kernel's refusal.
    pub fn persist(&self, persist: bool) -> Result<(), Error> {
        kernel::tun_persist(self.queues[0].as_fd(), persist)
            .map_err(|cause| Error::new(format!("make {} persistent", self.name), cause))
    }

    /// Returns the queues, for the worker threads.
    pub fn into_queues(self) -> Vec<Queue> {
        self.queues
    }
}

/// Sets the MTU and addresses of an interface, and brings it up.
///
/// # Errors
///
/// The kernel's refusal: missing privileges, unknown interface, or invalid prefix.
pub fn configure(name: &str, configuration: &Configuration) -> Result<(), Error> {
    let ipv4 = configuration.ipv4.map(|(address, link)| match link {
        Ipv4Link::Subnet(bits) => (address.into(), address.into(), bits),
        Ipv4Link::PointToPoint(remote) => (address.into(), remote.into(), 32),
    });
    let ipv6 = configuration.ipv6.map(|(address, bits)| (address.into(), address.into(), bits));
    let addresses: [Option<(IpAddr, IpAddr, u8)>; 2] = [ipv4, ipv6];
    let configured = || -> io::Result<()> {
        let mut netlink = Netlink::open()?;
        let interface = netlink.interface(name)?;
        let Configuration { mtu, queue_length, hardware_address, .. } = *configuration;
        netlink.set_link(interface, &Link { mtu, queue_length, hardware_address })?;
        for (address, other, bits) in addresses.into_iter().flatten() {
            let network = Network::new(other, bits)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
            netlink.set_address(&Address { interface, address, network })?;
        }
        Ok(())
    };
    configured().map_err(|cause| Error::new(format!("configure {name}"), cause))
}

/// One queue of a device. Reads and writes never block.
#[derive(Debug)]
pub struct Queue {
    descriptor: OwnedFd,
    frames: Frames,
    offload: Offload,
    /// Written packets are dropped.
    discards: bool,
}

/// The packets of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// IP packets, of a TUN device.
    Ip,
    /// Ethernet frames, of a TAP device.
    Ethernet,
}

/// The super-packets that a queue's reader receives and its writer may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offload {
    /// None: every packet fits the MTU and has complete checksums.
    None,
    /// TCP.
    Tcp,
    /// TCP and UDP (Linux 6.2 and later).
    TcpAndUdp,
}

impl Queue {
    fn open(
        name: &str,
        flags: libc::c_int,
        frames: Frames,
        wanted: Offload,
    ) -> io::Result<(Self, String)> {
        let descriptor = rustix::fs::open(
            CLONE,
            OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        let name = kernel::tun_attach(descriptor.as_fd(), name, flags)?;
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
        let udp = libc::TUN_F_USO4 | libc::TUN_F_USO6;
        let choices = [(Offload::TcpAndUdp, tcp | udp), (Offload::Tcp, tcp), (Offload::None, 0)];
        let offload = choices
            .into_iter()
            .filter(|(offload, _)| *offload <= wanted)
            .find(|(_, flags)| kernel::tun_offload(descriptor.as_fd(), *flags).is_ok())
            .map_or(Offload::None, |(offload, _)| offload);
        Ok((Self { descriptor, frames, offload, discards: false }, name))
    }

    /// Returns a queue without a device, which never has a packet: the kernel moves them itself.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    pub fn idle() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let descriptor = eventfd(0, flags)?;
        Ok(Self { descriptor, frames: Frames::Ip, offload: Offload::None, discards: false })
    }

    /// Returns the kind of its packets.
    pub fn frames(&self) -> Frames {
        self.frames
    }

    /// Returns the enabled offload.
    pub fn offload(&self) -> Offload {
        self.offload
    }

    /// Reads a header and a packet. Truncates a packet that exceeds the buffer, which should have
    /// [`MAX_READ`] bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no packet; other errors if the device is gone or down.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.descriptor, buffer)?)
    }

    /// Writes a header and a packet, given as slices.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the kernel rejects such a packet; other errors if the device is gone or
    /// down.
    pub fn write(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        if !self.discards {
            rustix::io::writev(&self.descriptor, pieces)?;
        }
        Ok(())
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
