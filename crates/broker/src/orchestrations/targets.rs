//! Which runtimes an orchestration is for: patterns and names, checked when they are asked for.

use domain::orchestration::{Target, Targets};
use regex::{Regex, RegexBuilder};

/// How large a compiled pattern may be: patterns come from outside.
const LARGEST: usize = 1 << 20;

/// A candidate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Candidate<'a> {
    /// The instance.
    pub instance: &'a str,
    /// The runtime.
    pub runtime_id: &'a str,
    /// Its global account.
    pub global_account: &'a str,
    /// Its subaccount.
    pub subaccount: &'a str,
    /// The provider's region.
    pub region: &'a str,
    /// The name of its plan.
    pub plan: &'a str,
    /// The name of its Shoot.
    pub shoot: &'a str,
    /// The version of Kyma in it; empty when that is not known.
    pub kyma_version: &'a str,
}

/// Targets that can be compared with runtimes.
#[derive(Debug)]
pub struct Matcher {
    include: Vec<Selector>,
    exclude: Vec<Selector>,
}

/// One target: everything that is given must fit.
#[derive(Debug)]
struct Selector {
    runtime_id: Option<String>,
    instance: Option<String>,
    plan: Option<String>,
    shoot: Option<String>,
    global_account: Option<Regex>,
    subaccount: Option<Regex>,
    region: Option<Regex>,
    kyma_version: Option<Regex>,
}

impl Matcher {
    /// Checks targets; says which field breaks which rule.
    pub fn read(targets: &Targets) -> Result<Self, String> {
        if targets.include.is_empty() {
            return Err("targets.include must name at least one target".into());
        }
        let read = |list: &[Target], name: &str| {
            let selectors = list.iter().enumerate();
            selectors
                .map(|(at, target)| Selector::read(target, &format!("targets.{name}[{at}]")))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Self {
            include: read(&targets.include, "include")?,
            exclude: read(&targets.exclude, "exclude")?,
        })
    }

    /// Which target a runtime is included by, the first of them; none when it is excluded or not meant.
    pub fn included_by(&self, candidate: &Candidate<'_>) -> Option<usize> {
        if self.exclude.iter().any(|selector| selector.fits(candidate)) {
            return None;
        }
        self.include.iter().position(|selector| selector.fits(candidate))
    }
}

impl Selector {
    fn read(target: &Target, field: &str) -> Result<Self, String> {
        if *target == Target::default() {
            return Err(format!("{field} is empty; all runtimes are {{\"target\": \"all\"}}"));
        }
        if !matches!(target.target.as_str(), "" | "all") {
            return Err(format!("{field}.target can only be \"all\", not {:?}", target.target));
        }
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let pattern = |text: &str, name: &str| -> Result<Option<Regex>, String> {
            if text.is_empty() {
                return Ok(None);
            }
            let read = RegexBuilder::new(text).size_limit(LARGEST).build();
            read.map(Some).map_err(|error| format!("{field}.{name} is no pattern: {error}"))
        };
        Ok(Self {
            runtime_id: given(&target.runtime_id),
            instance: given(&target.instance_id),
            plan: given(&target.plan_name),
            shoot: given(&target.shoot),
            global_account: pattern(&target.global_account, "globalAccount")?,
            subaccount: pattern(&target.sub_account, "subAccount")?,
            region: pattern(&target.region, "region")?,
            kyma_version: pattern(&target.kyma_version, "kymaVersion")?,
        })
    }

    fn fits(&self, it: &Candidate<'_>) -> bool {
        // A runtime's id says everything.
        if let Some(runtime_id) = &self.runtime_id {
            return runtime_id == it.runtime_id;
        }
        let is = |name: &Option<String>, text| name.as_ref().is_none_or(|name| name == text);
        let fits =
            |pattern: &Option<Regex>, text| pattern.as_ref().is_none_or(|it| it.is_match(text));
        is(&self.instance, it.instance)
            && is(&self.plan, it.plan)
            && is(&self.shoot, it.shoot)
            && fits(&self.global_account, it.global_account)
            && fits(&self.subaccount, it.subaccount)
            && fits(&self.region, it.region)
            && fits(&self.kyma_version, it.kyma_version)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const RUNTIME: Candidate<'_> = Candidate {
        instance: "i-1",
        runtime_id: "r-1",
        global_account: "CA0001",
        subaccount: "SA-x",
        region: "westeurope",
        plan: "azure",
        shoot: "c-3b8d4ae",
        kyma_version: "2.10.3",
    };

    fn matcher(include: &Value, exclude: &Value) -> Result<Matcher, String> {
        let targets = json!({ "include": include, "exclude": exclude });
        Matcher::read(&serde_json::from_value(targets).unwrap())
    }

    #[test]
    fn a_runtime_is_meant_by_everything_that_a_target_gives() {
        let table = [
            (json!({"target": "all"}), true),
            (json!({"globalAccount": "^CA"}), true),
            (json!({"globalAccount": "A000"}), true),
            (json!({"globalAccount": "^A"}), false),
            (json!({"subAccount": "-x$"}), true),
            (json!({"region": "europe|eu-"}), true),
            (json!({"region": "^us"}), false),
            (json!({"planName": "azure"}), true),
            (json!({"planName": "azure_lite"}), false),
            (json!({"planName": "azur"}), false),
            (json!({"shoot": "c-3b8d4ae"}), true),
            (json!({"shoot": "c-3b8d4a"}), false),
            (json!({"instanceID": "i-1"}), true),
            (json!({"instanceID": "i-2"}), false),
            (json!({"kymaVersion": r"^2\.10\."}), true),
            (json!({"kymaVersion": r"^2\.9\."}), false),
            (json!({"planName": "azure", "region": "^west"}), true),
            (json!({"planName": "azure", "region": "^east"}), false),
            // A runtime's id says everything.
            (json!({"runtimeID": "r-1", "planName": "aws"}), true),
            (json!({"runtimeID": "r-2", "planName": "azure"}), false),
            (json!({"target": "all", "planName": "aws"}), false),
        ];

        for (target, expected) in table {
            let found = matcher(&json!([target]), &json!([])).unwrap().included_by(&RUNTIME);
            assert_eq!(found.is_some(), expected, "{target}");
            let excluded = matcher(&json!([{"target": "all"}]), &json!([target])).unwrap();
            assert_eq!(excluded.included_by(&RUNTIME).is_none(), expected, "without {target}");
        }
    }

    #[test]
    fn the_first_target_that_fits_includes_a_runtime() {
        let include = json!([{"planName": "aws"}, {"region": "west"}, {"target": "all"}]);

        assert_eq!(matcher(&include, &json!([])).unwrap().included_by(&RUNTIME), Some(1));
    }

    #[test]
    fn what_cannot_be_compared_is_refused_by_name() {
        let table = [
            (json!([]), "targets.include must name at least one target"),
            (json!([{}]), "targets.include[0] is empty"),
            (
                json!([{"target": "all"}, {"target": "some"}]),
                "targets.include[1].target can only be \"all\", not \"some\"",
            ),
            (json!([{"globalAccount": "("}]), "targets.include[0].globalAccount is no pattern"),
            (json!([{"region": "["}]), "targets.include[0].region is no pattern"),
            (
                json!([{"subAccount": "a{1000}{1000}"}]),
                "targets.include[0].subAccount is no pattern",
            ),
        ];

        for (include, problem) in table {
            let error = matcher(&include, &json!([])).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
        }
        let error = matcher(&json!([{"target": "all"}]), &json!([{"region": "["}])).unwrap_err();
        assert!(error.starts_with("targets.exclude[0].region is no pattern"), "{error}");
    }
}
