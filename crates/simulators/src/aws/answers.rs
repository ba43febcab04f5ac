//! Responses and refusals of EC2.

use axum::{
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};

use super::{
    Aws,
    access::Visitor,
    records::{Event, Volume, offering},
};
use crate::store;

const VERSION: &str = "2016-11-15";
const REQUEST: &str = "11111111-2222-4333-8444-555555555555";
const REGIONS: [&str; 20] = [
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ca-central-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-north-1",
    "eu-south-1",
    "eu-west-1",
    "eu-west-2",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "us-west-1",
    "us-west-2",
];

/// A refused request, and the reason.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, code, message: message.into() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (code, message) = (self.code, escaped(&self.message));
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>{code}</Code>\
             <Message>{message}</Message></Error></Errors><RequestID>{REQUEST}</RequestID></Response>"
        );
        (self.status, [(CONTENT_TYPE, "text/xml;charset=UTF-8")], body).into_response()
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "ec2 simulator: cannot store state");
        Self::new(500, "InternalError", "An internal error has occurred")
    }
}

/// The fields of the form.
struct Fields<'a>(&'a [(String, String)]);

impl Fields<'_> {
    fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    fn required(&self, name: &str) -> Result<&str, Refusal> {
        self.one(name).ok_or_else(|| {
            let said = format!("The request must contain the parameter {name}");
            Refusal::new(400, "MissingParameter", said)
        })
    }
}

