//! Asking for credentials.

use std::time::Duration;

use engine::State;
use store::broker::{BeginBinding, Binding, BindingState, Instance, NewBinding};
use uuid::Uuid;

use super::{
    Bind, BindingCredentials, Bindings, bound, is_usable, making::BindingAttempt, operator,
    parameters, to_its_end,
};
use crate::{
    catalog::BindingOffer,
    instances::{
        Caller, Course, Error,
        requests::{require_plan, storable},
    },
};

/// How often it begins again after a conflict.
const TRIES: usize = 3;
const DIFFERENT: &str = "binding already exists but with different parameters";

/// A binding that an instance is to have.
pub(super) struct BindingRequest {
    /// As its owner calls it.
    pub(super) id: String,
    /// How long it is to be valid.
    pub(super) lifetime: Duration,
    /// The binding that it is to replace.
    pub(super) predecessor: Option<String>,
    /// How many the instance may have.
    pub(super) most: u32,
}

impl Bindings {
    /// Makes a binding, or finds the one that the same request has made.
    pub async fn bind(&self, caller: &Caller, request: Bind) -> Result<BindingCredentials, Error> {
        let parts = self.broker().parts();
        require_plan(&request.service_id, &request.plan_id)?;
        let bindings = parts.offer.bindings.as_ref();
        let offer =
            bindings.ok_or_else(|| Error::NotBindable("bindings are switched off".into()))?;
        storable("binding_id", &request.binding_id)?;
        if operator::is_reserved(&request.binding_id) {
            return Err(Error::Bad(format!("binding_id must not begin with {}", operator::PREFIX)));
        }
        let missing = || Error::NotFound("instance does not exist".into());
        let row = self.instance(caller, &request.instance_id).await?.ok_or_else(missing)?;
        offered(offer, &row.plan_name)?;
        if request.service_id != parts.catalog.service_id() {
            return Err(Error::Bad("service-id not in the catalog".into()));
        }
        if parts.catalog.plan(&request.plan_id).is_none() {
            return Err(Error::Bad("plan-id not in the catalog".into()));
        }
        let asked = parameters::lifetime(request.parameters.as_ref(), offer, parts.offer.closed)?;
        let wish = BindingRequest {
            id: request.binding_id,
            lifetime: asked,
            predecessor: request.predecessor,
            most: offer.most,
        };
        self.find_or_make(row, wish).await
    }

    /// Makes a binding of an instance, or finds the one that the same wish has made.
    pub(super) async fn find_or_make(
        &self,
        row: Instance,
        wish: BindingRequest,
    ) -> Result<BindingCredentials, Error> {
        let bindings = self.clone();
        to_its_end(async move { bindings.find_or_begin(row, wish).await }).await
    }

    async fn find_or_begin(
        &self,
        row: Instance,
        wish: BindingRequest,
    ) -> Result<BindingCredentials, Error> {
        let BindingRequest { id, lifetime: asked, predecessor, most } = &wish;
        let (id, predecessor) = (id.as_str(), predecessor.as_deref());
        let (asked, most) = (*asked, *most);
        let instance = row.id.as_str();
        for _ in 0..TRIES {
            if let Some(there) = self.store().find_binding(instance, id).await? {
                let same = there.predecessor.as_deref() == predecessor
                    && (predecessor.is_some() || there.lifetime == asked);
                if !same {
                    return Err(Error::Taken(DIFFERENT));
                }
                match there.state {
                    BindingState::Active => return self.repeated(there, &row),
                    BindingState::Removing => return Err(Error::Busy),
                    BindingState::Creating => {}
                }
                if self.ready(&row).await? != there.runtime {
                    // What was made went with the runtime of before. What is made now is in another one, and must be found there
                    // when it ends: it is written down anew.
                    let taken = self.store().begin_unbinding(there.id, None, self.hold()).await?;
                    self.remove(&row, &there, taken.ok_or(Error::Busy)?).await?;
                    continue;
                }
                let resumed = self.store().resume_binding(&there, self.hold()).await?;
                let attempt = resumed.ok_or(Error::Busy)?;
                let (binding, lifetime) = (there.binding, there.lifetime);
                return self.make(BindingAttempt { row, binding, lifetime, attempt }).await;
            }
            let runtime = self.ready(&row).await?;
            let lifetime = match predecessor {
                Some(predecessor) => self.predecessor(&row, predecessor).await?.lifetime,
                None => asked,
            };
            let new = NewBinding { instance, binding: id, runtime, lifetime, predecessor };
            match self.store().begin_binding(&new, most, self.hold()).await? {
                BeginBinding::Begun(attempt) => {
                    let binding = id.to_owned();
                    return self.make(BindingAttempt { row, binding, lifetime, attempt }).await;
                }
                BeginBinding::Exists => {}
                BeginBinding::Full => {
                    let text = format!(
                        "maximum number of non expired bindings reached: {most}; unbind one, or wait until one expires"
                    );
                    return Err(Error::Limit(text));
                }
                BeginBinding::Gone => return Err(Error::Busy),
            }
        }
        Err(Error::Busy)
    }

