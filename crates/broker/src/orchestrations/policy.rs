//! The rules that restrict maintenance: by plan, region and account.
//!
//! They are JSON in a `ConfigMap`. The first rule that fits a runtime gives its window; what the rule does not say is the Shoot's own
//! time, and every day.

use regex::Regex;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::windows::{DayTime, Window, days};

/// All rules.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    rules: Vec<Rule>,
    default: Restriction,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Rule {
    #[serde(rename = "match")]
    fits: Fits,
    #[serde(flatten)]
    restriction: Restriction,
}

// A misspelt field would make the rule fit every runtime.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fits {
    #[serde(deserialize_with = "pattern")]
    plan: Option<Regex>,
    #[serde(rename = "globalAccountID", deserialize_with = "pattern")]
    global_account: Option<Regex>,
    #[serde(deserialize_with = "pattern")]
    region: Option<Regex>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Restriction {
    days: Vec<String>,
    time_begin: String,
    time_end: String,
    time_zone: Option<String>,
}

/// A runtime, as far as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Runtime<'a> {
    /// The name of its plan.
    pub plan: &'a str,
    /// Its global account.
    pub global_account: &'a str,
    /// The provider's region.
    pub region: &'a str,
}

/// A Shoot's own window: begin and end.
pub type ShootTimes = (String, String);

impl Policy {
    /// Reads the rules; everything in them is checked at once.
    pub fn read(text: &str) -> Result<Self, String> {
        let policy: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for restriction in
            policy.rules.iter().map(|rule| &rule.restriction).chain([&policy.default])
        {
            restriction.check()?;
        }
        Ok(policy)
    }

    /// The window of a runtime, and the reason why there is none.
    pub fn window(
        &self,
        runtime: &Runtime<'_>,
        shoot: Option<&ShootTimes>,
    ) -> Result<Window, String> {
        let rule = self.rules.iter().find(|rule| rule.fits.fit(runtime));
        let restriction = rule.map_or(&self.default, |rule| &rule.restriction);
        let time = |own: &str, shoots: Option<&String>| {
            if !own.is_empty() {
                return DayTime::read(own, restriction.time_zone.as_deref());
            }
            let shoots = shoots.ok_or("its Shoot has no maintenance window")?;
            DayTime::read(shoots, None)
        };
        let begin = time(&restriction.time_begin, shoot.map(|(begin, _)| begin))?;
        let end = time(&restriction.time_end, shoot.map(|(_, end)| end))?;
        Ok(Window::daily(begin, end).on(days(&restriction.days)?))
    }
}

impl Restriction {
    fn check(&self) -> Result<(), String> {
        for time in [&self.time_begin, &self.time_end] {
            if !time.is_empty() {
                DayTime::read(time, self.time_zone.as_deref())?;
            }
        }
        days(&self.days).map(drop)
    }
}

impl Fits {
    fn fit(&self, runtime: &Runtime<'_>) -> bool {
        let fits = |pattern: &Option<Regex>, text| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        fits(&self.plan, runtime.plan)
            && fits(&self.global_account, runtime.global_account)
            && fits(&self.region, runtime.region)
    }
}

/// A pattern; an empty one is none.
fn pattern<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Regex>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    Regex::new(&text).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"{
        "rules": [
            { "match": { "plan": "trial|free" }, "days": ["Mon", "Tue"] },
            { "match": { "region": "^europe|^eu-", "globalAccountID": "^big" },
              "days": ["Sat"], "timeBegin": "200000+0100", "timeEnd": "040000+0100" },
            { "match": { "region": "^eu-" }, "timeBegin": "220000", "timeEnd": "040000", "timeZone": "Europe/Berlin" }
        ],
        "default": { "days": ["Sun"], "timeBegin": "030000+0000" }
    }"#;

    #[test]
    fn the_first_rule_that_fits_gives_the_window() {
        let shoot = ("010000+0000".to_owned(), "050000+0000".to_owned());
        let policy = Policy::read(POLICY).unwrap();
        let table = [
            (("trial", "big", "eu-central-1"), "010000+0000 050000+0000 Mon Tue"),
            (("aws", "big-one", "eu-central-1"), "200000+0100 040000+0100 Sat"),
            (("azure", "big-one", "europe"), "200000+0100 040000+0100 Sat"),
            (("aws", "small", "eu-west-1"), "220000[Europe/Berlin] 040000[Europe/Berlin]"),
            (("aws", "small", "us-east-1"), "030000+0000 050000+0000 Sun"),
        ];

        for ((plan, global_account, region), expected) in table {
            let runtime = Runtime { plan, global_account, region };
            let window = policy.window(&runtime, Some(&shoot)).unwrap();

            assert_eq!(window.to_string(), expected, "{plan} {global_account} {region}");
        }
        let window = Policy::default()
            .window(&Runtime { plan: "", global_account: "", region: "" }, Some(&shoot));
        assert_eq!(window.unwrap().to_string(), "010000+0000 050000+0000");
    }

    #[test]
    fn without_times_there_is_no_window() {
        let runtime = Runtime { plan: "aws", global_account: "", region: "" };

        let none = Policy::default().window(&runtime, None);
        let bad = Policy::default().window(&runtime, Some(&("night".into(), String::new())));

        assert_eq!(none, Err("its Shoot has no maintenance window".into()));
        assert!(bad.unwrap_err().contains("\"night\" is no time of the day"));
    }

    #[test]
    fn a_policy_with_an_error_is_refused_as_a_whole() {
        let table = [
            (r#"{"rules": [{"match": {"plan": "("}}]}"#, "regex"),
            (r#"{"rules": [{"match": {"account": "big"}}]}"#, "unknown field `account`"),
            (r#"{"default": {"days": ["Monday"]}}"#, "\"Monday\" is no day"),
            (r#"{"rules": [{"timeBegin": "2200"}]}"#, "\"2200\" is no time"),
            (r#"{"rules": [{"timeBegin": "220000", "timeZone": "Middle/Earth"}]}"#, "no time zone"),
            ("rules: []", "expected value"),
        ];

        for (text, problem) in table {
            let error = Policy::read(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }
}
