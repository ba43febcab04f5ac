//! Failed operations are tried again: each becomes a new operation of the same orchestration.

use domain::orchestration::Kind;
use engine::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{
    broker::{Member, MemberFilter, NewMember, Orchestration, Resolution},
    engine::Filter,
};
use uuid::Uuid;

use super::{Orchestrations, create::driver, kind, operation_count, windows::Window};
use crate::instances::Error;

/// More than an orchestration has.
const ALL: u32 = 1_000_000;
/// How many later operations of a runtime are looked at in one go.
const PAGE: u32 = 20;

/// The operations to retry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    /// These operations; all that failed when there is none.
    pub operations: Vec<String>,
    /// Without waiting for the next maintenance window.
    pub immediate: bool,
}

/// The retried operations, and those that are not retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryReport {
    /// The orchestration.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// The Shoots of what is tried again.
    pub retry_shoots: Option<Vec<String>>,
    /// Operations whose runtime was upgraded again since, or that were tried again before.
    pub old_operations: Option<Vec<String>>,
    /// Operations that did not fail in this orchestration.
    pub invalid_operations: Option<Vec<String>>,
    /// For people.
    pub msg: String,
}

impl Orchestrations {
    /// Tries failed operations again.
    pub async fn retry(&self, id: &str, retry: &Retry) -> Result<RetryReport, Error> {
        let row = self.find(id, "retrying").await?;
        if matches!(row.state.as_str(), "canceling" | "canceled") {
            return Err(Error::Unchangeable(format!("orchestration {id} was canceled")));
        }
        let filter = MemberFilter {
            orchestration: row.id,
            states: vec!["failed".into()],
            current: false,
            skip: 0,
            most: ALL,
        };
        let failed = self.store().members(&filter).await?.members;
        let (replaced, failed): (Vec<_>, Vec<_>) =
            failed.into_iter().partition(|member| member.superseded);
        let (chosen, others) = choose(failed, &retry.operations);
        let (mut old, invalid): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|id| replaced.iter().any(|member| member.operation.to_string() == *id));
        let (chosen, upgraded) = self.without_old(kind(&row), chosen).await?;
        old.extend(upgraded);
        let (shoots, retried) = if chosen.is_empty() {
            (Vec::new(), false)
        } else {
            let shoots = chosen.iter().map(|member| member.shoot_name.clone()).collect();
            (shoots, self.try_again(&row, chosen, retry.immediate).await?)
        };
        let msg = if retried {
            "retry operations are queued for processing".to_owned()
        } else {
            format!("No valid operations to retry for orchestration {}", row.id)
        };
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        Ok(RetryReport {
            orchestration_id: row.id,
            retry_shoots: given(shoots).filter(|_| retried),
            old_operations: given(old),
            invalid_operations: given(invalid),
            msg,
        })
    }

    /// Removes members whose runtime was upgraded in the same way since.
    async fn without_old(
        &self,
        kind: Kind,
        chosen: Vec<Member>,
    ) -> Result<(Vec<Member>, Vec<String>), Error> {
        let (mut current, mut old) = (Vec::new(), Vec::new());
        for member in chosen {
            if self.is_upgraded_since(kind, &member).await? {
                old.push(member.operation.to_string());
            } else {
                current.push(member);
            }
        }
        Ok((current, old))
    }

    /// Whether the runtime was upgraded in the same way after the operation of a member. What was canceled, and dry runs, did not.
    async fn is_upgraded_since(&self, kind: Kind, member: &Member) -> Result<bool, Error> {
        let operations = &self.0.broker.parts().operations;
        let mut filter = Filter {
            instance: Some(member.instance.clone()),
            kind: Some(kind.as_str().into()),
            most: PAGE,
            ..Filter::default()
        };
        loop {
            let page = operations.list(&filter).await?;
            for later in page.operations {
                if later.id == member.operation {
                    return Ok(false);
                }
                if later.state != State::Canceled && !self.is_dry_run(later.id).await? {
                    return Ok(true);
                }
            }
            filter.after = page.next;
            if filter.after.is_none() {
                return Ok(false);
            }
        }
    }

    async fn is_dry_run(&self, operation: Uuid) -> Result<bool, Error> {
        let found = self.0.broker.snapshot(operation).await?;
        // The list has no requests.
        let asked = found.and_then(|found| serde_json::from_slice::<DryRunFlag>(&found.input).ok());
        Ok(asked.is_some_and(|asked| asked.dry_run))
    }

    async fn try_again(
        &self,
        row: &Orchestration,
        chosen: Vec<Member>,
        immediate: bool,
    ) -> Result<bool, Error> {
        let now = self.0.broker.parts().clock.now();
        let ids: Vec<String> = chosen.iter().map(|member| member.operation.to_string()).collect();
        let field: &[&str] = &["retryoperation", "retryoperations"];
        let members: Vec<(Uuid, NewMember)> = chosen
            .into_iter()
            .map(|member| (member.operation, again(member, immediate, now)))
            .collect();
        let description = format!(", retried {}", operation_count(members.len()));
        let resolution = Resolution {
            orchestration: row.id,
            description: &description,
            member_description: "Operation retry triggered",
        };
        let driver = driver(row.id, true)?;
        let stored = self
            .store()
            .retry_orchestration(driver, &resolution, &[(field, json!(ids))], &members)
            .await?;
        self.wake(row.id).await;
        Ok(stored)
    }
}

