//! Which runtime a command is about: an instance by its id, or a runtime by its name or Shoot if there is only one.

use anyhow::bail;

use crate::client::Client;

/// The instance of this id, or of the only runtime of this name or Shoot, in whatever state it is.
pub(crate) async fn instance(client: &Client, which: &str) -> anyhow::Result<String> {
    let state = || ("state", "all".to_owned());
    let detail = || ("op_detail", "last".to_owned());
    let by_id = [state(), detail(), ("instance_id", which.to_owned())];
    if let [one] = client.runtimes_seen(&by_id).await?.as_slice() {
        return Ok(one.instance_id.clone());
    }
    let mut found = client.runtimes_seen(&[state(), detail()]).await?;
    found.retain(|it| it.name() == which || it.shoot_name == which);
    match found.as_slice() {
        [] => bail!("there is no instance, and no runtime of the name or Shoot \"{which}\""),
        [one] => Ok(one.instance_id.clone()),
        several => {
            let ids: Vec<&str> = several.iter().map(|it| it.instance_id.as_str()).collect();
            bail!("several runtimes are called \"{which}\": say which, {}", ids.join(", "))
        }
    }
}
