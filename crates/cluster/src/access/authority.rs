//! Our own certificate authority, made at first start and kept in the data folder.

use std::{fs, io, path::Path, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use super::Identity;

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Signs certificates for the server and for clients.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The authority's own certificate, as PEM.
    pub(crate) certificate: String,
    server: Pair,
}

impl Authority {
    /// Opens the authority in `folder`, or makes one. `names` are what clients will call the server.
    pub(crate) fn open(folder: &Path, names: &[String]) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let key = kept(folder, "ca.key", || Ok(generate()?.serialize_pem()))?;
        let key = KeyPair::from_pem(&key).map_err(io::Error::other)?;
        let certificate = kept(folder, "ca.crt", || {
            Ok(params("kcp cluster CA", true)?.self_signed(&key).map_err(io::Error::other)?.pem())
        })?;
        let issuer = Issuer::new(params("kcp cluster CA", true)?, key);
        let key = kept(folder, "server.key", || Ok(generate()?.serialize_pem()))?;
        let server_key = KeyPair::from_pem(&key).map_err(io::Error::other)?;
        let signed = kept(folder, &format!("server-{}.crt", names.join("_")), || {
            let mut server = params("kcp cluster", false)?;
            server.subject_alt_names =
                CertificateParams::new(names.to_vec()).map_err(io::Error::other)?.subject_alt_names;
            server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            Ok(server.signed_by(&server_key, &issuer).map_err(io::Error::other)?.pem())
        })?;
        Ok(Self { issuer, certificate, server: Pair { certificate: signed, key } })
    }

    /// A certificate that says who its owner is, for one cluster and until a time. It carries the
    /// first group only.
    pub(crate) fn client(
        &self,
        cluster: &str,
        who: &Identity,
        (from, until): (Timestamp, Timestamp),
    ) -> io::Result<Pair> {
        let key = generate()?;
        let mut client = params(&who.user, false)?;
        if let Some(group) = who.groups.first() {
            client.distinguished_name.push(DnType::OrganizationName, group.as_str());
        }
        client.distinguished_name.push(DnType::OrganizationalUnitName, cluster);
        let at = |time: Timestamp| {
            let seconds = u64::try_from(time.as_second()).unwrap_or(0);
            date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds)
        };
        client.not_before = at(from);
        client.not_after = at(until);
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = client.signed_by(&key, &self.issuer).map_err(io::Error::other)?.pem();
        Ok(Pair { certificate, key: key.serialize_pem() })
    }

    /// The authority's own certificate, for rustls.
    pub(crate) fn root(&self) -> io::Result<CertificateDer<'static>> {
        CertificateDer::from_pem_slice(self.certificate.as_bytes()).map_err(io::Error::other)
    }

    /// The server's certificate and key, for rustls.
    pub(crate) fn server(
        &self,
    ) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let pem = self.server.certificate.as_bytes();
        let certificate = CertificateDer::from_pem_slice(pem).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from_pem_slice(self.server.key.as_bytes());
        Ok((vec![certificate], key.map_err(io::Error::other)?))
    }

    /// The authority's certificate as kubeconfigs carry it.
    pub(crate) fn data(&self) -> String {
        STANDARD.encode(&self.certificate)
    }
}

fn generate() -> io::Result<KeyPair> {
    KeyPair::generate().map_err(io::Error::other)
}

/// Valid for as long as anybody will run this: a simulated clock may say anything.
fn params(name: &str, authority: bool) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(2100, 1, 1);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = !authority;
    if authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    }
    Ok(params)
}

/// The file's content; made first if it is not there.
pub(crate) fn kept(
    folder: &Path,
    name: &str,
    make: impl FnOnce() -> io::Result<String>,
) -> io::Result<String> {
    let path = folder.join(name);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let content = make()?;
    let unfinished = folder.join(format!("{name}.unfinished"));
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.create(true).truncate(true).write(true).open(&unfinished)?;
    io::Write::write_all(&mut file, content.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, &path)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::der::subject;

    #[test]
    fn what_is_signed_can_be_read_back_and_the_authority_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path(), &["localhost".to_owned()]).unwrap();
        let from: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let until: Timestamp = "2061-01-02T12:00:00Z".parse().unwrap();

        let pair = authority.client("uid-1", &Identity::admin("me"), (from, until)).unwrap();
        let again = Authority::open(folder.path(), &["localhost".to_owned()]).unwrap();

        let der = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
        let subject = subject(&der).unwrap();
        assert_eq!((subject.user.as_str(), subject.cluster.as_str()), ("me", "uid-1"));
        assert_eq!(subject.groups, ["system:masters"]);
        assert_eq!((subject.valid_from, subject.valid_until), (from, until));
        assert_eq!(again.certificate, authority.certificate);
    }
}
