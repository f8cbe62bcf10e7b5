//! The definition of a setting, from which audits, profiles, lists and docs are made.

use std::borrow::Cow;

use super::SettingReading;
use crate::name::did_you_mean;
use crate::param::{Kind, Value};
use crate::shell::quoted;
use crate::units::{Bytes, Nanos};

/// The word for "no limit" in readings and profiles.
pub const UNLIMITED: &str = "unlimited";

/// The definition of a host setting.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SettingAbout {
    /// `family.name`. A network setting has its sysctl(8) name, where there is one.
    pub id: &'static str,
    /// Title of a few words, for lists.
    pub title: &'static str,
    /// Why the setting matters, and which measurements it affects.
    pub doc: &'static str,
    /// Type and range of a value.
    pub kind: Kind,
    /// Unit of a count, for example `packets`; empty where it is obvious.
    pub unit: &'static str,
    /// Names of the values of a setting with several, in order; empty for one value.
    pub fields: &'static [&'static str],
    /// How the system writes [`UNLIMITED`], where the setting can be unlimited.
    pub unlimited: Option<&'static str>,
    /// Kind of subject: `node`, `nic`.
    pub subject: &'static str,
    /// Facts of readings besides `kind`, by which a profile selects subjects.
    pub facts: &'static [&'static str],
    /// Where the setting is read.
    pub source: &'static str,
    /// Commands that change it; the first one that fits a reading counts, and an empty list means that it cannot be
    /// changed at run time.
    pub apply: &'static [ApplyCommand],
    /// Privilege that a change needs.
    pub privilege: Privilege,
    /// What to do where no command changes the setting; empty where nothing is known.
    pub remedy: &'static str,
    /// Side effects of a change, how to undo it, and what else sets it.
    pub traps: &'static str,
}

/// A command that changes a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ApplyCommand {
    /// The fact `by` of the readings that the command is for; empty for every reading.
    pub by: &'static str,
    /// The command: `{value}` stands for the value as the system writes it, `{name}` for the name of the subject. Empty
    /// where `file` says all: then the command writes the file, by sysctl(8) or `echo`.
    pub command: &'static str,
    /// The file by which Seatrial itself writes the value, `*` for each of several; empty where only the command sets it.
    pub file: &'static str,
    /// Words of the system for values that are written differently here: of the command, and of the file where it has
    /// no command of its own.
    pub words: &'static [(&'static str, &'static str)],
}

/// Privilege that a change of a setting needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Privilege {
    /// No privilege.
    None,
    /// Root.
    Root,
    /// The capability `CAP_NET_ADMIN`.
    NetAdmin,
}

impl Privilege {
    /// The privilege in words.
    pub const fn words(self) -> &'static str {
        match self {
            Privilege::None => "none",
            Privilege::Root => "root",
            Privilege::NetAdmin => "root or CAP_NET_ADMIN",
        }
    }
}

/// The file that takes the place of [`ApplyCommand::SOURCE`].
const SOURCE: &str = "{source}";

/// Values with the words of the system for them.
type Words = &'static [(&'static str, &'static str)];

/// A file, and the text that sets a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFile {
    /// Path on the live system; `*` stands for each of several.
    pub path: String,
    /// The value as the system writes it.
    pub text: String,
}

impl ApplyCommand {
    /// The file that the setting is read from is written.
    pub const SOURCE: Self = Self::file(SOURCE);

    /// A command for every reading, which a person types.
    pub const fn always(command: &'static str) -> Self {
        Self { by: "", command, file: "", words: &[] }
    }

    /// A file for every reading.
    pub const fn file(file: &'static str) -> Self {
        Self { by: "", command: "", file, words: &[] }
    }

    fn fits(&self, reading: &SettingReading) -> bool {
        self.by.is_empty() || reading.facts.text("by") == Ok(self.by)
    }
}

impl SettingAbout {
    /// Number of values.
    pub fn count(&self) -> usize {
        self.fields.len().max(1)
    }

