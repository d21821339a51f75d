//! Updates of pushed options in a running session (`PUSH_UPDATE` of OpenVPN 2.7).
//!
//! An update replaces all options with the names that it has, and keeps the others. `-name` removes
//! options, and `?` before an option, or after its minus sign, permits a client that cannot change
//! it to ignore that. Otherwise such a client connects again.
//!
//! Source: draft-openvpn-wire-protocol, "PUSH_UPDATE".

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use super::{Joiner, LAST, MAX_MESSAGE, MAX_OPTION, MORE, PushReply};
use crate::proto::Error;

const COMMAND: &str = "PUSH_UPDATE";

/// The options that a running session can change.
const UPDATABLE: [&str; 20] = [
    "block-ipv6",
    "block-outside-dns",
    "client-nat",
    "dhcp-option",
    "dns",
    "ifconfig",
    "ifconfig-ipv6",
    "inactive",
    "ping",
    "ping-exit",
    "ping-restart",
    "redirect-gateway",
    "redirect-private",
    "route",
    "route-gateway",
    "route-ipv6",
    "route-ipv6-gateway",
    "route-metric",
    "topology",
    "tun-mtu",
];

/// A change of the pushed options.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    /// The whole option, or the name of those to remove.
    option: String,
    removes: bool,
    /// Whether a client that cannot make the change ignores it.
    optional: bool,
}

/// An update of the pushed options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushUpdate(Vec<Change>);

impl Change {
    fn parse(text: &str) -> Option<Self> {
        let (removes, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (optional, option) = match rest.strip_prefix('?') {
            Some(option) => (true, option),
            None => (false, rest),
        };
        let begins = option.starts_with(|first: char| first.is_ascii_alphanumeric());
        begins.then(|| Self { option: option.to_owned(), removes, optional })
    }

    fn name(&self) -> &str {
        self.option.split_ascii_whitespace().next().unwrap_or_default()
    }

    fn can_be_made(&self) -> bool {
        UPDATABLE.contains(&self.name())
    }
}

impl PushUpdate {
    /// Parses a list of changes, separated by commas, for a server to send.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] for an empty list, and for an option that is malformed or longer than 255
    /// bytes.
    pub fn parse(list: &str) -> Result<Self, Error> {
        let mut update = Self::default();
        for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let change = Change::parse(text).filter(|_| text.len() <= MAX_OPTION);
            let change = change.filter(|it| !it.option.contains(char::is_control));
            let change = change.filter(|it| it.name() != "push-continuation");
            update.0.push(change.ok_or(Error::Push("option"))?);
        }
        if update.0.is_empty() { Err(Error::Push("option")) } else { Ok(update) }
    }

    /// Returns whether the update sets or removes this option.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|change| change.name() == name)
    }

    /// Returns the update's messages, in order.
    pub fn to_texts(&self) -> Vec<Zeroizing<String>> {
        let empty = || Zeroizing::new(COMMAND.to_owned());
        let mut texts = vec![empty()];
        for Change { option, removes, optional } in &self.0 {
            let mark = [if *removes { "-" } else { "" }, if *optional { "?" } else { "" }].concat();
            let mut text = texts.last_mut().expect("one at least");
            let length = text.len() + 1 + mark.len() + option.len();
            if length + MORE.len() > MAX_MESSAGE {
                text.push_str(MORE);
                texts.push(empty());
                text = texts.last_mut().expect("one at least");
            }
            text.push(',');
            text.push_str(&mark);
            text.push_str(option);
        }
        if texts.len() > 1 {
            texts.last_mut().expect("one at least").push_str(LAST);
        }
        texts
    }
}

/// Joins the messages of an update.
#[derive(Debug, Default)]
pub struct UpdateParser(Joiner<PushUpdate>);

impl UpdateParser {
    /// Parses the text after `PUSH_UPDATE,`. Returns the update after its last message.
    ///
    /// # Errors
    ///
    /// [`Error::Push`] with the malformed option; discards all earlier messages.
    pub fn take(&mut self, options: &str) -> Result<Option<PushUpdate>, Error> {
        self.take_if(options, |_| Ok(true))
    }

    /// Like [`Self::take`], with a filter that sees each option that is set, without its marks. See
    /// [`PushParser::take_if`](super::PushParser::take_if).
    ///
    /// # Errors
    ///
    /// Those of [`Self::take`] and of the filter.
    pub fn take_if(
        &mut self,
        options: &str,
        mut keep: impl FnMut(&str) -> Result<bool, Error>,
    ) -> Result<Option<PushUpdate>, Error> {
        self.0.take(options, |update, option| {
            let change = Change::parse(option).ok_or(Error::Push("option"))?;
            if change.removes || keep(&change.option)? {
                update.0.push(change);
            }
            Ok(())
        })
    }
}

