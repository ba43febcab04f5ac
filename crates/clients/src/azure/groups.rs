//! Resource groups: made or changed by one call, found by a tag, deleted with all that is in them.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::json;

use super::{Azure, Progress};
use crate::error::{Error, Kind};

pub(super) const VERSION: &str = "2019-05-01";

/// A resource group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub location: String,
    /// Its tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    #[serde(default)]
    properties: Properties,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
struct Properties {
    #[serde(default, rename = "provisioningState")]
    state: String,
}

impl Group {
    /// Whether it is on its way out.
    pub fn is_deleting(&self) -> bool {
        self.properties.state.eq_ignore_ascii_case("Deleting")
    }
}

/// The name of an instance's group, and of the namespace in it. Azure's names have 6 to 50 letters, digits and hyphens and
/// end with no hyphen; an id that does not fit is replaced by its hash.
pub fn name_for(instance: &str) -> String {
    let name = format!("k{}", instance.to_lowercase());
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if (6..=50).contains(&name.len()) && name.bytes().all(allowed) && !name.ends_with('-') {
        return name;
    }
    let hash = digest(&SHA256, instance.as_bytes());
    format!("k{}", hex::encode(&hash.as_ref()[..16]))
}

impl Azure {
    /// Makes a group, or changes the one that is there.
    pub async fn put_group(
        &self,
        name: &str,
        location: &str,
        tags: &BTreeMap<String, String>,
    ) -> Result<Group, Error> {
        let doing = format!("making resource group {name}");
        let path = self.group_path(&doing, name, "")?;
        let body = json!({ "location": location, "tags": tags });
        let request = self.http.put(&path).query(&[("api-version", VERSION)]).json(&body);
        let raw = self.call("put group", &doing, request).await?;
        self.read(&raw, &doing)
    }

    /// The groups that have `tag` with `value`, from all pages.
    pub async fn groups_tagged(&self, tag: &str, value: &str) -> Result<Vec<Group>, Error> {
        let quoted = |text: &str| text.replace('\'', "''");
        let filter = format!("tagName eq '{}' and tagValue eq '{}'", quoted(tag), quoted(value));
        self.groups_where(&format!("looking for resource groups of {value}"), Some(&filter)).await
    }

    /// All groups of the subscription, from all pages.
    pub async fn groups(&self) -> Result<Vec<Group>, Error> {
        self.groups_where("listing resource groups", None).await
    }

    /// Deletes a group with all that is in it; one that is not there is deleted.
    pub async fn delete_group(&self, name: &str) -> Result<Progress, Error> {
        let doing = format!("deleting resource group {name}");
        let path = self.group_path(&doing, name, "")?;
        let request = self.http.delete(&path).query(&[("api-version", VERSION)]);
        match self.call("delete group", &doing, request).await {
            Err(error) if error.kind == Kind::NotFound => Ok(Progress::Done),
            answer => self.judged(&doing, &answer?, &format!("{path}?api-version={VERSION}"), true),
        }
    }

    async fn groups_where(&self, doing: &str, filter: Option<&str>) -> Result<Vec<Group>, Error> {
        let path = format!("/subscriptions/{}/resourcegroups", self.subscription);
        let mut query = vec![("api-version", VERSION)];
        query.extend(filter.map(|filter| ("$filter", filter)));
        self.list("list groups", doing, self.http.get(&path).query(&query)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_name_that_azure_takes_and_the_same_one_each_time() {
        let usual = "6F1D7F3A-5A3F-4A24-9B0C-1B9A3F0F1C11";
        assert_eq!(name_for(usual), format!("k{}", usual.to_lowercase()));
        for odd in ["leg1", "legacy_dot.1", "ends-with-", &"a".repeat(60), "ä".repeat(6).as_str()]
        {
            let name = name_for(odd);
            assert!((6..=50).contains(&name.len()), "{name}");
            assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
            assert_eq!(name, name_for(odd));
        }
        assert_ne!(name_for("leg1"), name_for("leg2"));
    }
}