    /// Whether values are ordered, so that one can be more than another.
    pub fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Count(..) | Kind::Number(..) | Kind::Size(..) | Kind::Time(..))
    }

    /// Parses one value as typed; an error is a fragment that follows "setting X: ".
    pub fn parse(&self, typed: &str) -> Result<Value, String> {
        let typed = typed.trim();
        if self.unlimited.is_some_and(|raw| typed == UNLIMITED || typed == raw) {
            return Ok(Value::from(UNLIMITED));
        }
        self.kind.parse(typed).map_err(|why| match self.unlimited {
            Some(_) => {
                let near = crate::name::nearest(typed, [UNLIMITED]).map(str::to_owned);
                format!("{why}; '{UNLIMITED}' is allowed too{}", did_you_mean(&near))
            }
            None => why,
        })
    }

    /// Splits a text with all values, at blanks as sysctl(8) or at commas.
    pub fn split<'t>(&self, typed: &'t str) -> Vec<&'t str> {
        match (self.count(), typed.contains(',')) {
            (1, _) => vec![typed.trim()],
            (_, true) => typed.split(',').map(str::trim).collect(),
            (_, false) => typed.split_whitespace().collect(),
        }
    }

    /// Several values as one, in the form of readings.
    pub fn join(values: &[Value]) -> Value {
        match values {
            [one] => one.clone(),
            some => Value::Text(some.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// The command that changes `reading` to `wanted`, if one is known.
    pub fn command(&self, reading: &SettingReading, wanted: &Value) -> Option<String> {
        let (apply, name, text) = self.way(reading, wanted, |apply| apply.words)?;
        Some(self.template(apply).replace("{name}", &quoted(name)).replace("{value}", &quoted(&text)))
    }

    /// The file that changes `reading` to `wanted`; `None` where a person has to type the command.
    pub fn file(&self, reading: &SettingReading, wanted: &Value) -> Option<SettingFile> {
        let (apply, name, text) =
            self.way(reading, wanted, |apply| if apply.command.is_empty() { apply.words } else { &[] })?;
        let path = self.path(apply).replace("{name}", name);
        (!path.is_empty()).then_some(SettingFile { path, text })
    }

    /// The way that fits `reading`, the name of its subject, and `wanted` as the system writes it.
    fn way<'r>(
        &self,
        reading: &'r SettingReading,
        wanted: &Value,
        words: fn(&ApplyCommand) -> Words,
    ) -> Option<(&'static ApplyCommand, &'r str, String)> {
        let apply = self.apply.iter().find(|apply| apply.fits(reading))?;
        let name = reading.subject.as_str().split_once(':').map_or("", |(_, name)| name);
        let values = wanted.to_string();
        let raw: Vec<_> =
            self.split(&values).into_iter().map(|value| self.raw(words(apply), value)).collect();
        Some((apply, name, raw.join(" ")))
    }

    /// The file of `apply` with `{name}` in it; empty where only the command sets the value.
    pub fn path(&self, apply: &ApplyCommand) -> &'static str {
        if apply.file == SOURCE { self.source } else { apply.file }
    }

    /// The command of `apply` with `{value}` and `{name}` in it.
    pub fn template(&self, apply: &ApplyCommand) -> Cow<'static, str> {
        let path = self.path(apply);
        if !apply.command.is_empty() {
            Cow::Borrowed(apply.command)
        } else if let Some(name) = path.strip_prefix("/proc/sys/") {
            Cow::Owned(format!("sysctl -w {}={{value}}", name.replace('/', ".")))
        } else if path.contains('*') {
            Cow::Owned(format!("echo {{value}} | tee {path}"))
        } else {
            Cow::Owned(format!("echo {{value}} > {path}"))
        }
    }

    /// The commands with placeholders, for docs, each with a remark on how the value is written.
    pub fn commands(&self) -> impl Iterator<Item = (String, String)> {
        let fields: Vec<String> = self.fields.iter().map(|field| field.to_uppercase()).collect();
        let open = if fields.is_empty() { "VALUE".to_owned() } else { format!("'{}'", fields.join(" ")) };
        self.apply.iter().map(move |apply| {
            let template = self.template(apply);
            let command = template.replace("{name}", "NAME").replace("{value}", &open);
            (command, if template.contains("{value}") { self.spelling(apply) } else { String::new() })
        })
    }

    /// How the command wants the value to be written.
    fn spelling(&self, apply: &ApplyCommand) -> String {
        let mut words: Vec<String> = match self.kind {
            Kind::Size(..) => vec!["in bytes".to_owned()],
            Kind::Time(..) => vec!["in microseconds".to_owned()],
            Kind::Flag => {
                ["true", "false"].map(|flag| format!("{} for {flag}", self.raw(apply.words, flag))).into()
            }
            _ => Vec::new(),
        };
        words.extend(
            self.unlimited.filter(|raw| *raw != UNLIMITED).map(|raw| format!("{raw} for {UNLIMITED}")),
        );
        words.join(", ")
    }

    /// The value as the system writes it: sizes in bytes, times in microseconds, flags as 1 and 0.
    fn raw<'v>(&self, words: Words, value: &'v str) -> Cow<'v, str> {
        if let Some((_, word)) = words.iter().find(|(known, _)| *known == value) {
            return Cow::Borrowed(word);
        }
        if let (UNLIMITED, Some(raw)) = (value, self.unlimited) {
            return Cow::Borrowed(raw);
        }
        let number = match self.kind {
            Kind::Size(..) => value.parse::<Bytes>().ok().map(Bytes::get),
            Kind::Time(..) => value.parse::<Nanos>().ok().map(|nanos| nanos.get() / 1000),
            Kind::Flag => value.parse::<bool>().ok().map(u64::from),
            _ => None,
        };
        number.map_or(Cow::Borrowed(value), |number| Cow::Owned(number.to_string()))
    }

    /// The allowed values, in words.
    pub fn describe(&self) -> String {
        let mut text = self.kind.describe();
        if !self.unit.is_empty() {
            text += &format!(" {}", self.unit);
        }
        if self.unlimited.is_some() {
            text += &format!(", or {UNLIMITED}");
        }
        if self.fields.is_empty() { text } else { format!("{}: each {text}", self.fields.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Present;
    use crate::subject::Subject;

    const BUFFER: SettingAbout = SettingAbout {
        id: "toy.buffer",
        title: "",
        doc: "",
        kind: Kind::Size(Bytes(1), Bytes::gib(2)),
        unit: "",
        fields: &[],
        unlimited: None,
        subject: "node",
        facts: &[],
        source: "/proc/sys/toy/buffer",
        apply: &[ApplyCommand::SOURCE],
        privilege: Privilege::Root,
        remedy: "",
        traps: "",
    };

    const TRIPLE: SettingAbout = SettingAbout { fields: &["min", "default", "max"], ..BUFFER };

    fn reading(subject: Subject) -> SettingReading {
        SettingReading::new(&BUFFER, subject, Present::Absent("none".to_owned()))
    }

    fn command(about: &SettingAbout, wanted: &str) -> String {
        about.command(&reading(Subject::node()), &wanted.into()).expect("a way")
    }

    #[test]
    fn sizes_are_put_into_a_command_as_bytes() {
        assert_eq!(command(&BUFFER, "16 MiB"), "sysctl -w toy.buffer=16777216");
        assert_eq!(command(&TRIPLE, "4 KiB, 64 KiB, 16 MiB"), "sysctl -w toy.buffer='4096 65536 16777216'");
    }

    #[test]
    fn times_are_microseconds_and_no_limit_is_what_the_system_calls_it() {
        let about =
            SettingAbout { kind: Kind::Time(Nanos(0), Nanos::secs(1)), unlimited: Some("-1"), ..BUFFER };
        assert_eq!(command(&about, "950 ms"), "sysctl -w toy.buffer=950000");
        assert_eq!(command(&about, "unlimited"), "sysctl -w toy.buffer=-1");
        assert_eq!(about.parse("-1"), Ok(Value::from(UNLIMITED)));
        let error = about.parse("unlimitd").unwrap_err();
        assert!(error.ends_with("'unlimited' is allowed too; did you mean 'unlimited'?"), "{error}");
    }

    #[test]
    fn the_way_that_fits_the_reading_has_its_own_words() {
        const APPLY: &[ApplyCommand] = &[
            ApplyCommand {
                by: "inverse",
                words: &[("true", "0"), ("false", "1")],
                ..ApplyCommand::file("/sys/no_turbo")
            },
            ApplyCommand { by: "plain", ..ApplyCommand::file("/sys/boost") },
        ];
        let about = SettingAbout { kind: Kind::Flag, apply: APPLY, ..BUFFER };
        let by = |fact: &str| {
            let mut reading = reading(Subject::node());
            reading.facts.set("by", fact);
            about.command(&reading, &Value::Flag(false))
        };
        assert_eq!(by("inverse").as_deref(), Some("echo 1 > /sys/no_turbo"));
        assert_eq!(by("plain").as_deref(), Some("echo 0 > /sys/boost"));
        assert_eq!(by("other"), None);
    }

    #[test]
    fn what_is_written_and_what_a_person_would_type_come_from_one_definition() {
        let written = |about: &SettingAbout, subject: Subject, wanted: &str| {
            let file = about.file(&reading(subject), &wanted.into());
            file.map(|file| (file.path, file.text))
        };
        let of_node = |about, wanted| written(about, Subject::node(), wanted);
        let file = |path: &str, text: &str| Some((path.to_owned(), text.to_owned()));
        assert_eq!(of_node(&BUFFER, "16 MiB"), file("/proc/sys/toy/buffer", "16777216"));
        assert_eq!(
            of_node(&TRIPLE, "4 KiB, 64 KiB, 16 MiB"),
            file("/proc/sys/toy/buffer", "4096 65536 16777216")
        );
        const BY_HAND: &[ApplyCommand] = &[ApplyCommand::always("toy {value}")];
        assert_eq!(of_node(&SettingAbout { apply: BY_HAND, ..BUFFER }, "1 B"), None);
        const EACH: &[ApplyCommand] = &[ApplyCommand::file("/sys/toy*/knob")];
        let each = SettingAbout { kind: Kind::Text, apply: EACH, ..BUFFER };
        assert_eq!(of_node(&each, "fast"), file("/sys/toy*/knob", "fast"));
        assert_eq!(command(&each, "fast"), "echo fast | tee /sys/toy*/knob");
        const MTU: &[ApplyCommand] = &[ApplyCommand {
            file: "/sys/class/net/{name}/mtu",
            ..ApplyCommand::always("ip link set {name} mtu {value}")
        }];
        let mtu = SettingAbout { kind: Kind::Count(68, 65535), apply: MTU, ..BUFFER };
        assert_eq!(
            written(&mtu, Subject::device("nic", "eth0"), "9000"),
            file("/sys/class/net/eth0/mtu", "9000")
        );
    }

    #[test]
    fn a_command_cannot_be_broken_out_of() {
        const COMMANDS: &[ApplyCommand] = &[ApplyCommand::always("ip link set {name} mtu {value}")];
        let about = SettingAbout { kind: Kind::Text, apply: COMMANDS, ..BUFFER };
        let evil = about.command(&reading(Subject::device("nic", "a;reboot")), &"9000 && rm -rf '/'".into());
        assert_eq!(evil.as_deref(), Some(r"ip link set 'a;reboot' mtu '9000 && rm -rf '\''/'\'''"));
    }

    #[test]
    fn several_values_are_parted_by_blanks_or_commas() {
        assert_eq!(TRIPLE.split("4096\t131072\t6291456"), ["4096", "131072", "6291456"]);
        assert_eq!(TRIPLE.split("4 KiB, 128 KiB, 6 MiB"), ["4 KiB", "128 KiB", "6 MiB"]);
        assert_eq!(BUFFER.split("4 KiB"), ["4 KiB"]);
    }

    #[test]
    fn describes_the_values_it_takes() {
        assert_eq!(TRIPLE.describe(), "min, default, max: each size, 1 B to 2 GiB");
        let packets =
            SettingAbout { kind: Kind::Count(0, 9), unit: "packets", unlimited: Some("-1"), ..BUFFER };
        assert_eq!(packets.describe(), "0 to 9 packets, or unlimited");
        let triple = ("sysctl -w toy.buffer='MIN DEFAULT MAX'".to_owned(), "in bytes".to_owned());
        assert_eq!(TRIPLE.commands().collect::<Vec<_>>(), [triple]);
        let inverse = ApplyCommand { words: &[("true", "0"), ("false", "1")], ..BUFFER.apply[0] };
        let flag = SettingAbout { kind: Kind::Flag, ..BUFFER };
        assert_eq!(flag.spelling(&inverse), "0 for true, 1 for false");
        assert_eq!(flag.spelling(&BUFFER.apply[0]), "1 for true, 0 for false");
        assert_eq!(packets.spelling(&BUFFER.apply[0]), "-1 for unlimited");
    }
}