impl PushReply {
    /// Returns the options after an update.
    ///
    /// # Errors
    ///
    /// [`Error::NotUpdatable`] with the name of an option that a running session cannot change, and
    /// that is not optional; [`Error::Push`] for a malformed one.
    pub fn updated(&self, update: &PushUpdate) -> Result<Self, Error> {
        let mut updated = self.clone();
        let mut others = ByName::default();
        std::mem::take(&mut updated.options).into_iter().for_each(|option| others.push(option));
        let mut replaced = BTreeSet::new();
        for change in &update.0 {
            let name = change.name();
            if !change.can_be_made() {
                if change.optional {
                    continue;
                }
                return Err(Error::NotUpdatable(name.to_owned()));
            }
            if change.removes {
                updated.remove_typed(name);
                others.remove(name);
                continue;
            }
            let mut alone = Self::default();
            match alone.read(&change.option) {
                Err(_) if change.optional => continue,
                read => read?,
            }
            if replaced.insert(name) {
                updated.remove_typed(name);
                others.remove(name);
            }
            match alone.options.pop() {
                Some(option) => others.push(option),
                None => updated.read(&change.option)?,
            }
        }
        updated.options = others.into_list();
        Ok(updated)
    }

    /// Resets an option with a typed field.
    fn remove_typed(&mut self, name: &str) {
        match name {
            "ping" => self.ping = None,
            "ping-restart" => self.ping_restart = None,
            "ping-exit" => self.ping_exit = None,
            "inactive" => self.inactive = None,
            "tun-mtu" => self.tun_mtu = None,
            "ifconfig" => self.ifconfig = None,
            "ifconfig-ipv6" => self.ifconfig_ipv6 = None,
            _ => {}
        }
    }
}

/// Options by their names, each with its place in the list. The time for a change does not depend
/// on the number of the others: a message may have thousands.
#[derive(Default)]
struct ByName {
    lists: BTreeMap<String, Vec<(usize, String)>>,
    next: usize,
}

impl ByName {
    fn push(&mut self, option: String) {
        let name = option.split_ascii_whitespace().next().unwrap_or_default().to_owned();
        self.lists.entry(name).or_default().push((self.next, option));
        self.next += 1;
    }

    fn remove(&mut self, name: &str) {
        self.lists.remove(name);
    }

