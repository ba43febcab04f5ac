//! Labels of an instance for its owner, beside the dashboard.

use std::{collections::BTreeMap, time::Duration};

use domain::plan::Kind;
use jiff::Timestamp;

use super::Settings;
use crate::Order;

/// Labels by their names.
pub type Labels = BTreeMap<&'static str, String>;

/// The notice about the end of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialNotice {
    /// Only these subaccounts; none: all of them.
    pub subaccounts: Option<Vec<String>>,
    /// Where it is explained.
    pub documentation: String,
}

/// How long an instance lives, and when its life began or ended.
pub(super) struct Life {
    pub(super) created_at: Timestamp,
    pub(super) expired_at: Option<Timestamp>,
    pub(super) lifetime: Option<Duration>,
}

const DAY: u64 = 24 * 60 * 60;
const EXPIRED: &str = "Your cluster has expired. It is not operational, and the link to its dashboard is gone: \
                       create a new cluster to go on.";

/// The labels of every response about an instance.
pub(super) fn of(settings: &Settings, order: &Order) -> Labels {
    let mut labels = Labels::from([("Name", order.parameters.name.clone())]);
    if let Some(broker) = &settings.kubeconfig_label
        && order.plan_kind != Kind::OwnCluster
    {
        let host = broker.trim_start_matches("https://").trim_start_matches("http://");
        let host = host.trim_end_matches('/');
        let url = format!("https://{host}/kubeconfig/{}", order.instance_id);
        labels.insert("KubeconfigURL", url);
    }
    labels
}

/// Adds the labels of a trial.
pub(super) fn add_trial(
    labels: &mut Labels,
    settings: &Settings,
    order: &Order,
    life: &Life,
    now: Timestamp,
) {
    let Some(notice) = settings.trial_notice.as_ref().filter(|_| order.plan_kind == Kind::Trial)
    else {
        return;
    };
    let meant = |subaccounts: &Vec<String>| subaccounts.contains(&order.context.subaccount_id);
    if notice.subaccounts.as_ref().is_none_or(meant) {
        tell(labels, notice, life, now);
    }
}

fn tell(labels: &mut Labels, notice: &TrialNotice, life: &Life, now: Timestamp) {
    if life.expired_at.is_some() {
        labels.insert("Trial expiration details", EXPIRED.to_owned());
        labels.insert("Trial documentation", notice.documentation.clone());
        labels.remove("KubeconfigURL");
    } else if let Some(lifetime) = life.lifetime {
        let left = (life.created_at + lifetime).duration_since(now).unsigned_abs();
        let left = if life.created_at + lifetime > now { left.as_secs() } else { 0 };
        labels.insert("Trial expiration details", countdown(left));
    }
}

fn countdown(seconds: u64) -> String {
    let hours = (seconds + 1_800) / 3_600;
    match (hours * 3_600 + DAY / 2) / DAY {
        0 => "Your cluster expires today.".to_owned(),
        1 => "Your cluster expires tomorrow.".to_owned(),
        days => format!("Your cluster expires in {days:>2} days."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_that_are_left_are_rounded_from_hours() {
        let hours = |hours: u64| countdown(hours * 3_600);

        assert_eq!(hours(0), "Your cluster expires today.");
        assert_eq!(hours(11), "Your cluster expires today.");
        assert_eq!(hours(12), "Your cluster expires tomorrow.");
        assert_eq!(hours(24 * 7), "Your cluster expires in  7 days.");
        assert_eq!(hours(24 * 14), "Your cluster expires in 14 days.");
    }

    #[test]
    fn an_expired_trial_is_told_so_and_has_no_kubeconfig_any_more() {
        let notice = TrialNotice { subaccounts: None, documentation: "https://help.test".into() };
        let meant = |expired_at| {
            let life = Life {
                created_at: Timestamp::UNIX_EPOCH,
                expired_at,
                lifetime: Some(Duration::from_secs(14 * DAY)),
            };
            let mut labels = Labels::from([("KubeconfigURL", "https://k.test".to_owned())]);
            tell(&mut labels, &notice, &life, Timestamp::UNIX_EPOCH);
            labels
        };

        let (living, expired) = (meant(None), meant(Some(Timestamp::UNIX_EPOCH)));

        assert!(living.contains_key("KubeconfigURL") && !expired.contains_key("KubeconfigURL"));
        assert_eq!(expired["Trial expiration details"], EXPIRED);
        assert_eq!(expired["Trial documentation"], "https://help.test");
        assert_eq!(living["Trial expiration details"], "Your cluster expires in 14 days.");
    }
}
