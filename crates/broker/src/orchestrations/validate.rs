//! Validates a requested orchestration: errors name the field and the rule.

use std::time::Duration;

use domain::orchestration::{Budget, Kind, Parameters, RetryOperation, no_time};
use jiff::Timestamp;

use super::targets::Matcher;

/// The only strategy.
const PARALLEL: &str = "parallel";
/// The most runtimes that are upgraded at a time.
const MOST_WORKERS: i64 = 1_000;
/// How far ahead an orchestration may begin: half the time that it may take.
const LATEST: Duration = Duration::from_hours(24 * 366);

/// Checks the request, and fills in defaults.
pub(super) fn validate(
    kind: Kind,
    parameters: &mut Parameters,
    now: Timestamp,
) -> Result<Matcher, String> {
    let matcher = Matcher::read(&parameters.targets)?;
    match (kind, &parameters.kyma) {
        (Kind::UpgradeKyma, None) => {
            return Err("kyma is missing; {} stands for the default version".into());
        }
        (Kind::UpgradeKyma, Some(kyma)) => check_kyma_version(&kyma.version)?,
        (Kind::UpgradeCluster, _) => {}
    }
    if let Some(kubernetes) = &parameters.kubernetes {
        check_kubernetes_version(&kubernetes.kubernetes_version)?;
    }
    let strategy = &mut parameters.strategy;
    match strategy.kind.as_str() {
        "" => PARALLEL.clone_into(&mut strategy.kind),
        PARALLEL => {}
        other => return Err(format!("strategy.type can only be \"{PARALLEL}\", not {other:?}")),
    }
    if strategy.schedule.is_empty() && strategy.schedule_time != no_time() {
        return Err(
            "strategy.ScheduleTime is read-only; a time is requested by strategy.schedule".into()
        );
    }
    strategy.schedule_time = schedule(&strategy.schedule, now)?;
    strategy.parallel.workers = workers("strategy.parallel.workers", strategy.parallel.workers)?;
    if strategy.canary < 0 {
        return Err("strategy.canary must not be less than 0".into());
    }
    if let Some(budget) = &strategy.failure_budget {
        allowed_failures(budget, 0)?;
    }
    parameters.retryoperation = RetryOperation::default();
    Ok(matcher)
}

/// How many at a time, as `field` asks; nothing stands for one.
pub(super) fn workers(field: &str, asked: i64) -> Result<i64, String> {
    match asked {
        0 => Ok(1),
        1..=MOST_WORKERS => Ok(asked),
        _ => Err(format!("{field} must be between 1 and {MOST_WORKERS}, not {asked}")),
    }
}

/// Before which nothing starts.
fn schedule(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    match text {
        "" | "immediate" => Ok(no_time()),
        "now" => Ok(now),
        text if text.eq_ignore_ascii_case("maintenancewindow") => Err(
            "strategy.schedule cannot be \"maintenanceWindow\"; set strategy.maintenanceWindow to true".into(),
        ),
        text => {
            let time: Timestamp = text.parse().map_err(|_| {
                format!("strategy.schedule must be \"immediate\", \"now\" or a time such as 2026-12-31T22:00:00Z, not {text:?}")
            })?;
            if time > now + LATEST {
                return Err(format!("strategy.schedule must be within a year, not {text:?}"));
            }
            Ok(time)
        }
    }
}

/// How many of `total` runtimes may fail.
pub(crate) fn allowed_failures(budget: &Budget, total: u64) -> Result<u64, String> {
    let bad = || {
        "strategy.failureBudget must be a number of runtimes or a percentage such as \"10%\""
            .to_owned()
    };
    match budget {
        Budget::Number(number) => u64::try_from(*number).map_err(|_| bad()),
        Budget::Text(text) => match text.strip_suffix('%') {
            Some(percent) => {
                let percent: u64 = percent.trim().parse().map_err(|_| bad())?;
                if percent > 100 { Err(bad()) } else { Ok(total * percent / 100) }
            }
            None => text.trim().parse().map_err(|_| bad()),
        },
    }
}

/// A release, a pull request (`PR-12`), or a branch with a commit (`main-00e83e99`).
fn check_kyma_version(version: &str) -> Result<(), String> {
    if version.is_empty() || version.contains('-') || is_release(version) {
        return Ok(());
    }
    Err(format!(
        "kyma.version must be a release, PR-<number> or <branch>-<commit>, not {version:?}"
    ))
}

