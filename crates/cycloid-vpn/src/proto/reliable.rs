//! The reliability layer: ordered, lossless messages over unreliable packets.
//!
//! Messages are numbered from 0 in each direction of a session. At most six are in flight. An
//! unacknowledged message is retransmitted after 2 seconds, then 4, and so on, or at once when three
//! later messages are acknowledged. The receiver buffers up to twelve messages that arrive early.
//! Acknowledgements name single messages and can be in any packet.
//!
//! Source: draft-openvpn-wire-protocol, "Reliability layer".

use std::collections::VecDeque;
use std::time::Duration;

use super::wire::{Acks, Opcode};

/// Maximum number of messages in flight.
pub const SEND_WINDOW: usize = 6;

/// Maximum number of messages that a receiver buffers.
pub const RECEIVE_WINDOW: usize = 12;

const FIRST_TIMEOUT: Duration = Duration::from_secs(2);

/// The first packet of a client: while a server restarts, short intervals find it soon. The packet
/// is small, and a server keeps nothing of it.
const RESET_TIMEOUT: Duration = Duration::from_millis(500);
const RESET_REPEATS: u8 = 5;
const LONGEST_TIMEOUT: Duration = Duration::from_secs(32);

/// Number of later acknowledgements after which a message counts as lost.
const LATER_ACKS: u8 = 3;

/// The sender's window: messages until they are acknowledged.
#[derive(Debug, Default)]
pub struct SendWindow {
    next: u32,
    /// In order of their numbers; the first is the oldest unacknowledged message.
    waiting: VecDeque<Waiting>,
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Waiting {
    id: u32,
    opcode: Opcode,
    content: Vec<u8>,
    acknowledged: bool,
    /// Time of the next transmission; `None` is at once.
    due: Option<Duration>,
    timeout: Duration,
    /// Number of transmissions before the timeout doubles.
    repeats: u8,
    later_acks: u8,
}

/// A message that is due for transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due<'a> {
    /// Its opcode.
    pub opcode: Opcode,
    /// Its number.
    pub id: u32,
    /// Its content.
    pub content: &'a [u8],
}

impl SendWindow {
    /// Returns a window whose first message has this number: 0, or 1 if a reset was sent without a
    /// window.
    pub fn starting_at(first: u32) -> Self {
        Self { next: first, ..Self::default() }
    }

    /// Returns whether another message may be added.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < SEND_WINDOW
    }

    /// Returns whether all messages are acknowledged.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds a message for immediate transmission. Returns whether there was room.
    pub fn push(&mut self, opcode: Opcode, content: &[u8]) -> bool {
        if !self.has_room() {
            return false;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(content);
        let (timeout, repeats) = match opcode {
            Opcode::HardResetClientV2 | Opcode::HardResetClientV3 => (RESET_TIMEOUT, RESET_REPEATS),
            _ => (FIRST_TIMEOUT, 0),
        };
        self.waiting.push_back(Waiting {
            id: self.next,
            opcode,
            content: buffer,
            acknowledged: false,
            due: None,
            timeout,
            repeats,
            later_acks: 0,
        });
        self.next = self.next.wrapping_add(1);
        true
    }

    /// Frees the memory that is kept for later messages.
    pub fn shrink(&mut self) {
        self.spare = Vec::new();
        self.waiting.shrink_to_fit();
    }

    /// Handles an acknowledgement. Ignores numbers that are not in flight.
    pub fn acknowledge(&mut self, id: u32) {
        let Some(first) = self.waiting.front().map(|message| message.id) else { return };
        let at = id.wrapping_sub(first) as usize;
        match self.waiting.get_mut(at) {
            // Only a message that was sent can be acknowledged.
            Some(message) if !message.acknowledged && message.due.is_some() => {
                message.acknowledged = true;
            }
            _ => return,
        }
        for earlier in self.waiting.range_mut(..at) {
            earlier.later_acks = earlier.later_acks.saturating_add(1);
        }
        while self.waiting.front().is_some_and(|message| message.acknowledged) {
            let message = self.waiting.pop_front().expect("the window is not empty");
            self.spare.push(message.content);
        }
    }

    /// Returns the next message to transmit, oldest first, and marks it as sent. Call until it
    /// returns `None`.
    pub fn next_due(&mut self, now: Duration) -> Option<Due<'_>> {
        let message = self.waiting.iter_mut().find(|message| message.is_due(now))?;
        message.due = Some(now + message.timeout);
        match message.repeats.checked_sub(1) {
            Some(left) => message.repeats = left,
            None => message.timeout = (2 * message.timeout).min(LONGEST_TIMEOUT),
        }
        message.later_acks = 0;
        Some(Due { opcode: message.opcode, id: message.id, content: &message.content })
    }

    /// Returns when [`Self::next_due`] has a message; in the past if it has one now.
    pub fn deadline(&self) -> Option<Duration> {
        let open = self.waiting.iter().filter(|message| !message.acknowledged);
        open.map(|message| match message.due {
            Some(due) if message.later_acks < LATER_ACKS => due,
            _ => Duration::ZERO,
        })
        .min()
    }
}

