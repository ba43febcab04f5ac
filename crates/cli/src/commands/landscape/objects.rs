//! What a simulated system keeps.

use clap::Args;
use reqwest::Method;

use super::{cells, items};
use crate::{
    client::Client,
    confirm::Confirmation,
    output::{self, Format, Head, Layout},
};

/// List the objects of a system, or show or delete one.
#[derive(Args)]
pub(super) struct Objects {
    /// The system.
    system: String,
    /// The kind of object, for example runtime.
    kind: Option<String>,
    /// The id of the object.
    id: Option<String>,
    /// Delete the object.
    #[arg(long, requires = "id")]
    delete: bool,
    #[command(flatten)]
    confirmation: Confirmation,
}

impl Objects {
    pub(super) async fn run(self, client: &Client, format: Format) -> anyhow::Result<()> {
        let path = format!("/systems/{}/objects", self.system);
        if let (Some(kind), Some(id)) = (&self.kind, &self.id) {
            let path = format!("{path}/{kind}/{id}");
            let answer = client.look(&format!("looking at {kind} {id}"), &path, &[]).await?;
            if self.delete {
                self.confirmation.ask(&format!("{kind} {id} of {} is deleted", self.system))?;
                let doing = format!("deleting {kind} {id}");
                client.change(&doing, Method::DELETE, &path, None).await?;
                return output::print(&format!("{kind} {id} of {} is deleted\n", self.system));
            }
            return format.show(&answer, id, || format!("{answer:#}\n"));
        }
        let kind: Vec<_> = self.kind.map(|kind| ("kind", kind)).into_iter().collect();
        let answer = client.look("listing objects", &path, &kind).await?;
        let head = [Head::Fixed("KIND"), Head::Fixed("ID"), Head::Text("VALUE")];
        let layout = Layout { head: &head, name: "/id", empty: "there are none" };
        format.list(&answer, items(&answer["objects"]), &layout, cells(&["/kind", "/id", "/value"]))
    }
}