fn check_kubernetes_version(version: &str) -> Result<(), String> {
    if version.is_empty() || is_release(version) {
        return Ok(());
    }
    Err(format!("kubernetes.kubernetesVersion must be a version such as 1.26.8, not {version:?}"))
}

fn is_release(version: &str) -> bool {
    let mut parts = version.split('.');
    let numbers = parts
        .by_ref()
        .take(3)
        .filter(|part| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit()));
    numbers.count() == 3 && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn checked(kind: Kind, change: &Value) -> Result<Parameters, String> {
        let mut body = json!({
            "targets": { "include": [{ "target": "all" }] },
            "strategy": { "type": "parallel", "schedule": "now" },
            "kyma": {},
        });
        for (pointer, value) in change.as_object().unwrap() {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            let parent = body.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match value {
                Value::Null => drop(parent.remove(field)),
                value => drop(parent.insert(field.into(), value.clone())),
            }
        }
        let mut parameters = serde_json::from_value(body).unwrap();
        let now = Timestamp::from_second(1_767_268_800).unwrap();
        validate(kind, &mut parameters, now).map(|_| parameters)
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        let change = json!({ "/strategy/type": null, "/strategy/schedule": null });

        let strategy = checked(Kind::UpgradeKyma, &change).unwrap().strategy;

        assert_eq!((strategy.kind.as_str(), strategy.parallel.workers), (PARALLEL, 1));
        assert_eq!(strategy.schedule_time, no_time());
        let later = json!({ "/strategy/schedule": "2026-12-31T22:00:00+01:00" });
        let later = checked(Kind::UpgradeKyma, &later).unwrap().strategy.schedule_time;
        assert_eq!(later.to_string(), "2026-12-31T21:00:00Z");
    }

    #[test]
    fn what_is_wrong_is_refused_by_its_field() {
        let table = [
            (json!({ "/kyma": null }), "kyma is missing"),
            (json!({ "/targets/include": [] }), "targets.include must name"),
            (json!({ "/strategy/type": "serial" }), "strategy.type can only be \"parallel\""),
            (json!({ "/strategy/schedule": "maintenanceWindow" }), "strategy.schedule cannot be"),
            (json!({ "/strategy/schedule": "tomorrow" }), "strategy.schedule must be"),
            (
                json!({ "/strategy/schedule": "2027-01-03T00:00:00Z" }),
                "strategy.schedule must be within a year",
            ),
            (
                json!({ "/strategy/parallel": { "workers": -1 } }),
                "strategy.parallel.workers must be between 1 and 1000",
            ),
            (
                json!({ "/strategy/schedule": null, "/strategy/ScheduleTime": "2027-01-01T00:00:00Z" }),
                "strategy.ScheduleTime is read-only",
            ),
            (json!({ "/strategy/canary": -1 }), "strategy.canary must not"),
            (json!({ "/strategy/failureBudget": "some" }), "strategy.failureBudget must be"),
            (json!({ "/strategy/failureBudget": "101%" }), "strategy.failureBudget must be"),
            (json!({ "/strategy/failureBudget": -1 }), "strategy.failureBudget must be"),
            (json!({ "/kyma": { "version": "nope" } }), "kyma.version must be"),
            (
                json!({ "/kubernetes": { "kubernetesVersion": "new" } }),
                "kubernetes.kubernetesVersion must be",
            ),
        ];

        for (change, problem) in table {
            let error = checked(Kind::UpgradeKyma, &change).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
        assert!(checked(Kind::UpgradeCluster, &json!({ "/kyma": null })).is_ok());
    }

    #[test]
    fn a_budget_is_a_number_or_a_part_of_all() {
        let percent = Budget::Text("10%".into());

        assert_eq!(allowed_failures(&percent, 50), Ok(5));
        assert_eq!(allowed_failures(&percent, 9), Ok(0));
        assert_eq!(allowed_failures(&Budget::Number(3), 50), Ok(3));
        assert_eq!(allowed_failures(&Budget::Text("3".into()), 50), Ok(3));
    }

    #[test]
    fn versions_are_releases_or_have_a_dash() {
        for version in ["", "2.11.0", "PR-123", "main-00e83e99", "2.0.0-rc1"] {
            assert!(check_kyma_version(version).is_ok(), "{version}");
        }
        for version in ["2.11", "nope", "2.11.x", "1.2.3.4"] {
            assert!(check_kyma_version(version).is_err(), "{version}");
        }
    }
}
