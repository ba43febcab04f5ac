//! Whether the broker waits for as long as the provisioner may take.
//!
//! Where the settings of both are known, they are compared. Otherwise the provisioner is asked; one that does not say,
//! such as the reference, is not waited for any longer because of it.

use std::time::Duration;

use anyhow::ensure;
use base::Clock;
use clients::provisioner::Provisioner;

use crate::{Settings, plans::span, settings::provisioner::ProvisionerSettings};

/// How long a broker that starts pauses between two questions to a provisioner that does not answer.
const PAUSE: Duration = Duration::from_secs(30);

/// How long the broker waits for the provisioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    runtime: Duration,
    update: Duration,
    upgrade: Duration,
    removal: Duration,
}

/// The longest that the provisioner may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProvisionerLimits {
    provisioning: Duration,
    upgrade_shoot: Duration,
    deprovisioning: Duration,
}

impl Patience {
    /// The patience of a broker.
    pub fn of(settings: &Settings) -> Self {
        let runtimes = &settings.runtimes;
        Self {
            runtime: runtimes.limit,
            update: runtimes.update_limit,
            upgrade: runtimes.upgrade_limit,
            removal: runtimes.removal_limit,
        }
    }

    /// Whether it is long enough for a provisioner with these settings.
    pub fn check(self, provisioner: &ProvisionerSettings) -> anyhow::Result<()> {
        let longest = provisioner.limits.limits().longest();
        self.suffices(ProvisionerLimits {
            provisioning: longest.provisioning,
            upgrade_shoot: longest.upgrade_shoot,
            deprovisioning: longest.deprovisioning,
        })
    }

    /// The same for the provisioner that is asked. That it does not answer is reported elsewhere.
    pub async fn ask(
        self,
        provisioner: &Provisioner,
    ) -> Result<anyhow::Result<()>, clients::Error> {
        let Some(limits) = provisioner.limits().await? else { return Ok(Ok(())) };
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Ok(self.suffices(ProvisionerLimits {
            provisioning: seconds(limits.provisioning),
            upgrade_shoot: seconds(limits.upgrade_shoot),
            deprovisioning: seconds(limits.deprovisioning),
        }))
    }

    /// Asks until the provisioner answers, and says when the broker would give up before it.
    pub(crate) async fn tell(self, provisioner: Provisioner, clock: Clock) {
        loop {
            match self.ask(&provisioner).await {
                Ok(Ok(())) => return,
                Ok(Err(too_short)) => {
                    tracing::error!(error = %too_short, "the broker gives up before the provisioner does");
                    return;
                }
                Err(_) => clock.sleep(PAUSE).await,
            }
        }
    }

    fn suffices(self, longest: ProvisionerLimits) -> anyhow::Result<()> {
        let pairs = [
            ("limit", self.runtime, "make", longest.provisioning),
            ("update_limit", self.update, "change", longest.upgrade_shoot),
            ("upgrade_limit", self.upgrade, "change", longest.upgrade_shoot),
            ("removal_limit", self.removal, "remove", longest.deprovisioning),
        ];
        for (setting, waits, does, takes) in pairs {
            ensure!(
                takes < waits,
                "the broker's setting runtimes.{setting} is {}, but the provisioner may take {} to {does} a runtime: make it \
                 longer, or the provisioner's settings under limits shorter",
                span(waits),
                span(takes),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{self, provisioner};

    fn both(of_broker: &str, of_provisioner: &str) -> anyhow::Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        let broker = settings::load(Some(&file("broker.toml", of_broker))).unwrap();
        let provisioner =
            provisioner::load(Some(&file("provisioner.toml", of_provisioner))).unwrap();
        Patience::of(&broker).check(&provisioner)
    }

    #[test]
    fn the_defaults_of_both_fit_together() {
        both("", "").unwrap();
    }

    #[test]
    fn a_broker_that_gives_up_first_is_told_which_settings_to_change() {
        let short = both("[runtimes]\nlimit = \"4h\"\n", "").unwrap_err().to_string();
        let long = both("", "[limits]\ninstallation = \"22h\"\n").unwrap_err().to_string();
        let removal = both("[runtimes]\nremoval_limit = \"90m\"\n", "").unwrap_err().to_string();

        let text = "the broker's setting runtimes.limit is 4h, but the provisioner may take 4h 15m to make a runtime";
        assert!(short.starts_with(text), "{short}");
        assert!(short.contains("the provisioner's settings under limits"), "{short}");
        assert!(
            long.contains("runtimes.limit is 6h, but the provisioner may take 25h 15m"),
            "{long}"
        );
        let text =
            "runtimes.removal_limit is 1h 30m, but the provisioner may take 4h 55m to remove";
        assert!(removal.contains(text), "{removal}");
        for setting in ["update_limit", "upgrade_limit"] {
            let short = format!("[runtimes]\n{setting} = \"40m\"\n");
            let change = both(&short, "").unwrap_err().to_string();
            let text = format!(
                "runtimes.{setting} is 40m, but the provisioner may take 1h 45m to change a runtime"
            );
            assert!(change.contains(&text), "{change}");
        }
        both(
            "[runtimes]\nlimit = \"26h\"\n[operations]\nlimit = \"40h\"\n",
            "[limits]\ninstallation = \"22h\"\n",
        )
        .unwrap();
    }
}
