//! The outside systems that a broker may be configured without. The steps of one that is not configured are not in the
//! plans.

use super::env::Env;

/// An outside system that a broker may be configured without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// The availability service.
    Avs,
    /// The tag classes of the availability service.
    AvsTags,
    /// The event data platform.
    Edp,
    /// Identity authentication.
    Ias,
    /// Logging as a service; legacy.
    Lms,
    /// Azure Event Hubs; legacy.
    EventHubs,
    /// The Lifecycle Manager.
    LifecycleManager,
    /// The Reconciler.
    Reconciler,
    /// Notifications for customers about maintenance.
    Spc,
}

impl System {
    /// Every system.
    pub const ALL: [Self; 9] = [
        Self::Avs,
        Self::AvsTags,
        Self::Edp,
        Self::Ias,
        Self::Lms,
        Self::EventHubs,
        Self::LifecycleManager,
        Self::Reconciler,
        Self::Spc,
    ];

    /// Its name in plans, documents and failures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Avs => "avs",
            Self::AvsTags => "avs tags",
            Self::Edp => "edp",
            Self::Ias => "ias",
            Self::Lms => "lms",
            Self::EventHubs => "azure",
            Self::LifecycleManager => "lifecycle manager",
            Self::Reconciler => "reconciler",
            Self::Spc => "spc",
        }
    }
}

impl From<System> for &'static str {
    fn from(system: System) -> Self {
        system.name()
    }
}

/// The systems that are configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Systems(u16);

impl Systems {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self((1 << System::ALL.len()) - 1);

    /// The systems that have clients.
    pub fn of(env: &Env) -> Self {
        let tags = env.avs.as_ref().is_some_and(|avs| avs.settings().tag_classes.is_some());
        Self::NONE
            .with(System::Avs, env.avs.is_some())
            .with(System::AvsTags, tags)
            .with(System::Edp, env.edp.is_some())
            .with(System::Ias, env.ias.is_some())
            .with(System::Lms, env.lms.is_some())
            .with(System::EventHubs, env.event_hubs.is_some())
            .with(System::LifecycleManager, env.lifecycle_manager.is_some())
            .with(System::Reconciler, env.reconciler.is_some())
            .with(System::Spc, env.spc.is_some())
    }

    /// With this one if it is `configured`, without it otherwise.
    #[must_use]
    pub const fn with(self, system: System, configured: bool) -> Self {
        let bit = 1 << system as u16;
        if configured { Self(self.0 | bit) } else { Self(self.0 & !bit) }
    }

    /// Without this one.
    #[must_use]
    pub const fn without(self, system: System) -> Self {
        self.with(system, false)
    }

    /// Whether this one is configured.
    pub const fn contains(self, system: System) -> bool {
        self.0 & (1 << system as u16) != 0
    }

    /// The configured systems.
    pub fn iter(self) -> impl Iterator<Item = System> {
        System::ALL.into_iter().filter(move |system| self.contains(*system))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_systems_are_in_the_whole_set_and_each_can_be_taken_out() {
        assert!(System::ALL.into_iter().all(|system| Systems::ALL.contains(system)));
        for system in System::ALL {
            let rest: Vec<System> = Systems::ALL.without(system).iter().collect();

            assert_eq!(rest.len(), System::ALL.len() - 1);
            assert!(!rest.contains(&system), "{system:?}");
        }
    }
}
