//! Runtimes as CSV (RFC 4180): one row for each, below a header.
//!
//! What a reader would get wrong: quoting does not keep a spreadsheet from computing a value. One that begins like a formula gets an
//! apostrophe before it, which spreadsheets take for the mark of a text.

use jiff::Timestamp;

use super::Runtime;

const COLUMNS: [&str; 18] = [
    "name",
    "instanceID",
    "runtimeID",
    "globalAccountID",
    "subscriptionGlobalAccountID",
    "subAccountID",
    "region",
    "subAccountRegion",
    "shootName",
    "servicePlanName",
    "provider",
    "state",
    "createdAt",
    "modifiedAt",
    "expiredAt",
    "deletedAt",
    "userID",
    "kymaVersion",
];

/// The first characters of formulas, also in their wide forms.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// The header.
pub fn csv_head() -> String {
    let mut head = String::new();
    row(&mut head, &COLUMNS);
    head
}

/// A row for each runtime.
pub fn csv_rows(runtimes: &[Runtime]) -> String {
    let mut text = String::new();
    for runtime in runtimes {
        let status = &runtime.status;
        let time = |time: Option<Timestamp>| time.map(|it| it.to_string()).unwrap_or_default();
        let name = runtime.parameters.as_ref().map(|it| it.name.as_str());
        row(
            &mut text,
            &[
                name.unwrap_or_default(),
                &runtime.instance_id,
                &runtime.runtime_id,
                &runtime.global_account_id,
                &runtime.subscription_global_account_id,
                &runtime.sub_account_id,
                &runtime.region,
                &runtime.sub_account_region,
                &runtime.shoot_name,
                &runtime.service_plan_name,
                &runtime.provider,
                status.state,
                &status.created_at.to_string(),
                &status.modified_at.to_string(),
                &time(status.expired_at),
                &time(status.deleted_at),
                &runtime.user_id,
                runtime.kyma_version.as_deref().unwrap_or_default(),
            ],
        );
    }
    text
}

fn row(out: &mut String, fields: &[&str; COLUMNS.len()]) {
    for (at, value) in fields.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        field(out, value);
    }
    out.push_str("\r\n");
}

fn field(out: &mut String, value: &str) {
    let is_formula = value.trim_start_matches([' ', '\n']).starts_with(FORMULA);
    // Some spreadsheets separate with semicolons, and would find a formula behind one.
    if !is_formula && !value.contains(['"', ',', ';', '\r', '\n', '\t', '\'']) {
        out.push_str(value);
        return;
    }
    out.push('"');
    if is_formula {
        out.push('\'');
    }
    out.push_str(&value.replace('"', "\"\""));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use domain::parameters::Provisioning;

    use super::*;

    fn written(value: &str) -> String {
        let mut out = String::new();
        field(&mut out, value);
        out
    }

    #[test]
    fn separators_and_quotes_stay_inside_of_their_field() {
        for (value, expected) in [
            ("", ""),
            ("c-1234", "c-1234"),
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("a;b", "\"a;b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\r\nlines\""),
        ] {
            assert_eq!(written(value), expected, "{value:?}");
        }
    }

    #[test]
    fn no_value_is_a_formula() {
        for value in
            ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", "＝1", "=\"a\",\"b\""]
        {
            let written = written(value);
            assert!(written.starts_with("\"'") && written.ends_with('"'), "{written}");
            assert_eq!(written[2..written.len() - 1].replace("\"\"", "\""), value);
        }
    }

    #[test]
    fn a_row_has_a_field_for_each_column() {
        let row = csv_rows(&[Runtime::default()]);

        assert_eq!(row.matches(',').count(), COLUMNS.len() - 1);
        assert!(row.ends_with("\r\n") && row.matches("\r\n").count() == 1);
    }

    #[test]
    fn every_value_stands_below_its_name() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut runtime = Runtime {
            parameters: Some(Provisioning { name: "name".into(), ..Provisioning::default() }),
            instance_id: "instanceID".into(),
            runtime_id: "runtimeID".into(),
            global_account_id: "globalAccountID".into(),
            subscription_global_account_id: "subscriptionGlobalAccountID".into(),
            sub_account_id: "subAccountID".into(),
            region: "region".into(),
            sub_account_region: "subAccountRegion".into(),
            shoot_name: "shootName".into(),
            service_plan_name: "servicePlanName".into(),
            provider: "provider".into(),
            user_id: "userID".into(),
            kyma_version: Some("kymaVersion".into()),
            ..Runtime::default()
        };
        runtime.status.state = "state";
        runtime.status.created_at = at(1);
        runtime.status.modified_at = at(2);
        runtime.status.expired_at = Some(at(3));
        runtime.status.deleted_at = Some(at(4));

        let row = csv_rows(&[runtime]);

        let times = [("createdAt", 1), ("modifiedAt", 2), ("expiredAt", 3), ("deletedAt", 4)];
        let expected = times
            .iter()
            .fold(csv_head(), |head, (name, second)| head.replace(name, &at(*second).to_string()));
        assert_eq!(row, expected);
    }
}
