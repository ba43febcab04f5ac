//! When a Shoot is hibernated and woken up: cron's five fields, in a place of the world.

use std::collections::BTreeSet;

use cluster::Cause;
use serde_json::Value;

use super::{list, text};

/// The fields of a schedule: what they are called, and their least and greatest number.
const FIELDS: [(&str, u32, u32); 5] = [
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 6),
];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/// Words for whole schedules.
const WORDS: [&str; 7] =
    ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Names what is wrong.
pub(super) fn check(shoot: &Value, causes: &mut Vec<Cause>) {
    let mut seen = BTreeSet::new();
    for (place, schedule) in list(shoot, "/spec/hibernation/schedules").iter().enumerate() {
        let field = format!("spec.hibernation.schedules[{place}]");
        if schedule["start"].is_null() && schedule["end"].is_null() {
            let why = "either start or end has to be provided";
            causes.push(Cause::required(format!("{field}.start/end"), why));
        }
        for key in ["start", "end"] {
            let Some(spec) = schedule[key].as_str() else { continue };
            let field = format!("{field}.{key}");
            if let Err(why) = parse(spec) {
                let why = format!("not a valid cron spec: {why}");
                causes.push(Cause::invalid(field, spec, &why));
            } else if !seen.insert(spec) {
                let message = format!("Duplicate value: {spec:?}");
                causes.push(Cause { reason: "FieldValueDuplicate", field, message });
            }
        }
        if let Some(zone) = text(schedule, "/location")
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            let why = format!("not a valid location: unknown time zone {zone}");
            causes.push(Cause::invalid(format!("{field}.location"), zone, &why));
        }
    }
}

fn parse(spec: &str) -> Result<(), String> {
    if spec.starts_with('@') {
        let every = spec.strip_prefix("@every ").and_then(super::duration::nanoseconds);
        return if WORDS.contains(&spec) || every.is_some() {
            Ok(())
        } else {
            Err(format!("Unrecognized descriptor: {spec}"))
        };
    }
    let fields: Vec<&str> = spec.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("Expected exactly 5 fields, found {}: {spec}", fields.len()));
    }
    for (written, (name, least, most)) in fields.into_iter().zip(FIELDS) {
        for part in written.split(',') {
            part_of(part, name, least, most)?;
        }
    }
    Ok(())
}

/// One of `*`, `3`, `1-5`, `mon`, each of them also with a step: `*/5`.
fn part_of(part: &str, name: &str, least: u32, most: u32) -> Result<(), String> {
    let wrong = || format!("Failed to parse {name} from {part}");
    let (range, step) =
        part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    if step.is_some_and(|step| !step.parse::<u32>().is_ok_and(|step| step > 0)) {
        return Err(wrong());
    }
    if range == "*" || range == "?" {
        return Ok(());
    }
    let number = |text: &str| {
        let names: &[&str] = match name {
            "month" => &MONTHS,
            "day of week" => &DAYS,
            _ => &[],
        };
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let named = named.and_then(|place| u32::try_from(place).ok()).map(|place| place + least);
        named.or_else(|| text.parse().ok())
    };
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if from < least || to > most {
        return Err(format!("{name} out of range ({least} - {most}): {part}"));
    }
    if from > to {
        Err(format!("Beginning of range ({from}) beyond end of range ({to}): {part}"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_those_of_cron() {
        for fine in ["00 20 * * *", "*/5 * * * 1,2", "0 6 * * MON-fri", "0 0 1 jan ?", "@daily"] {
            assert_eq!(parse(fine), Ok(()), "{fine}");
        }
        for wrong in ["", "foo", "99 20 * * *", "0 20 * * * *", "0 20 * * 8", "5-1 * * * *", "@foo"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
