//! One attempt at a binding: made in the runtime, then stored; taken back when it does not succeed.
//!
//! What a reader would get wrong: it runs in a task of its own, from before the binding is taken, because its caller may hang up at any
//! moment. It ends by itself before others may take the binding over.

use std::time::Duration;

use base::failure::chain;
use clients::runtime::{Token, access_name};
use secrecy::ExposeSecret;
use store::broker::{Attempt, Instance};

use super::{
    BindingCredentials, Bindings, REMOVING,
    runtime::{GrantedCredentials, Trouble},
};
use crate::instances::Error;

/// The binding that is made.
#[derive(Clone)]
pub(super) struct BindingAttempt {
    /// For which instance.
    pub(super) row: Instance,
    /// As the platform calls it.
    pub(super) binding: String,
    /// How long it is to be valid.
    pub(super) lifetime: Duration,
    /// The right to make it.
    pub(super) attempt: Attempt,
}

impl Bindings {
    /// Makes a binding that is written down.
    pub(super) async fn make(&self, making: BindingAttempt) -> Result<BindingCredentials, Error> {
        let BindingAttempt { row, binding, lifetime, attempt } = &making;
        let name = access_name(binding);
        let clock = &self.broker().parts().clock;
        let granted = tokio::select! {
            // First, so that a process that was stopped calls nobody any more when it goes on.
            biased;
            () = clock.sleep(self.0.time) => {
                let text = format!("request timeout: time exceeded {}s", self.0.time.as_secs());
                Err(Trouble::Called(Error::runtime(&row.id, text.into())))
            }
            granted = self.grant(row, &name, *lifetime) => granted,
        };
        let GrantedCredentials { kubeconfig, token: Token { until, .. } } = match granted {
            Ok(granted) => granted,
            Err(trouble) => {
                if matches!(trouble, Trouble::Called(_)) {
                    self.take_back(&making, &name).await;
                } else {
                    // Nothing was made: the clean-up finds it should it not be forgotten now.
                    logged("forget", self.store().forget_binding(*attempt).await);
                }
                return Err(trouble.into_error(row));
            }
        };
        let credentials = kubeconfig.expose_secret().as_bytes();
        if !self.store().finish_binding(*attempt, credentials, until).await? {
            // Another process has taken the binding over.
            self.take_back(&making, &name).await;
            return Err(Error::Busy);
        }
        tracing::info!(instance.id = row.id, binding.id = binding, until = %until, "binding created");
        Ok(BindingCredentials {
            kubeconfig,
            expires_at: until,
            renew_before: until - *lifetime / 5,
            lifetime: *lifetime,
            created: true,
        })
    }

    /// Removes what an attempt may have made. What cannot be removed now stays written down for the clean-up.
    async fn take_back(&self, making: &BindingAttempt, name: &str) {
        let BindingAttempt { row, binding, attempt, .. } = making;
        let taken =
            self.store().begin_unbinding(attempt.binding, Some(*attempt), self.hold()).await;
        let removal = match taken {
            Ok(Some(removal)) => Some(removal),
            // Another attempt has the binding, and what is in the runtime with it; or it is gone, and nobody else removes it.
            Ok(None) => match self.store().find_binding(&row.id, binding).await {
                Ok(None) => None,
                _ => return,
            },
            Err(error) => return logged("take back", Err::<(), _>(error)),
        };
        let revoked = self.revoke_in_time(row, name).await;
        match (revoked, removal) {
            (Ok(()), Some(removal)) => logged("forget", self.store().forget_binding(removal).await),
            (Err(trouble), Some(removal)) => {
                let error = trouble.into_error(row);
                tracing::warn!(
                    instance.id = row.id,
                    binding.id = binding,
                    error = chain(&error),
                    "binding not taken back yet, the clean-up tries again"
                );
                let postponed = self.store().postpone_unbinding(removal, Duration::ZERO).await;
                logged("postpone", postponed);
            }
            (Ok(()) | Err(_), None) => {}
        }
    }

    pub(super) async fn revoke_in_time(&self, row: &Instance, name: &str) -> Result<(), Trouble> {
        let clock = &self.broker().parts().clock;
        tokio::select! {
            biased;
            () = clock.sleep(REMOVING) => {
                let text = format!("request timeout: time exceeded {}s", REMOVING.as_secs());
                Err(Trouble::Called(Error::runtime(&row.id, text.into())))
            }
            revoked = self.revoke(row, name) => revoked,
        }
    }
}

/// Logs a failed write: the clean-up finds the stored binding and finishes the work.
fn logged<T>(doing: &str, done: Result<T, store::Error>) {
    if let Err(error) = done {
        tracing::warn!(error = chain(&error), "store: cannot {doing} a binding, the clean-up will");
    }
}
