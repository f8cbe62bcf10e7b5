//! The bytes that a thread has moved: of all of its flows over time, and of each flow.

use seatrial_model::{Nanos, Params, Quantity, Sample};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Sink;

/// The end of a flow that counts its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedAt {
    Sender,
    Receiver,
}

impl CountedAt {
    /// The channel of the samples of a thread, and the name of the evidence with the bytes of each flow, by thread.
    pub fn channel(self) -> &'static str {
        match self {
            Self::Sender => "sent",
            Self::Receiver => "received",
        }
    }
}

/// What a thread moved while an order held.
#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// Start and end in nanoseconds of the monotonic clock, and the bytes of all flows counted in between.
    pub slices: Vec<(u64, u64, u64)>,
    /// The bytes of each flow that is counted here.
    pub flows: Vec<u64>,
    /// Nanoseconds that the order held.
    pub window_ns: u64,
}

/// The bytes of each flow of a thread in the measuring time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowBytes {
    pub window_ns: u64,
    /// With n threads those of every nth round. As one text: a thousand parts have a million numbers, of which JSON in
    /// memory is three times as large.
    #[serde(with = "spaced")]
    pub bytes: Vec<u64>,
}

/// Emits the samples and the evidence of a part from what each of its threads moved.
pub fn put(counted: CountedAt, transfers: &[Transfer], out: &mut dyn Sink) {
    let mut flows = Vec::new();
    for (thread, transfer) in (0_u64..).zip(transfers) {
        for (start, end, bytes) in &transfer.slices {
            let (at, span) = (Params::from([("thread", thread.into())]), (Nanos(*start), Nanos(*end)));
            out.sample(Sample::new(counted.channel(), at, span, Quantity::bytes(*bytes)));
        }
        if !transfer.flows.is_empty() {
            flows.push(FlowBytes { window_ns: transfer.window_ns, bytes: transfer.flows.clone() });
        }
    }
    out.evidence(counted.channel(), json!(flows));
}

/// Numbers with spaces between them.
mod spaced {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(numbers: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
        serializer.serialize_str(&texts.join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.split_whitespace().map(|number| number.parse().map_err(de::Error::custom)).collect()
    }
}
