//! A runtime's service provider from its making to its end, each in one go.
//!
//! What a reader would get wrong: all of it may run again. The provider is found by its name, settings are
//! set to the same values, and old secrets go before a new one comes.

use url::Url;

use super::{COMPONENT, Company, Credentials, Ias, ProviderKind, ServiceProvider};
use crate::error::{Error, Kind};

impl Ias {
    /// Sees to it that the instance has this provider, configured. Gives fresh credentials if it has any.
    pub async fn register(
        &self,
        kind: ProviderKind,
        instance_id: &str,
    ) -> Result<Option<Credentials>, Error> {
        let name = kind.display_name(instance_id);
        let company = self.company().await?;
        // Before anything is made: without it nothing would work.
        let from = self.identity_provider_in(&company, &name)?;
        let provider = match company.provider(&name) {
            Some(provider) => provider.clone(),
            None => self.made(&name).await?,
        };
        self.set_attributes(&provider.id, &provider.wanted_attributes()).await?;
        self.set_subject(&provider.id, "mail").await?;
        self.set_identity_provider(&provider.id, &from).await?;
        self.set_access(&provider.id, kind.groups()).await?;
        if !kind.speaks_oidc() {
            return Ok(None);
        }
        if !provider.secrets.is_empty() {
            self.delete_secrets(&provider).await?;
        }
        self.new_secret(&provider.id).await.map(Some)
    }

    /// Sets where people are sent back to, now that the dashboard's address is known.
    pub async fn set_type(
        &self,
        kind: ProviderKind,
        instance_id: &str,
        dashboard: &Url,
    ) -> Result<(), Error> {
        let name = kind.display_name(instance_id);
        let doing = format!("setting the addresses of service provider {name}");
        let failed = |kind| Error::new(COMPONENT, kind, &doing);
        let company = self.company().await?;
        let provider = company.provider(&name).ok_or_else(|| failed(Kind::NotFound))?;
        let (host, address) = kind.addresses(dashboard).ok_or_else(|| {
            failed(Kind::Refused { status: 400 }).saying("the dashboard's address has no host")
        })?;
        if kind.speaks_oidc() {
            self.set_oidc(&provider.id, &host, &[address]).await
        } else {
            self.set_saml(&provider.id, &host, &address).await
        }
    }

    /// Sees to it that the instance does not have this provider.
    pub async fn deregister(&self, kind: ProviderKind, instance_id: &str) -> Result<(), Error> {
        let company = self.company().await?;
        match company.provider(&kind.display_name(instance_id)) {
            Some(provider) => self.delete_provider(&provider.id).await,
            None => Ok(()),
        }
    }

    pub(super) fn identity_provider_in(
        &self,
        company: &Company,
        name: &str,
    ) -> Result<String, Error> {
        let wanted = &self.settings.identity_provider;
        let found = company.identity_provider(wanted).map(|found| found.id.clone());
        found.ok_or_else(|| {
            let doing = format!("looking for the identity provider of {name}");
            let missing = Error::new(COMPONENT, Kind::NotFound, &doing);
            missing.saying(format!("there is no identity provider \"{wanted}\""))
        })
    }

    /// Makes the provider and finds its id, which only the company tells.
    async fn made(&self, name: &str) -> Result<ServiceProvider, Error> {
        match self.create_provider(name).await {
            // Made by an earlier call whose answer was lost, and not yet seen by us.
            Err(error) if error.kind == Kind::AlreadyExists => {}
            made => made?,
        }
        let company = self.company().await?;
        company.provider(name).cloned().ok_or_else(|| {
            let doing = format!("looking for service provider {name}");
            Error::new(COMPONENT, Kind::Unavailable, &doing).saying("it is not visible yet")
        })
    }
}
