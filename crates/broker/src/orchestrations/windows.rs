//! Maintenance windows: when a runtime may be upgraded.
//!
//! What a reader would get wrong: a window belongs to the day on which it opens, in its own zone. One that opens on Monday at 22:00
//! and closes at 04:00 is open on Tuesday at 03:00, also when Tuesday is not among its days.

use std::{fmt, str::FromStr};

use jiff::{
    Timestamp, ToSpan as _, Zoned,
    civil::{Date, Time, Weekday},
    tz::{Offset, TimeZone},
};

/// How many days ahead a window is looked for: every day of the week comes up twice, because a change of the clocks may leave the
/// window of one day out.
const AHEAD: i32 = 15;
/// The days, in the words of the policy.
const DAYS: [(&str, Weekday); 7] = [
    ("Mon", Weekday::Monday),
    ("Tue", Weekday::Tuesday),
    ("Wed", Weekday::Wednesday),
    ("Thu", Weekday::Thursday),
    ("Fri", Weekday::Friday),
    ("Sat", Weekday::Saturday),
    ("Sun", Weekday::Sunday),
];

/// From when until when, on which days.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    begin: DayTime,
    end: DayTime,
    /// None stands for all of them.
    days: Vec<Weekday>,
}

/// One opening of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// From then on.
    pub begin: Timestamp,
    /// Until then.
    pub end: Timestamp,
}

impl Opening {
    /// Whether something may start now.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.begin <= now && now < self.end
    }
}

impl Window {
    /// A window of every day.
    pub fn daily(begin: DayTime, end: DayTime) -> Self {
        Self { begin, end, days: Vec::new() }
    }

    /// The same on these days only; none stands for all of them.
    #[must_use]
    pub fn on(self, days: Vec<Weekday>) -> Self {
        Self { days, ..self }
    }

    /// The opening that is going on, or the next one. None when time itself ends before it.
    pub fn open_or_next(&self, now: Timestamp) -> Option<Opening> {
        let today = now.to_zoned(self.begin.zone.clone()).date();
        // The one of yesterday may still be open.
        (-1..=AHEAD).find_map(|ahead| {
            let date = today.checked_add(ahead.days()).ok()?;
            let opens = self.days.is_empty() || self.days.contains(&date.weekday());
            self.opening(date).filter(|opening| opens && opening.end > now)
        })
    }

    fn opening(&self, date: Date) -> Option<Opening> {
        let begin = self.begin.on(date)?.timestamp();
        // The first end behind the beginning; zones are up to 26 hours apart.
        let mut closes = date.checked_sub(2.days()).ok()?;
        let mut end = self.end.on(closes)?.timestamp();
        while end <= begin {
            // Left out by a change of the clocks: there is no opening on that day.
            let same_day = self.begin.zone == self.end.zone && self.begin.time < self.end.time;
            if closes == date && same_day {
                return None;
            }
            closes = closes.tomorrow().ok()?;
            end = self.end.on(closes)?.timestamp();
        }
        Some(Opening { begin, end })
    }
}

/// A time of the day in a zone, written `HHMMSS±hhmm`, or `HHMMSS` and the name of a zone in brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct DayTime {
    time: Time,
    zone: TimeZone,
}

impl DayTime {
    /// Reads `HHMMSS±hhmm`; with the name of a zone, `HHMMSS` is enough.
    pub fn read(text: &str, zone: Option<&str>) -> Result<Self, String> {
        let bad = || format!("\"{text}\" is no time of the day such as 220000+0100");
        let (time, rest) = text.split_at_checked(6).ok_or_else(bad)?;
        let time = Time::strptime("%H%M%S", time).map_err(|_| bad())?;
        let zone = match (rest, zone) {
            ("", Some(name)) => {
                TimeZone::get(name).map_err(|_| format!("\"{name}\" is no time zone"))?
            }
            _ => TimeZone::fixed(offset(rest).ok_or_else(bad)?),
        };
        Ok(Self { time, zone })
    }

    fn on(&self, date: Date) -> Option<Zoned> {
        date.to_datetime(self.time).to_zoned(self.zone.clone()).ok()
    }
}

/// Reads `±hhmm`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    if digits.len() != 4 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (minutes < 60).then(|| Offset::from_seconds(sign * (hours * 60 + minutes) * 60).ok())?
}