impl Waiting {
    fn is_due(&self, now: Duration) -> bool {
        !self.acknowledged
            && (self.later_acks >= LATER_ACKS || self.due.is_none_or(|due| due <= now))
    }
}

/// The result of receiving a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is buffered and will be acknowledged.
    Fresh,
    /// It was received before, and will be acknowledged again.
    Duplicate,
    /// It is too far ahead, or too many acknowledgements are pending; the peer will retransmit it.
    OutOfWindow,
}

/// The receiver's window: messages until they are delivered in order, and pending acknowledgements.
#[derive(Debug, Default)]
pub struct ReceiveWindow {
    next: u32,
    /// The first entry is for message `next`.
    held: VecDeque<Option<(Opcode, Vec<u8>)>>,
    spare: Vec<Vec<u8>>,
    unacknowledged: VecDeque<u32>,
    /// Recent acknowledgements, latest first; repeated if a packet has room.
    recent: VecDeque<u32>,
}

impl ReceiveWindow {
    /// Returns a window whose first message has this number: 0, or 1 if a reset was received
    /// without a window.
    pub fn starting_at(first: u32) -> Self {
        Self { next: first, ..Self::default() }
    }

    /// Receives a message.
    pub fn accept(&mut self, id: u32, opcode: Opcode, content: &[u8]) -> Received {
        let ahead = id.wrapping_sub(self.next) as usize;
        if ahead >= 1 << 31 || matches!(self.held.get(ahead), Some(Some(_))) {
            // If the acknowledgement does not fit now, the next duplicate triggers it again.
            self.note(id);
            return Received::Duplicate;
        }
        if ahead >= RECEIVE_WINDOW || !self.note(id) {
            return Received::OutOfWindow;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(content);
        if self.held.len() <= ahead {
            self.held.resize_with(ahead + 1, || None);
        }
        self.held[ahead] = Some((opcode, buffer));
        Received::Fresh
    }

    /// Returns the next message in order, if it has arrived.
    pub fn pop_in_order(&mut self) -> Option<(Opcode, Vec<u8>)> {
        let message = self.held.front_mut()?.take()?;
        self.held.pop_front();
        self.next = self.next.wrapping_add(1);
        Some(message)
    }

    /// Returns a message's buffer for reuse.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < RECEIVE_WINDOW {
            self.spare.push(buffer);
        }
    }

    /// Frees the memory that is kept for later messages.
    pub fn shrink(&mut self) {
        self.spare = Vec::new();
        self.held.shrink_to_fit();
    }

    /// Returns whether acknowledgements are pending.
    pub fn owes_acks(&self) -> bool {
        !self.unacknowledged.is_empty()
    }

    /// Returns up to `max` acknowledgements for a packet: pending ones, oldest first, then recent
    /// ones again in case their packet was lost.
    pub fn take_acks(&mut self, max: usize) -> Acks {
        let max = max.min(Acks::MAX);
        let owed = self.unacknowledged.len().min(max);
        let mut acks = Acks::default();
        for id in self.unacknowledged.drain(..owed) {
            acks.push(id);
        }
        let repeated = self.recent.iter().filter(|id| !acks.as_slice().contains(id));
        let repeated: Acks = repeated.copied().take(max - owed).collect();
        for id in repeated.as_slice() {
            acks.push(*id);
        }
        let owed = &acks.as_slice()[..owed];
        self.recent.retain(|id| !owed.contains(id));
        for id in owed.iter().rev() {
            self.recent.push_front(*id);
        }
        self.recent.truncate(Acks::MAX);
        acks
    }

    /// Queues an acknowledgement. Returns whether there was room.
    fn note(&mut self, id: u32) -> bool {
        if self.unacknowledged.contains(&id) {
            return true;
        }
        let room = self.unacknowledged.len() < RECEIVE_WINDOW;
        if room {
            self.unacknowledged.push_back(id);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn due_ids(window: &mut SendWindow, now: Duration) -> Vec<u32> {
        std::iter::from_fn(|| window.next_due(now).map(|due| due.id)).collect()
    }

    fn filled(count: usize) -> SendWindow {
        let mut window = SendWindow::default();
        for _ in 0..count {
            assert!(window.push(Opcode::Control, b"x"));
        }
        window
    }

    #[test]
    fn at_most_six_messages_are_in_flight() {
        let mut window = filled(SEND_WINDOW);
        assert!(!window.push(Opcode::Control, b"x"));
        assert_eq!(due_ids(&mut window, seconds(0)), [0, 1, 2, 3, 4, 5]);
        // Only the oldest message makes room: the numbers in flight stay within six.
        window.acknowledge(3);
        assert!(!window.has_room());
        window.acknowledge(0);
        assert!(window.push(Opcode::Control, b"x"));
        assert_eq!(due_ids(&mut window, seconds(0)), [6]);
        for id in [1, 2, 4, 5, 6] {
            window.acknowledge(id);
        }
        assert!(window.is_empty());
        assert_eq!(window.deadline(), None);
    }

    #[test]
    fn the_timeout_doubles() {
        let mut window = filled(1);
        assert_eq!(window.deadline(), Some(Duration::ZERO));
        let mut now = 10;
        for wait in [2, 4, 8, 16, 32, 32] {
            assert_eq!(due_ids(&mut window, seconds(now)), [0]);
            assert_eq!(window.deadline(), Some(seconds(now + wait)));
            assert!(due_ids(&mut window, seconds(now + wait - 1)).is_empty());
            now += wait;
        }
    }

    #[test]
    fn a_clients_first_packet_is_repeated_at_short_intervals() {
        let mut window = SendWindow::default();
        window.push(Opcode::HardResetClientV2, b"");
        let mut now = seconds(10);
        for wait in [500, 500, 500, 500, 500, 500, 1000, 2000, 4000] {
            assert_eq!(due_ids(&mut window, now), [0]);
            now += Duration::from_millis(wait);
            assert_eq!(window.deadline(), Some(now), "{wait}");
        }
    }

    #[test]
    fn three_later_acknowledgements_cause_a_retransmission() {
        let mut window = filled(6);
        due_ids(&mut window, seconds(0));
        // Repeated acknowledgements of one message count once.
        for id in [1, 1, 1, 2] {
            window.acknowledge(id);
        }
        assert!(due_ids(&mut window, seconds(1)).is_empty());
        window.acknowledge(3);
        assert_eq!(window.deadline(), Some(Duration::ZERO));
        assert_eq!(due_ids(&mut window, seconds(1)), [0]);
        assert!(due_ids(&mut window, seconds(1)).is_empty());
    }

    #[test]
    fn acknowledgements_of_unsent_messages_are_ignored() {
        let mut window = filled(2);
        window.acknowledge(0);
        assert_eq!(due_ids(&mut window, seconds(0)), [0, 1]);
        for id in [2, 100, u32::MAX] {
            window.acknowledge(id);
        }
        assert!(!window.is_empty());
    }

    #[test]
    fn numbers_wrap_around() {
        let mut window = SendWindow::starting_at(u32::MAX);
        window.push(Opcode::Control, b"x");
        window.push(Opcode::Control, b"y");
        assert_eq!(due_ids(&mut window, seconds(0)), [u32::MAX, 0]);
        window.acknowledge(0);
        window.acknowledge(u32::MAX);
        assert!(window.is_empty());

        let mut window = ReceiveWindow::starting_at(u32::MAX);
        assert_eq!(window.accept(0, Opcode::Control, b"y"), Received::Fresh);
        assert_eq!(window.accept(u32::MAX, Opcode::Control, b"x"), Received::Fresh);
        assert_eq!(window.pop_in_order(), Some((Opcode::Control, b"x".to_vec())));
        assert_eq!(window.pop_in_order(), Some((Opcode::Control, b"y".to_vec())));
        assert_eq!(window.accept(0, Opcode::Control, b"y"), Received::Duplicate);
    }

    #[test]
    fn duplicates_are_acknowledged_again() {
        let mut window = ReceiveWindow::default();
        assert_eq!(window.accept(0, Opcode::Control, b"x"), Received::Fresh);
        assert_eq!(window.accept(0, Opcode::Control, b"x"), Received::Duplicate);
        assert_eq!(window.take_acks(8).as_slice(), [0]);
        assert!(!window.owes_acks());
        assert!(window.pop_in_order().is_some());
        assert_eq!(window.accept(0, Opcode::Control, b"x"), Received::Duplicate);
        assert!(window.owes_acks());
        assert_eq!(window.take_acks(8).as_slice(), [0]);
        assert_eq!(window.pop_in_order(), None);
    }

    #[test]
    fn acknowledgements_are_repeated_if_there_is_room() {
        let mut window = ReceiveWindow::default();
        for id in 0..3 {
            window.accept(id, Opcode::Control, b"x");
        }
        assert_eq!(window.take_acks(2).as_slice(), [0, 1]);
        assert!(window.owes_acks());
        assert_eq!(window.take_acks(8).as_slice(), [2, 0, 1]);
        assert!(!window.owes_acks());
        assert_eq!(window.take_acks(8).as_slice(), [2, 0, 1]);
        assert_eq!(window.take_acks(1).as_slice(), [2]);
    }

    #[test]
    fn a_flood_of_duplicates_is_bounded_by_the_window() {
        let mut window = ReceiveWindow::starting_at(1000);
        for id in 0..500 {
            assert_eq!(window.accept(id, Opcode::Control, b"x"), Received::Duplicate);
        }
        assert_eq!(window.unacknowledged.len(), RECEIVE_WINDOW);
        assert_eq!(window.accept(1000, Opcode::Control, b"x"), Received::OutOfWindow);
        window.take_acks(8);
        assert_eq!(window.accept(1000, Opcode::Control, b"x"), Received::Fresh);
    }

    /// All messages received so far, and the number delivered.
    #[derive(Default)]
    struct Model {
        came: BTreeMap<u32, Vec<u8>>,
        given: u32,
    }

    proptest! {
        #[test]
        fn the_receive_window_equals_its_model(steps in proptest::collection::vec((0..40_u32, 0..4), 1..200)) {
            let mut window = ReceiveWindow::default();
            let mut model = Model::default();
            for (id, action) in steps {
                if action == 0 {
                    let expected = model.came.get(&model.given).cloned();
                    model.given += u32::from(expected.is_some());
                    prop_assert_eq!(window.pop_in_order().map(|(_, content)| content), expected);
                    continue;
                }
                let content = id.to_be_bytes();
                let expected = if id < model.given || model.came.contains_key(&id) {
                    Received::Duplicate
                } else if id >= model.given + RECEIVE_WINDOW as u32 {
                    Received::OutOfWindow
                } else {
                    model.came.insert(id, content.to_vec());
                    Received::Fresh
                };
                prop_assert_eq!(window.accept(id, Opcode::Control, &content), expected);
                let owed = expected != Received::OutOfWindow;
                prop_assert_eq!(window.take_acks(8).as_slice().first() == Some(&id), owed);
            }
        }

        /// Two windows over a line that loses, duplicates and reorders packets. Freed memory
        /// changes nothing.
        #[test]
        fn everything_arrives_in_order(losses in proptest::collection::vec(0..4_u8, 0..400)) {
            const MESSAGES: u32 = 20;
            let mut losses = losses.into_iter().chain(std::iter::repeat(0));
            let (mut send, mut receive) = (SendWindow::default(), ReceiveWindow::default());
            let (mut pushed, mut arrived) = (0_u32, Vec::new());
            let mut line: Vec<u32> = Vec::new();
            let mut now = Duration::ZERO;
            let mut sent = BTreeSet::new();
            for _ in 0..2000 {
                while pushed < MESSAGES && send.push(Opcode::Control, &pushed.to_be_bytes()) {
                    pushed += 1;
                }
                while let Some(due) = send.next_due(now) {
                    prop_assert_eq!(due.content, due.id.to_be_bytes());
                    sent.insert(due.id);
                    match losses.next() {
                        Some(1) => {}
                        Some(2) => line.insert(0, due.id),
                        Some(3) => line.extend([due.id, due.id]),
                        _ => line.push(due.id),
                    }
                }
                for id in line.drain(..) {
                    receive.accept(id, Opcode::Control, &id.to_be_bytes());
                    let acks = receive.take_acks(4);
                    if losses.next() != Some(1) {
                        for id in acks.as_slice() {
                            send.acknowledge(*id);
                        }
                    }
                }
                while let Some((_, content)) = receive.pop_in_order() {
                    arrived.push(content.clone());
                    receive.recycle(content);
                }
                if losses.next() == Some(1) {
                    send.shrink();
                    receive.shrink();
                }
                match send.deadline() {
                    Some(deadline) => now = now.max(deadline),
                    None if pushed == MESSAGES => break,
                    None => {}
                }
            }
            prop_assert!(send.is_empty());
            let expected: Vec<_> = (0..MESSAGES).map(|id| id.to_be_bytes().to_vec()).collect();
            prop_assert_eq!(arrived, expected);
        }
    }
}