/// What counts of the request of an upgrade.
#[derive(Deserialize)]
struct DryRunFlag {
    #[serde(default)]
    dry_run: bool,
}

/// The requested failed members, in that order, and the requested ids that are not among them.
fn choose(failed: Vec<Member>, asked: &[String]) -> (Vec<Member>, Vec<String>) {
    if asked.is_empty() {
        return (failed, Vec::new());
    }
    let (mut chosen, mut invalid): (Vec<Member>, _) = (Vec::new(), Vec::new());
    for id in asked {
        let found = failed.iter().find(|member| member.operation.to_string() == *id);
        match found {
            Some(member) if chosen.iter().all(|other| other.operation != member.operation) => {
                chosen.push(member.clone());
            }
            Some(_) => {}
            None => invalid.push(id.clone()),
        }
    }
    (chosen, invalid)
}

/// The same runtime once more, at once or in its next window. It keeps its window: the next retry may wait for it.
fn again(member: Member, immediate: bool, now: Timestamp) -> NewMember {
    let rule = member.window_rule.as_deref().filter(|_| !immediate);
    let window = rule.and_then(|rule| rule.parse::<Window>().ok());
    let opening = window.and_then(|window| window.open_or_next(now));
    NewMember {
        operation: Uuid::now_v7(),
        wave: member.wave,
        instance: member.instance,
        runtime_id: member.runtime_id,
        shoot_name: member.shoot_name,
        global_account: member.global_account,
        subaccount: member.subaccount,
        plan_id: member.plan_id,
        plan_name: member.plan_name,
        window_rule: member.window_rule,
        window_begin: opening.map(|opening| opening.begin),
        window_end: opening.map(|opening| opening.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(new: NewMember) -> Member {
        Member {
            operation: new.operation,
            orchestration: Uuid::nil(),
            position: 0,
            wave: new.wave,
            instance: new.instance,
            runtime_id: new.runtime_id,
            shoot_name: new.shoot_name,
            global_account: new.global_account,
            subaccount: new.subaccount,
            plan_id: new.plan_id,
            plan_name: new.plan_name,
            window_rule: new.window_rule,
            window_begin: new.window_begin,
            window_end: new.window_end,
            state: "failed".into(),
            description: String::new(),
            accepted: true,
            superseded: false,
            started_at: None,
            ended_at: None,
            failure: None,
        }
    }

    #[test]
    fn a_retry_waits_for_the_window_also_after_one_that_did_not() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-01-05T12:00:00Z");
        let first = failed(NewMember {
            operation: Uuid::nil(),
            wave: 1,
            instance: "i-1".into(),
            runtime_id: Uuid::nil(),
            shoot_name: "c-1".into(),
            global_account: String::new(),
            subaccount: String::new(),
            plan_id: String::new(),
            plan_name: String::new(),
            window_rule: Some("220000+0000 020000+0000".into()),
            window_begin: Some(at("2026-01-04T22:00:00Z")),
            window_end: Some(at("2026-01-05T02:00:00Z")),
        });

        let at_once = again(first, true, now);
        assert_eq!((at_once.window_begin, at_once.window_end), (None, None));
        let later = again(failed(at_once), false, now);

        let window = (Some(at("2026-01-05T22:00:00Z")), Some(at("2026-01-06T02:00:00Z")));
        assert_eq!((later.window_begin, later.window_end), window);
    }
}
