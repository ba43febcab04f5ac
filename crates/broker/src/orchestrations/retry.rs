//! Failed operations are tried again: each becomes a new operation of the same orchestration.

use domain::orchestration::Kind;
use engine::State;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use store::broker::{Member, MemberFilter, NewMember, Orchestration, Resolution};
use uuid::Uuid;

use super::{Orchestrations, create::driver, kind, operation_count, windows::Window};
use crate::instances::Error;

/// More than an orchestration has.
const ALL: u32 = 1_000_000;

/// What is to be tried again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    /// These operations; all that failed when there is none.
    pub operations: Vec<String>,
    /// Without waiting for the next maintenance window.
    pub immediate: bool,
}

/// What is tried again, and what is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retried {
    /// The orchestration.
    #[serde(rename = "orchestrationID")]
    pub orchestration_id: Uuid,
    /// The Shoots of what is tried again.
    pub retry_shoots: Option<Vec<String>>,
    /// Operations whose runtime was upgraded again since.
    pub old_operations: Option<Vec<String>>,
    /// Operations that did not fail in this orchestration.
    pub invalid_operations: Option<Vec<String>>,
    /// For people.
    pub msg: String,
}

impl Orchestrations {
    /// Tries failed operations again.
    pub async fn retry(&self, id: &str, retry: &Retry) -> Result<Retried, Error> {
        let row = self.find(id, "retrying").await?;
        if matches!(row.state.as_str(), "canceling" | "canceled") {
            return Err(Error::Unchangeable(format!("orchestration {id} was canceled")));
        }
        let filter = MemberFilter {
            orchestration: row.id,
            states: vec!["failed".into()],
            current: true,
            skip: 0,
            most: ALL,
        };
        let failed = self.store().members(&filter).await?.members;
        let (chosen, invalid) = choose(failed, &retry.operations);
        let (chosen, old) = self.without_old(kind(&row), chosen).await?;
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
        Ok(Retried {
            orchestration_id: row.id,
            retry_shoots: given(shoots).filter(|_| retried),
            old_operations: given(old),
            invalid_operations: given(invalid),
            msg,
        })
    }

    /// Those whose runtime was not upgraded in the same way since.
    async fn without_old(
        &self,
        kind: Kind,
        chosen: Vec<Member>,
    ) -> Result<(Vec<Member>, Vec<String>), Error> {
        let (mut current, mut old) = (Vec::new(), Vec::new());
        for member in chosen {
            let newest = self.0.broker.newest(&member.instance, Some(&[kind.as_str()])).await?;
            let later = newest.filter(|newest| newest.id != member.operation);
            if later.is_some_and(|later| later.state != State::Canceled) {
                old.push(member.operation.to_string());
            } else {
                current.push(member);
            }
        }
        Ok((current, old))
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

/// Those of the failed ones that are asked for, in that order, and those that are not among them.
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

/// The same runtime once more, at once or in its next window.
fn again(member: Member, immediate: bool, now: Timestamp) -> NewMember {
    let rule = member.window_rule.filter(|_| !immediate);
    let window = rule.as_deref().and_then(|rule| rule.parse::<Window>().ok());
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
        window_rule: rule,
        window_begin: opening.map(|opening| opening.begin),
        window_end: opening.map(|opening| opening.end),
    }
}
