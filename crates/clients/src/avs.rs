//! The availability service: evaluations that watch a runtime from inside and from outside.
//!
//! What a reader would get wrong: it has no search. When the answer to a create is lost, the
//! evaluation may exist without us ever learning its id; store the id before doing anything else.

mod describe;
mod evaluation;

use std::sync::Arc;

use secrecy::SecretString;
use serde::Serialize;
use url::Url;

pub use self::{
    describe::{Runtime, Scope},
    evaluation::{Evaluation, NewEvaluation, Status, Tag},
};
use crate::{
    CallLimits, Grant, Http, TokenSource,
    error::{Component, Error, Kind},
    gate::Gate,
    http::Answer,
};

/// Its name in errors and metrics.
pub const COMPONENT: Component = Component("avs");
/// How it is treated.
pub const LIMITS: CallLimits = CallLimits::DEFAULT;

/// Where it is, who we are there, and what evaluations are made with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The collection of evaluations; used as it is for create.
    pub endpoint: Url,
    /// Where tokens come from.
    pub token_endpoint: Url,
    /// The public client that asks for tokens.
    pub client_id: String,
    /// The technical user.
    pub user: String,
    /// The technical user's password.
    pub password: SecretString,
    /// The group of all evaluations.
    pub group_id: i64,
    /// The evaluation they all belong to.
    pub parent_id: i64,
    /// The internal tester.
    pub internal: Tester,
    /// The external tester.
    pub external: Tester,
    /// Ids for trial and free runtimes.
    pub trial: Option<Trial>,
    /// The classes of the tags that are added to a runtime that is there; none are added without.
    pub tag_classes: Option<TagClasses>,
}

/// A tester.
#[derive(Debug, Clone, Default)]
pub struct Tester {
    /// The id of the access.
    pub access_id: i64,
    /// The service of the evaluations; their name if it is empty.
    pub service: String,
    /// The tags of the evaluations.
    pub tags: Vec<Tag>,
}

/// The ids for trial and free runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The internal tester.
    pub access_id: i64,
    /// Their group.
    pub group_id: i64,
    /// The evaluation they belong to.
    pub parent_id: i64,
}

impl Trial {
    /// They count only when all three are given.
    pub fn of(access_id: i64, group_id: i64, parent_id: i64) -> Option<Self> {
        let given = access_id != 0 && group_id != 0 && parent_id != 0;
        given.then_some(Self { access_id, group_id, parent_id })
    }
}

/// The classes of tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagClasses {
    /// The tag class of the Shoot's name.
    pub shoot_name: i64,
    /// The tag class of the seed's name.
    pub seed_name: i64,
    /// The tag class of the region.
    pub region: i64,
}

/// A client of the availability service.
#[derive(Debug, Clone)]
pub struct Avs {
    http: Http,
    settings: Arc<Settings>,
}

impl Avs {
    /// The service behind `gate`, with tokens from behind `issuer`. A token is kept until shortly
    /// before it runs out, and renewed once when it is refused before that.
    pub fn new(settings: Settings, gate: Arc<Gate>, issuer: Arc<Gate>) -> Result<Self, Error> {
        let grant = Grant::Password {
            client: settings.client_id.clone(),
            user: settings.user.clone(),
            password: settings.password.clone(),
        };
        let tokens = TokenSource::through(issuer, settings.token_endpoint.clone(), grant)?;
        let http = Http::through(gate, settings.endpoint.clone())?;
        let http = http.with_token(tokens).renewing_refused_tokens();
        Ok(Self { http, settings: Arc::new(settings) })
    }

    /// Finds out whether it can be reached and knows us, and changes nothing.
    pub async fn check(&self) -> Result<(), Error> {
        match self.get(self.settings.parent_id).await {
            Err(error) if error.kind != Kind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The settings of evaluations.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Makes an evaluation. Repeating it makes another one: keep the id at once, and repeat only
    /// what has none.
    pub async fn create(&self, evaluation: &NewEvaluation) -> Result<Evaluation, Error> {
        let doing = format!("creating evaluation {}", evaluation.name);
        self.sent("create evaluation", &doing, self.http.post(""), evaluation).await?.json()
    }

    /// Reads an evaluation.
    pub async fn get(&self, id: i64) -> Result<Evaluation, Error> {
        let doing = format!("reading evaluation {id}");
        let request = self.http.get(&id.to_string());
        let answer = self.http.send_to("get evaluation", &doing, request).await?;
        about(id, &doing, &answer)
    }

    /// Adds a tag. It does not ask whether the tag is there: look at the evaluation first.
    pub async fn add_tag(&self, id: i64, tag: &Tag) -> Result<Evaluation, Error> {
        let doing = format!("tagging evaluation {id}");
        let request = self.http.post(&format!("{id}/tag"));
        let answer = self.sent("add tag", &doing, request, tag).await?;
        about(id, &doing, &answer)
    }

    /// Sees to it that an evaluation has these tags; those that an earlier call added are kept.
    pub async fn ensure_tags(&self, id: i64, tags: &[Tag]) -> Result<(), Error> {
        let kept = self.get(id).await?;
        for tag in tags.iter().filter(|tag| !kept.has(tag)) {
            self.add_tag(id, tag).await?;
        }
        Ok(())
    }

    /// Sets the status, whatever it was.
    pub async fn set_status(&self, id: i64, status: Status) -> Result<Evaluation, Error> {
        let doing = format!("setting the status of evaluation {id}");
        let request = self.http.put(&format!("{id}/lifecycle"));
        let answer = self.sent("set status", &doing, request, &status).await?;
        about(id, &doing, &answer)
    }

    /// Takes an evaluation out of its parent; one that is not in it is out.
    pub async fn unlink(&self, parent: i64, id: i64) -> Result<(), Error> {
        let doing = format!("unlinking evaluation {id} from {parent}");
        let request = self.http.delete(&format!("{parent}/child/{id}"));
        let raw = self.http.raw("unlink evaluation", &doing, request).await?;
        if raw.status.as_u16() == 400 && evaluation::is_no_child(&raw.body) {
            return Ok(());
        }
        gone_is_fine(raw.accepted(COMPONENT, &doing))
    }

    /// Deletes an evaluation; one that is not there is deleted. Its parent keeps it: unlink it first.
    pub async fn delete(&self, id: i64) -> Result<(), Error> {
        let doing = format!("deleting evaluation {id}");
        let request = self.http.delete(&id.to_string());
        gone_is_fine(self.http.send_to("delete evaluation", &doing, request).await)
    }

    async fn sent(
        &self,
        route: &str,
        doing: &str,
        request: reqwest::RequestBuilder,
        body: &impl Serialize,
    ) -> Result<Answer, Error> {
        self.http.send_to(route, doing, request.json(body)).await
    }
}

/// The evaluation in an answer, if it is the one that was asked for.
fn about(id: i64, doing: &str, answer: &Answer) -> Result<Evaluation, Error> {
    let evaluation: Evaluation = answer.json()?;
    if evaluation.id == id {
        return Ok(evaluation);
    }
    let mixed_up = Error::new(COMPONENT, Kind::Malformed, doing);
    Err(mixed_up.saying("it answered for another evaluation"))
}

fn gone_is_fine(result: Result<Answer, Error>) -> Result<(), Error> {
    match result {
        Ok(_) => Ok(()),
        Err(error) if error.kind == Kind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