impl Aws {
    pub(super) fn answer(
        &self,
        headers: &HeaderMap,
        fields: &[(String, String)],
    ) -> Result<Response, Refusal> {
        let visitor = self.enter(headers)?;
        self.settle()?;
        let fields = Fields(fields);
        if fields.one("Version") != Some(VERSION) {
            let said = "The requested version of the service is not valid";
            return Err(Refusal::new(400, "NoSuchVersion", said));
        }
        let action = fields.required("Action")?.to_owned();
        if self.known.read(|known| known.forbidden.contains(&action)) {
            let said = "You are not authorized to perform this operation.";
            return Err(Refusal::new(403, "UnauthorizedOperation", said));
        }
        let closed = self.known.read(|known| {
            let own = known.closed.iter().filter(|(key, _)| *key == visitor.key);
            own.map(|(_, region)| region.clone()).collect::<Vec<_>>()
        });
        if closed.contains(&visitor.region) {
            let said = "You are not subscribed to this service. Please go to http://aws.amazon.com to subscribe.";
            return Err(Refusal::new(401, "OptInRequired", said));
        }
        let inside = match action.as_str() {
            "DescribeRegions" => regions(&visitor.region, &closed),
            "DescribeVolumes" => self.volumes(&visitor, &fields)?,
            "DeleteVolume" => self.delete_volume(&visitor, fields.required("VolumeId")?)?,
            "DescribeInstanceTypeOfferings" => self.offerings(&visitor, &fields)?,
            _ => {
                let said = format!("The action {action} is not valid for this web service.");
                return Err(Refusal::new(400, "InvalidAction", said));
            }
        };
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{action}Response \
             xmlns=\"http://ec2.amazonaws.com/doc/{VERSION}/\">\n<requestId>{REQUEST}</requestId>\
             {inside}</{action}Response>"
        );
        Ok(([(CONTENT_TYPE, "text/xml;charset=UTF-8")], body).into_response())
    }

    fn volumes(&self, visitor: &Visitor, fields: &Fields<'_>) -> Result<String, Refusal> {
        let all: Vec<String> = self.known.read(|known| {
            let own = known
                .volumes
                .iter()
                .filter(|(_, volume)| volume.key == visitor.key && volume.region == visitor.region);
            own.map(|(id, volume)| shown(id, volume)).collect()
        });
        self.paged("volumeSet", &all, fields)
    }

    fn offerings(&self, visitor: &Visitor, fields: &Fields<'_>) -> Result<String, Refusal> {
        if fields.required("LocationType")? != "availability-zone"
            || fields.required("Filter.1.Name")? != "instance-type"
        {
            return Err(Refusal::new(400, "InvalidParameterValue", "The filter is not valid"));
        }
        let machine = fields.required("Filter.1.Value.1")?;
        let region = &visitor.region;
        let usual = || ["a", "b", "c"].map(|zone| format!("{region}{zone}")).to_vec();
        let zones =
            self.known.read(|known| known.offerings.get(&offering(region, machine)).cloned());
        let machine = escaped(machine);
        let all: Vec<String> = zones
            .unwrap_or_else(usual)
            .iter()
            .map(|zone| {
                format!(
                    "<item><instanceType>{machine}</instanceType><location>{zone}</location>\
             <locationType>availability-zone</locationType></item>"
                )
            })
            .collect();
        self.paged("instanceTypeOfferingSet", &all, fields)
    }

    fn delete_volume(&self, visitor: &Visitor, id: &str) -> Result<String, Refusal> {
        let at = self.clock.now();
        self.known.change(|known| {
            let volume = known
                .volumes
                .get(id)
                .filter(|volume| volume.key == visitor.key && volume.region == visitor.region);
            let volume = volume.ok_or_else(|| {
                let said = format!("The volume '{id}' does not exist.");
                Refusal::new(400, "InvalidVolume.NotFound", said)
            })?;
            if volume.in_use {
                let said = format!("Volume {id} is currently attached to i-0123456789abcdef0");
                return Err(Refusal::new(400, "VolumeInUse", said));
            }
            if volume.cursed {
                return Err(Refusal::new(500, "InternalError", "An internal error has occurred"));
            }
            Ok((Some(Event::VolumeDeleting { id: id.into(), at }), ()))
        })?;
        Ok("<return>true</return>".into())
    }

    /// A page of items, and the token of the next.
    fn paged(&self, list: &str, all: &[String], fields: &Fields<'_>) -> Result<String, Refusal> {
        let number = |name: &str| {
            let number = fields.one(name).map(str::parse::<usize>).transpose();
            let said = format!("Value for parameter {name} is invalid");
            number.map_err(|_| Refusal::new(400, "InvalidParameterValue", said))
        };
        let most = self.known.read(|known| known.page).unwrap_or(self.settings.page).max(1);
        let size = number("MaxResults")?.map_or(most, |wanted| wanted.min(most)).max(1);
        let skip = number("NextToken")?.unwrap_or(0);
        let items: String = all.iter().skip(skip).take(size).map(String::as_str).collect();
        let next = skip.saturating_add(size);
        let token =
            if next < all.len() { format!("<nextToken>{next}</nextToken>") } else { String::new() };
        Ok(format!("<{list}>{items}</{list}>{token}"))
    }
}

/// The regions of the partition that an account is in, but for those that are closed to it: those of China and of the US government are apart.
fn regions(own: &str, closed: &[String]) -> String {
    let partition = |region: &str| match region.split('-').next() {
        Some("cn") => ("cn", "amazonaws.com.cn"),
        Some("us") if region.starts_with("us-gov-") => ("gov", "amazonaws.com"),
        _ => ("", "amazonaws.com"),
    };
    let domain = partition(own).1;
    let same = REGIONS.iter().filter(|region| partition(region).0 == partition(own).0);
    let items: Vec<String> = same
        .filter(|name| !closed.iter().any(|closed| closed == *name))
        .map(|name| format!(
            "<item><regionName>{name}</regionName><regionEndpoint>ec2.{name}.{domain}</regionEndpoint></item>"
        ))
        .collect();
    format!("<regionInfo>{}</regionInfo>", items.concat())
}

fn shown(id: &str, volume: &Volume) -> String {
    let status = match (volume.deleting_since, volume.in_use) {
        (Some(_), _) => "deleting",
        (None, true) => "in-use",
        (None, false) => "available",
    };
    let (id, region) = (escaped(id), escaped(&volume.region));
    format!(
        "<item><volumeId>{id}</volumeId><size>20</size><availabilityZone>{region}a</availabilityZone>\
         <status>{status}</status><attachmentSet/><volumeType>gp3</volumeType></item>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