    /// Returns the options in order of their places.
    fn into_list(self) -> Vec<String> {
        let mut all: Vec<(usize, String)> = self.lists.into_values().flatten().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, option)| option).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proto::push::PushParser;

    fn reply(options: &str) -> PushReply {
        PushParser::default().take(options).unwrap().unwrap()
    }

    fn updated(options: &str, update: &str) -> Result<PushReply, Error> {
        let update = UpdateParser::default().take(update).unwrap().unwrap();
        reply(options).updated(&update)
    }

    #[test]
    fn options_are_replaced_by_name_and_others_stay() {
        let before = "ifconfig 10.8.0.2 255.255.255.0,route 10.0.0.0 255.0.0.0,\
                      route 192.168.0.0 255.255.0.0,dhcp-option DNS 10.8.0.1,ping 10,peer-id 3";
        for (update, after) in [
            (
                "route 172.16.0.0 255.240.0.0,route 1.0.0.0 255.0.0.0,-dhcp-option",
                "ifconfig 10.8.0.2 255.255.255.0,route 172.16.0.0 255.240.0.0,\
                 route 1.0.0.0 255.0.0.0,ping 10,peer-id 3",
            ),
            (
                "ifconfig 10.8.0.9 255.255.255.0,tun-mtu 1400,-ping,-?block-ipv6",
                "ifconfig 10.8.0.9 255.255.255.0,route 10.0.0.0 255.0.0.0,\
                 route 192.168.0.0 255.255.0.0,dhcp-option DNS 10.8.0.1,tun-mtu 1400,peer-id 3",
            ),
            // A removal, then a new one.
            (
                "-route,route 1.0.0.0 255.0.0.0,?cipher AES-128-GCM,-?compress,?tun-mtu x",
                "ifconfig \
              10.8.0.2 255.255.255.0,route 1.0.0.0 255.0.0.0,dhcp-option DNS 10.8.0.1,ping 10,\
              peer-id 3",
            ),
        ] {
            let (mut updated, mut after) = (updated(before, update).unwrap(), reply(after));
            // Their order is that of arrival.
            updated.options.sort();
            after.options.sort();
            assert_eq!(updated, after, "{update}");
        }
    }

    #[test]
    fn what_cannot_change_is_an_error_unless_it_is_optional() {
        for (update, name) in [
            ("cipher AES-128-GCM", "cipher"),
            ("-peer-id", "peer-id"),
            ("route 1.0.0.0 255.0.0.0,compress lz4", "compress"),
        ] {
            assert_eq!(
                updated("ping 1", update),
                Err(Error::NotUpdatable(name.into())),
                "{update}"
            );
        }
        assert_eq!(updated("ping 1", "ping x"), Err(Error::Push("ping")));
        for update in ["?cipher AES-128-GCM", "-?peer-id", "?ping x"] {
            assert_eq!(updated("ping 1", update), Ok(reply("ping 1")), "{update}");
        }
    }

    #[test]
    fn lists_of_a_server_are_checked() {
        for wrong in
            ["", " , ", "-", "?", "--route", "?-route", "route 1.0.0.0\x07", "push-continuation 2"]
        {
            assert!(PushUpdate::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(PushUpdate::parse(&format!("route {}", "1".repeat(300))).is_err());
        let update = PushUpdate::parse("route 1.0.0.0 255.0.0.0, -dns").unwrap();
        assert_eq!(
            update.to_texts(),
            ["PUSH_UPDATE,route 1.0.0.0 255.0.0.0,-dns".to_owned().into()]
        );
        assert!(update.has("dns") && update.has("route") && !update.has("ifconfig"));
    }

    /// A server's largest message changes options one by one: the time grows with their number, not
    /// with its square.
    #[test]
    fn a_long_update_takes_no_longer_than_its_length() {
        let many = |option: &str, count: usize| vec![option; count].join(",");
        let before = reply(&many("dhcp-option a", 18_000));
        for update in [
            many("?route 1", 28_000),
            many("route 1,-route", 17_000),
            many("-dns", 50_000),
            many("?ping x", 30_000),
        ] {
            let update = UpdateParser::default().take(&update).unwrap().unwrap();
            let begun = std::time::Instant::now();
            let after = before.updated(&update).unwrap();
            assert!(after.options().len() >= 18_000);
            // Each of them would take minutes if every change looked at all options.
            assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
        }
    }

    /// Each change replaces the list, as a model of what the functions above do.
    fn model(before: &PushReply, update: &PushUpdate) -> Vec<String> {
        let mut options = before.options.clone();
        let mut replaced = Vec::new();
        for change in update.0.iter().filter(|change| change.can_be_made()) {
            let name = change.name();
            let same = |option: &String| option.split_ascii_whitespace().next() == Some(name);
            if change.removes || !replaced.contains(&name) {
                options.retain(|option| !same(option));
            }
            if !change.removes {
                replaced.push(name);
                options.push(change.option.clone());
            }
        }
        options
    }

    proptest! {
        #[test]
        fn updates_agree_with_a_list(
            before in prop::collection::vec("(route|dns|topology|route-ipv6) [a-c]", 0..20),
            update in prop::collection::vec("-?\\??(route|dns|topology|route-ipv6) [a-c]", 1..30),
        ) {
            let before = reply(&before.join(","));
            let update = UpdateParser::default().take(&update.join(",")).unwrap().unwrap();
            let after = before.updated(&update).unwrap();
            prop_assert_eq!(after.options(), model(&before, &update));
        }

        /// Long updates are split, and joined again.
        #[test]
        fn messages_round_trip(
            options in prop::collection::vec("-?\\??route [0-9]{1,3}\\.0\\.0\\.0 [a-z0-9]{0,60}", 1..100),
        ) {
            let update = PushUpdate::parse(&options.join(",")).unwrap();
            let texts = update.to_texts();
            let mut parser = UpdateParser::default();
            for (number, text) in (1..).zip(&texts) {
                prop_assert!(text.len() <= MAX_MESSAGE);
                let rest = text.strip_prefix("PUSH_UPDATE,").unwrap();
                let taken = parser.take(rest).unwrap();
                prop_assert_eq!(taken.is_some(), number == texts.len());
                if let Some(taken) = taken {
                    prop_assert_eq!(&taken, &update);
                }
            }
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}", before in "(route|ping|ifconfig) \\PC{0,20}") {
            let update = UpdateParser::default().take(&text);
            let reply = PushParser::default().take(&before);
            if let (Ok(Some(update)), Ok(Some(reply))) = (update, reply) {
                let _ = reply.updated(&update);
            }
        }
    }
}