/// Reads the days of a policy: `Mon` to `Sun`.
pub fn days(words: &[String]) -> Result<Vec<Weekday>, String> {
    let day = |word: &String| {
        let known = DAYS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, day)| *day).ok_or_else(|| format!("\"{word}\" is no day such as Mon"))
    };
    words.iter().map(day).collect()
}

impl fmt::Display for DayTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.time.strftime("%H%M%S"))?;
        match (self.zone.to_fixed_offset(), self.zone.iana_name()) {
            (Err(_), Some(name)) => write!(f, "[{name}]"),
            (offset, _) => {
                let seconds = offset.map_or(0, Offset::seconds);
                let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
                write!(f, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

impl FromStr for DayTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((time, zone)) => Self::read(time, Some(zone)),
            None => Self::read(text, None),
        }
    }
}

/// As it is stored with a runtime: begin, end and days, with spaces between them.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.begin, self.end)?;
        for (name, _) in DAYS.iter().filter(|(_, day)| self.days.contains(day)) {
            write!(f, " {name}")?;
        }
        Ok(())
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(' ');
        let mut time = || words.next().unwrap_or_default().parse::<DayTime>();
        let (begin, end) = (time()?, time()?);
        let named: Vec<String> = words.map(str::to_owned).collect();
        Ok(Self::daily(begin, end).on(days(&named)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    // 2026-01-05 is a Monday. Berlin changes its clocks on 2026-03-29 and 2026-10-25.
    const TABLE: &[(&str, &str, &str, &str)] = &[
        // Before, at, in and after a window of the same day.
        (
            "010000+0000 050000+0000",
            "2026-01-05T00:59:59Z",
            "2026-01-05T01:00:00Z",
            "2026-01-05T05:00:00Z",
        ),
        (
            "010000+0000 050000+0000",
            "2026-01-05T01:00:00Z",
            "2026-01-05T01:00:00Z",
            "2026-01-05T05:00:00Z",
        ),
        (
            "010000+0000 050000+0000",
            "2026-01-05T04:59:59Z",
            "2026-01-05T01:00:00Z",
            "2026-01-05T05:00:00Z",
        ),
        (
            "010000+0000 050000+0000",
            "2026-01-05T05:00:00Z",
            "2026-01-06T01:00:00Z",
            "2026-01-06T05:00:00Z",
        ),
        // Over midnight, before and after it.
        (
            "220000+0000 020000+0000",
            "2026-01-05T23:00:00Z",
            "2026-01-05T22:00:00Z",
            "2026-01-06T02:00:00Z",
        ),
        (
            "220000+0000 020000+0000",
            "2026-01-06T01:00:00Z",
            "2026-01-05T22:00:00Z",
            "2026-01-06T02:00:00Z",
        ),
        (
            "220000+0000 020000+0000",
            "2026-01-06T02:00:00Z",
            "2026-01-06T22:00:00Z",
            "2026-01-07T02:00:00Z",
        ),
        // Its day is the one on which it opens.
        (
            "220000+0000 020000+0000 Mon",
            "2026-01-06T01:00:00Z",
            "2026-01-05T22:00:00Z",
            "2026-01-06T02:00:00Z",
        ),
        (
            "220000+0000 020000+0000 Tue",
            "2026-01-06T01:00:00Z",
            "2026-01-06T22:00:00Z",
            "2026-01-07T02:00:00Z",
        ),
        // Several days, and the same day of the next week.
        (
            "010000+0000 050000+0000 Sat Sun",
            "2026-01-05T03:00:00Z",
            "2026-01-10T01:00:00Z",
            "2026-01-10T05:00:00Z",
        ),
        (
            "010000+0000 050000+0000 Sat Sun",
            "2026-01-10T05:00:00Z",
            "2026-01-11T01:00:00Z",
            "2026-01-11T05:00:00Z",
        ),
        (
            "010000+0000 050000+0000 Mon",
            "2026-01-05T06:00:00Z",
            "2026-01-12T01:00:00Z",
            "2026-01-12T05:00:00Z",
        ),
        // Zones: it is Tuesday there already, or Sunday still.
        (
            "010000+0900 030000+0900 Tue",
            "2026-01-05T16:30:00Z",
            "2026-01-05T16:00:00Z",
            "2026-01-05T18:00:00Z",
        ),
        (
            "200000-0800 230000-0800 Sun",
            "2026-01-05T05:00:00Z",
            "2026-01-05T04:00:00Z",
            "2026-01-05T07:00:00Z",
        ),
        (
            "003000+0530 043000+0530",
            "2026-01-05T20:00:00Z",
            "2026-01-05T19:00:00Z",
            "2026-01-05T23:00:00Z",
        ),
        // Begin and end in two zones.
        (
            "220000+0000 040000+0200",
            "2026-01-05T23:00:00Z",
            "2026-01-05T22:00:00Z",
            "2026-01-06T02:00:00Z",
        ),
        // An offset knows no summer; a zone keeps the time of the day when the clocks change.
        (
            "020000+0100 040000+0100",
            "2026-07-01T00:00:00Z",
            "2026-07-01T01:00:00Z",
            "2026-07-01T03:00:00Z",
        ),
        (
            "040000[Europe/Berlin] 060000[Europe/Berlin]",
            "2026-03-28T12:00:00Z",
            "2026-03-29T02:00:00Z",
            "2026-03-29T04:00:00Z",
        ),
        (
            "040000[Europe/Berlin] 060000[Europe/Berlin]",
            "2026-10-24T12:00:00Z",
            "2026-10-25T03:00:00Z",
            "2026-10-25T05:00:00Z",
        ),
        // An hour that is left out, and one that comes twice.
        (
            "023000[Europe/Berlin] 050000[Europe/Berlin]",
            "2026-03-28T23:00:00Z",
            "2026-03-29T01:30:00Z",
            "2026-03-29T03:00:00Z",
        ),
        (
            "010000[Europe/Berlin] 040000[Europe/Berlin]",
            "2026-10-24T22:30:00Z",
            "2026-10-24T23:00:00Z",
            "2026-10-25T03:00:00Z",
        ),
        // A window that a change of the clocks leaves out does not open on that day.
        (
            "020000[Europe/Berlin] 030000[Europe/Berlin]",
            "2026-03-29T00:30:00Z",
            "2026-03-30T00:00:00Z",
            "2026-03-30T01:00:00Z",
        ),
        // Not even when that is its only day of the week.
        (
            "020000[Europe/Berlin] 030000[Europe/Berlin] Sun",
            "2026-03-23T12:00:00Z",
            "2026-04-05T00:00:00Z",
            "2026-04-05T01:00:00Z",
        ),
        // Ends of other zones: the first one behind the beginning.
        (
            "060000+0900 230000+0000",
            "2026-01-05T22:00:00Z",
            "2026-01-05T21:00:00Z",
            "2026-01-05T23:00:00Z",
        ),
        // The same time twice is a whole day.
        (
            "120000+0000 120000+0000",
            "2026-01-05T11:00:00Z",
            "2026-01-04T12:00:00Z",
            "2026-01-05T12:00:00Z",
        ),
    ];

    #[test]
    fn the_open_window_or_the_next_one_is_found() {
        for (window, now, begin, end) in TABLE {
            let found = window.parse::<Window>().unwrap().open_or_next(at(now));

            let expected = Opening { begin: at(begin), end: at(end) };
            assert_eq!(found, Some(expected), "{window} at {now}");
        }
    }

    #[test]
    fn after_an_outage_of_days_the_next_window_lies_ahead() {
        let window: Window = "220000+0000 020000+0000 Mon".parse().unwrap();

        let found = window.open_or_next(at("2026-02-06T12:00:00Z")).unwrap();

        assert_eq!(found.begin, at("2026-02-09T22:00:00Z"));
        assert!(!found.is_open(at("2026-02-06T12:00:00Z")) && found.is_open(found.begin));
        assert!(!found.is_open(found.end));
    }

    #[test]
    fn windows_are_read_as_they_are_written() {
        for text in ["220000+0530 020000-0800 Mon Sun", "040000[Europe/Berlin] 060000+0000"] {
            assert_eq!(text.parse::<Window>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "2200+0000 020000+0000",
            "220000 020000",
            "250000+0000 010000+0000",
            "220000+0000 020000+0000 Monday",
            "220000+00x0 020000+0000",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }
}