    /// The runtime of an instance that can be bound. An update or upgrade that failed says nothing about that: the operations that make
    /// and remove the runtime do.
    async fn ready(&self, row: &Instance) -> Result<Uuid, Error> {
        let id = &row.id;
        let bad = |problem: &str| Err(Error::Bad(format!("instance {id} {problem}")));
        let missing = || Err(Error::NotFound("instance does not exist".into()));
        let course = self.broker().course(id).await?;
        if let Some(Course::Made(newest) | Course::Suspended(newest) | Course::Removed(newest)) =
            &course
            && !newest.state.is_final()
        {
            // It ends by itself, and the same request succeeds or is refused for good then.
            return Err(Error::Busy);
        }
        match course {
            Some(Course::Made(made)) if made.state != State::Succeeded => {
                return bad("creation failed");
            }
            Some(Course::Suspended(gone)) if gone.state != State::Succeeded => {
                return bad("suspension failed");
            }
            Some(Course::Suspended(_)) => return bad("is suspended: it has no runtime"),
            Some(Course::Removed(gone)) if gone.state != State::Succeeded => {
                return bad("removal failed");
            }
            Some(Course::Removed(_)) => return missing(),
            Some(Course::Made(_)) | None => {}
        }
        if row.deleted_at.is_some() {
            return missing();
        }
        if row.expired_at.is_some() {
            return bad("has expired");
        }
        row.runtime_id.map_or_else(|| bad("has no runtime"), Ok)
    }

    /// The answer to the same request again.
    fn repeated(&self, there: Binding, row: &Instance) -> Result<BindingCredentials, Error> {
        if is_usable(&there, row, self.now()) {
            return bound(there, false);
        }
        let text = if there.expires_at <= self.now() {
            format!(
                "binding {} expired at {}: unbind it, or use another id",
                there.binding, there.expires_at
            )
        } else {
            format!(
                "binding {} was for a runtime that is gone: unbind it, or use another id",
                there.binding
            )
        };
        Err(Error::Bad(text))
    }

    /// The binding that another one is to replace.
    async fn predecessor(&self, row: &Instance, id: &str) -> Result<Binding, Error> {
        let found = self.platforms_binding(row, id).await?;
        found.filter(|it| is_usable(it, row, self.now())).ok_or_else(|| {
            let text = "does not exist, or has expired";
            Error::Bad(format!("predecessor_binding_id: binding {id} of this instance {text}"))
        })
    }
}

/// Refuses plans whose instances cannot be bound.
fn offered(offer: &BindingOffer, plan: &str) -> Result<(), Error> {
    if offer.plans.iter().any(|name| name == plan) {
        return Ok(());
    }
    let plans = offer.plans.join(", ");
    Err(Error::NotBindable(format!("plan \"{plan}\" is not bindable, these are: {plans}")))
}
