//! All suites.

use super::descriptor::Descriptor;

/// The suites in order of display.
pub static ALL: &[&Descriptor] = &[
    &super::modexp::DESCRIPTOR,
    &super::rsa::DESCRIPTOR,
    &super::dh::DESCRIPTOR,
    &super::ec::DESCRIPTOR,
    &super::bls::DESCRIPTOR,
    &super::tls::DESCRIPTOR,
    &super::openssl::DESCRIPTOR,
    &super::hsm::DESCRIPTOR,
    &super::vpn::DESCRIPTOR,
];

/// Returns the description of the suite of that name.
pub fn named(name: &str) -> Option<&'static Descriptor> {
    ALL.iter().copied().find(|descriptor| descriptor.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cycloid_command::Stop;

    use super::super::Effort;
    use super::super::descriptor::{Chosen, Value};
    use super::*;

    #[test]
    fn names_are_distinct_and_lead_to_their_suites() {
        let names: BTreeSet<&str> = ALL.iter().map(|descriptor| descriptor.name).collect();
        assert_eq!(names.len(), ALL.len());
        for descriptor in ALL {
            assert!(std::ptr::eq(named(descriptor.name).unwrap(), *descriptor));
            let options: BTreeSet<&str> = descriptor.options.iter().map(|o| o.name).collect();
            assert_eq!(options.len(), descriptor.options.len(), "{}", descriptor.name);
            if let Some(alone) = descriptor.constructors().and_then(|own| own.alone) {
                assert_eq!(alone(Effort::Quick).descriptor().name, descriptor.name);
            }
        }
        assert!(named("x448").is_none());
    }

    #[test]
    fn defaults_make_a_suite() {
        for descriptor in ALL {
            let Some(constructors) = descriptor.constructors() else { continue };
            if constructors.alone.is_none() {
                continue;
            }
            let mut chosen = Chosen::default();
            for option in descriptor.options {
                if let Value::Default(_, value) = option.value {
                    chosen.set(option.name, value.into());
                }
            }
            let suite = (constructors.chosen)(&chosen, Effort::Quick);
            assert!(suite.is_ok_and(|suite| !suite.plan(Effort::Quick, &[]).is_empty()));
        }
    }

    #[test]
    fn invalid_values_are_usage_errors() {
        let mut chosen = Chosen::default();
        chosen.set("bits", "many".into());
        let constructors = named("dh").unwrap().constructors().unwrap();
        let refused = (constructors.chosen)(&chosen, Effort::Quick);
        assert!(matches!(refused, Err(Stop::Usage(_))));
    }
}
