//! Nothing of AWS and `OpenStack` can be changed by upgradeShoot.

use super::{
    super::samples::{self},
    refusal,
};

#[test]
fn nothing_can_be_changed_on_aws() {
    let aws = |change: fn(&mut crate::requests::AwsConfig)| {
        let mut made = samples::aws();
        let zones = &mut made.cluster.provider_config.aws.as_mut().unwrap().zones;
        zones.push(Some(samples::second_aws_zone()));
        refusal(made, |config| change(config.aws.as_mut().unwrap()))
    };

    let network = aws(|aws| aws.vpc_cidr = "10.250.0.0/15".into());
    let more = aws(|aws| aws.zones[1].as_mut().unwrap().name = "eu-central-1c".into());
    let fewer = aws(|aws| drop(aws.zones.pop()));
    let twice = aws(|aws| aws.zones[1] = aws.zones[0].clone());
    let again = aws(|aws| aws.zones.push(aws.zones[0].clone()));
    let null = aws(|aws| aws.zones[1] = None);
    let workers = aws(|aws| aws.zones[0].as_mut().unwrap().worker_cidr = "10.1.0.0/19".into());
    let internal = aws(|aws| aws.zones[0].as_mut().unwrap().internal_cidr = "10.1.0.0/20".into());
    let public = aws(|aws| aws.zones[0].as_mut().unwrap().public_cidr = "10.1.0.0/20".into());

    let text = "cannot be changed from \"10.250.0.0/16\" to \"10.250.0.0/15\"";
    assert_eq!(network, format!("@.awsConfig.vpcCidr {text}"));
    let text = "extension of shoot network zones is not supported";
    assert_eq!(more, text);
    assert_eq!(again, text);
    let text = "removal of shoot network zones is not supported";
    assert_eq!(fewer, text);
    assert_eq!(twice, text);
    assert_eq!(null, "@.awsConfig.awsZones[1] must not be null");
    let text = "cannot change shoot network zone";
    assert_eq!(workers, format!("{text} workers CIDR from 10.250.0.0/19 to 10.1.0.0/19"));
    assert_eq!(internal, format!("{text} internal CIDR from 10.250.48.0/20 to 10.1.0.0/20"));
    assert_eq!(public, format!("{text} public CIDR from 10.250.32.0/20 to 10.1.0.0/20"));
}

#[test]
fn nothing_can_be_changed_on_openstack() {
    let openstack = |change: fn(&mut crate::requests::OpenStackConfig)| {
        refusal(samples::openstack(), |config| change(config.open_stack.as_mut().unwrap()))
    };

    let zones = openstack(|openstack| openstack.zones.push("eu-de-1b".into()));
    let pool = openstack(|openstack| openstack.floating_pool_name = Some("other".into()));
    let profile = openstack(|openstack| openstack.cloud_profile_name = Some("other".into()));
    let balancer = openstack(|openstack| openstack.load_balancer_provider = "other".into());

    let text = "cannot be changed from";
    let at = "@.openStackConfig";
    assert_eq!(zones, format!("{at}.zones {text} \"eu-de-1a\" to \"eu-de-1a, eu-de-1b\""));
    let stored = "\"FloatingIP-external-kyma-01\"";
    assert_eq!(pool, format!("{at}.floatingPoolName {text} {stored} to \"other\""));
    let stored = "\"converged-cloud-kyma\"";
    assert_eq!(profile, format!("{at}.cloudProfileName {text} {stored} to \"other\""));
    assert_eq!(balancer, format!("{at}.loadBalancerProvider {text} \"f5\" to \"other\""));
}
