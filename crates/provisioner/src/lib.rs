//! The runtime provisioner: Shoots from requests.
